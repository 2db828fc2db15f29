/// What the console can be told, in words: SHOW HELP and the manual page have it from here.
package enum ConsoleReference {
    /// What is typed, and what it does, in one line.
    package typealias Entry = (syntax: String, summary: String)

    /// SHOW and what follows it.
    package static var topics: [Entry] {
        ConsoleTopic.allCases.map { ("SHOW \($0.rawValue.uppercased())", $0.summary) }
    }

    /// All but SHOW.
    package static var commands: [Entry] { ConsoleStatement.help }
}
