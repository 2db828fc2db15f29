/// Why the daemon does not start: one line for the person who started it.
package struct StartError: Error, CustomStringConvertible {
    /// Without the program's name in front.
    package let description: String
    /// It is written in the configuration or on the command line, and so is the same at the next start.
    package let isOfConfiguration: Bool

    package init(_ description: String, isOfConfiguration: Bool = false) {
        self.description = description
        self.isOfConfiguration = isOfConfiguration
    }
}
