/// What is wrong with a workload file, and where.
public struct WorkloadError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nil for what comes from the command line.
    public let line: Int?
    /// In words for whoever has written the file, without the line.
    public let message: String

    /// - Parameter line: from 1.
    public init(line: Int? = nil, _ message: String) {
        self.line = line
        self.message = message
    }

    /// The message behind its line, as in "line 3: ...".
    public var description: String { line.map { "line \($0): \(message)" } ?? message }
}
