/// A time that something took. In a line it reads as milliseconds, as PostgreSQL writes them; as a field of the journal it
/// is a whole number of microseconds under a name that ends in `_USEC`, as the journal's own fields have it.
public struct LoggedDuration: CustomStringConvertible, Equatable, Sendable {
    public var microseconds: Int64

    public init(microseconds: Int64) { self.microseconds = microseconds }
    public init(nanoseconds: Int64) { microseconds = nanoseconds / 1000 }
    public init(milliseconds: Int64) { microseconds = milliseconds.multipliedReportingOverflow(by: 1000).partialValue }

    public var description: String {
        let (whole, rest) = max(0, microseconds).quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest)
        return "\(whole).\(String(repeating: "0", count: 3 - digits.count))\(digits)ms"
    }
}
