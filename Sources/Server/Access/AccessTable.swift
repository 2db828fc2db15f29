/// One `[[access]]` table of a configuration file, key by key, whatever format the file has.
public struct AccessTable: Equatable, Sendable {
    /// What a key was given, in the types that keys take.
    public enum Value: Equatable, Sendable {
        case text(String)
        case number(Int)
        case list([Value])
        /// Of a type that no key takes.
        case other
    }

    /// One key and its value.
    public struct Entry: Equatable, Sendable {
        public var key: String
        public var value: Value
        /// Counted from 1; 0 is unknown.
        public var line: Int

        public init(_ key: String, _ value: Value, line: Int = 0) {
            self.key = key
            self.value = value
            self.line = line
        }
    }

    /// In the order of the file.
    public var entries: [Entry]
    /// Of its header.
    public var line: Int

    public init(_ entries: [Entry], line: Int = 0) {
        self.entries = entries
        self.line = line
    }
}

/// What is wrong with an `[[access]]` table, and where.
public struct AccessProblem: Error, Equatable, Sendable {
    /// Counted from 1; 0 is unknown.
    public let line: Int
    /// For the person who wrote the table, without the place.
    public let message: String

    init(_ line: Int, _ message: String) {
        self.line = line
        self.message = message
    }
}
