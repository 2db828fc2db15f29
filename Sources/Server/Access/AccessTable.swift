/// One `[[access]]` table of a configuration file, key by key, whatever format the file has.
package struct AccessTable: Equatable, Sendable {
    /// What a key was given, in the types that keys take.
    package enum Value: Equatable, Sendable {
        case text(String)
        case number(Int)
        case list([Value])
        /// Of a type that no key takes.
        case other
    }

    /// One key and its value.
    package struct Entry: Equatable, Sendable {
        package var key: String
        package var value: Value
        /// Counted from 1; 0 is unknown.
        package var line: Int

        package init(_ key: String, _ value: Value, line: Int = 0) {
            self.key = key
            self.value = value
            self.line = line
        }
    }

    /// In the order of the file.
    package var entries: [Entry]
    /// Of its header.
    package var line: Int

    package init(_ entries: [Entry], line: Int = 0) {
        self.entries = entries
        self.line = line
    }
}

/// What is wrong with an `[[access]]` table, and where.
package struct AccessProblem: Error, Equatable, Sendable {
    /// Counted from 1; 0 is unknown.
    package let line: Int
    /// For the person who wrote the table, without the place.
    package let message: String

    init(_ line: Int, _ message: String) {
        self.line = line
        self.message = message
    }
}
