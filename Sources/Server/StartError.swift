/// Why the daemon does not start: one line for the person who started it.
public struct StartError: Error, CustomStringConvertible {
    public let description: String
    public init(_ description: String) { self.description = description }
}
