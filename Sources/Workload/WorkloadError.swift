/// What is wrong with a workload file, and where.
public struct WorkloadError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nil for what comes from the command line.
    public let line: Int?
    public let message: String

    public init(line: Int? = nil, _ message: String) {
        self.line = line
        self.message = message
    }

    public var description: String { line.map { "line \($0): \(message)" } ?? message }
}
