/// A workload file: which classes of clients there are, and what the clients of each class do.
public struct Workload: Equatable, Sendable {
    /// What the file says of itself, for people; empty if it says nothing.
    public var description: String
    /// `none` if the file does not say.
    public var data: DataSet
    /// What `--set` may replace; already replaced here, and put into every expression.
    public var variables: [String: Int64]
    /// At least one.
    public var classes: [ClientClass]

    /// Which tables it needs.
    public enum DataSet: String, Equatable, Sendable { case pgbench, ycsb, none }
}

/// Clients that do the same.
public struct ClientClass: Equatable, Sendable {
    /// No other class of the workload has it.
    public var name: String
    /// 0 to `mostClients`; 1 if the file does not say.
    public var clients: Int
    /// Transactions to be started in each second by all clients together; 0 is a closed loop, in which each client starts
    /// its next transaction when the last one has ended.
    public var ratePerSecond: Double = 0
    /// How long a client waits between two transactions of a closed loop.
    public var thinkMilliseconds: Double = 0
    /// What BEGIN asks a server for: "repeatable read".
    public var isolation: String?
    /// Of what a client sends to a server.
    public var messages: Messages = .separate
    /// A new connection for every transaction; the time to connect is part of its latency.
    public var connectsEachTime = false
    /// It only connects.
    public var isIdle = false
    /// A client that takes its results slowly; 0 is as fast as they come.
    public var readBytesPerSecond: Int = 0
    /// What a client picks from, by weight. None in a class that is idle, one at least in any other.
    public var transactions: [Transaction] = []

    /// More than one process may have files open.
    public static let mostClients = 100_000
    /// From one transaction in a quarter of an hour to one in each nanosecond of the clock: so the starts of as many clients as
    /// there may be fit into the nanoseconds of an Int64.
    public static let rates = 0.001...1e9
    /// Up to the million seconds that a run may take.
    public static let pausesMilliseconds = 0...1e9

    /// Transactions have times at which they are due, however long those before them take.
    public var isOpenLoop: Bool { ratePerSecond > 0 }

    /// How the statements of a transaction travel to a server.
    public enum Messages: String, CaseIterable, Equatable, Sendable {
        /// A round trip for each.
        case separate
        /// All at once, and one Sync.
        case pipeline
        /// One simple Query that holds them all.
        case query
    }
}

/// One of the things a client of a class may do.
public struct Transaction: Equatable, Sendable {
    /// How often it is picked, as a share of all weights of the class: 1 to 1,000,000.
    public var weight: Int
    /// Drawn once when the transaction starts, in this order.
    public var locals: [Local]
    /// The first and the last are statements.
    public var steps: [Step]

    /// What `let` names: a value that several parameters can have.
    public struct Local: Equatable, Sendable {
        /// As expressions of the transaction spell it.
        public let name: String
        /// Without other locals in it: they do not see each other.
        public let expression: Expression
    }

    /// What a client does next in a transaction.
    public enum Step: Equatable, Sendable {
        case statement(Statement)
        /// Time in which the client does something else, with the transaction open.
        case hold(milliseconds: Double)
    }

    /// Its steps without the holds.
    public var statements: [Statement] {
        steps.compactMap { if case .statement(let statement) = $0 { statement } else { nil } }
    }

    /// Whether it changes data, so that SQLite needs BEGIN IMMEDIATE.
    public var writes: Bool { statements.contains { $0.kind == .write } }
}
