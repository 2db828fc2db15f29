/// What the console can be told, in words: SHOW HELP and the manual page have it from here.
public enum ConsoleReference {
    /// What is typed, and what it does, in one line.
    public typealias Entry = (syntax: String, summary: String)

    /// SHOW and what follows it.
    public static var topics: [Entry] {
        ConsoleTopic.allCases.map { ("SHOW \($0.rawValue.uppercased())", $0.summary) }
    }

    /// All but SHOW.
    public static var commands: [Entry] { ConsoleStatement.help }
}
