/// One client's source of values. Two clients of a class, and the same client of two classes, draw differently; the same
/// seed draws the same again.
public struct Draws: Sendable {
    /// The stream that all random draws of the client come from, the choice of a transaction too.
    public internal(set) var random: Random
    /// From 0.
    let client: Int64
    let clients: Int64
    /// The first number that `sequence()` gives to the first client. A run that adds rows to tables that an earlier run has
    /// added to starts where that one cannot have been: walpool-load takes the time of day.
    let firstInSequence: Int64
    /// How often `sequence()` was drawn.
    var drawnFromSequence: Int64 = 0

    /// Where a run begins that starts at that time: in nanoseconds, so that it gets none of the numbers of an earlier one. A row takes as
    /// many numbers as its class has clients, because each client has its own, and it counts how far the first of them gets: where one
    /// of 64 adds all rows, a run that is to get ahead of the clock has to add 16 million in each second.
    public static func firstInSequence(nanosecondsSince1970: Int64) -> Int64 { nanosecondsSince1970 - nanosecondsUntil2026 }

    private static let nanosecondsUntil2026: Int64 = 1_767_225_600_000_000_000

    /// - Parameters:
    ///   - classIndex: the place of the class in its file.
    ///   - client: from 0.
    ///   - clients: of the class.
    public init(seed: UInt64, classIndex: Int, client: Int, clients: Int, firstInSequence: Int64 = 0) {
        random = Random(seed: seed, stream: UInt64(classIndex) << 32 | UInt64(client))
        self.client = Int64(client)
        self.clients = Int64(clients)
        self.firstInSequence = firstInSequence
    }

    /// Clients take turns, so that they need not ask each other: the second of four gets 1, 5, 9, ...
    mutating func sequence() -> Int64 {
        defer { drawnFromSequence += 1 }
        return inSequence(drawnFromSequence)
    }

    private func inSequence(_ index: Int64) -> Int64 { firstInSequence &+ client &+ index &* clients }

    /// The newest rows are those that this client has added as number n + sequence(); behind them come n - 1, n - 2, ...
    mutating func latest(_ n: Int64, _ zipfian: Zipfian) -> Int64 {
        let age = zipfian.draw(&random)
        if age < drawnFromSequence { return n &+ inSequence(drawnFromSequence - 1 - age) }
        return n - 1 - (age - drawnFromSequence)
    }
}
