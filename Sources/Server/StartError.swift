/// Why the daemon does not start: one line for the person who started it.
package struct StartError: Error, CustomStringConvertible {
    /// Without the program's name in front.
    package let description: String
    package init(_ description: String) { self.description = description }
}
