/// The hours of the week in which VACUUM may begin, on the local clock: "any", "daily 02:00-04:00",
/// "Sun 03:00-05:00", "Sat,Sun 22:30-01:00".
///
/// The days are those on which the window opens; one that crosses midnight ends on the day after. A VACUUM that has
/// begun in it is not stopped at its end: what was copied would be lost.
///
/// Local seconds are wall clock seconds plus the offset of the time zone just then, so that nothing in here asks for a
/// time zone. Where summer time begins or ends, the offset of the next look is the right one.
public struct MaintenanceWindow: Equatable, Sendable {
    /// Bit 0 is Sunday.
    private let days: UInt8
    private let opensAtSecond: Int64
    private let lengthSeconds: Int64

    /// Always open.
    public static let any = MaintenanceWindow(days: 0x7F, opensAtSecond: 0, lengthSeconds: secondsPerDay)

    private static let secondsPerDay: Int64 = 86_400

    private init(days: UInt8, opensAtSecond: Int64, lengthSeconds: Int64) {
        self.days = days
        self.opensAtSecond = opensAtSecond
        self.lengthSeconds = lengthSeconds
    }

    /// Whether it is open at this moment.
    public func contains(localSeconds: Int64) -> Bool {
        let today = Self.day(of: localSeconds)
        // The length is a day at most, so only these two can still be open.
        return [today - 1, today].contains { day in
            guard isOpened(on: day) else { return false }
            let opening = opening(on: day)
            return localSeconds >= opening && localSeconds - opening < lengthSeconds
        }
    }

    /// The first moment, from the given one on, at which the window is open.
    public func nextOpening(localSeconds: Int64) -> Int64 {
        if contains(localSeconds: localSeconds) { return localSeconds }
        let today = Self.day(of: localSeconds)
        // The same day of the next week is the furthest there is.
        return (today...today + 7).filter(isOpened(on:)).map(opening(on:)).first { $0 >= localSeconds }
            ?? localSeconds
    }

    private static func day(of localSeconds: Int64) -> Int64 {
        let (quotient, remainder) = localSeconds.quotientAndRemainder(dividingBy: secondsPerDay)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private func opening(on day: Int64) -> Int64 { day * Self.secondsPerDay + opensAtSecond }

    private func isOpened(on day: Int64) -> Bool {
        // Day 0, the 1st of January 1970, was a Thursday.
        let weekday = ((day % 7) + 7 + 4) % 7
        return days & (1 << weekday) != 0
    }
}

// MARK: As text

extension MaintenanceWindow {
    private static let dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    /// Nil when the text is none of the forms above, or names a window that is never open.
    public init?(_ text: String) {
        let words = text.lowercased().split(separator: " ")
        if words == ["any"] {
            self = .any
            return
        }
        guard let hours = words.last, words.count <= 2 else { return nil }
        let days = words.count == 2 ? Self.days(words[0]) : 0x7F
        let ends = hours.split(separator: "-", omittingEmptySubsequences: false).map(Self.second)
        guard let days, ends.count == 2, let from = ends[0], let to = ends[1], from != to, from < Self.secondsPerDay
        else { return nil }
        let length = to > from ? to - from : to + Self.secondsPerDay - from
        self.init(days: days, opensAtSecond: from, lengthSeconds: length)
    }

    private static func clock(_ second: Int64) -> String {
        let parts = [second / 3600, second / 60 % 60]
        return parts.map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }

    private static func days(_ text: Substring) -> UInt8? {
        if text == "daily" { return 0x7F }
        var days: UInt8 = 0
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let day = dayNames.firstIndex(of: String(name)) else { return nil }
            days |= 1 << day
        }
        return days
    }

    /// "HH:MM", up to 24:00.
    private static func second(_ text: Substring) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int64(parts[0]), let minute = Int64(parts[1]), minute < 60, hour * 60 + minute <= 24 * 60
        else { return nil }
        return (hour * 60 + minute) * 60
    }
}

extension MaintenanceWindow: CustomStringConvertible {
    /// In the form in which it is read.
    public var description: String {
        if self == .any { return "any" }
        let names = Self.dayNames.enumerated().filter { days & (1 << $0.offset) != 0 }.map(\.element.capitalizedASCII)
        let from = Self.clock(opensAtSecond)
        let end = opensAtSecond + lengthSeconds
        let to = Self.clock(end > Self.secondsPerDay ? end - Self.secondsPerDay : end)
        return "\(days == 0x7F ? "daily" : names.joined(separator: ",")) \(from)-\(to)"
    }
}

extension String {
    fileprivate var capitalizedASCII: String { prefix(1).uppercased() + dropFirst() }
}
