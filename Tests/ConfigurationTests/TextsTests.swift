import Journal
import Testing

@testable import Configuration
@testable import Server

/// The example file and the manual pages.
struct TextsTests {
    @Test("The example says of every key what is the default, and is a configuration when it is uncommented")
    func example() throws {
        let lines = ConfigurationExample.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.isEmpty || $0.hasPrefix("#") }, "as it is, it sets nothing")
        let keys = lines.filter { $0.hasPrefix("#") && !$0.hasPrefix("# ") && !$0.hasPrefix("##") && $0 != "#" }
        let text = keys.map { $0.dropFirst() }.joined(separator: "\n")
        var settings = StartSettings()
        try ConfigurationFile(path: "example", text: text).apply(to: &settings)
        for key in ConfigurationKey.all {
            #expect(key.value(settings) == key.defaultValue ?? key.example, "\(key.name)")
            #expect(keys.contains { $0.hasPrefix("#\(key.name) = ") }, "\(key.name)")
        }
        for section in ConfigurationSection.all { #expect(keys.contains("#[[\(section.name)]]"), "\(section.name)") }
    }

    @Test("The manual has every key, every section and every option")
    func manual() {
        let file = ManualPage.file(version: "1"), daemon = ManualPage.daemon(version: "1")
        for key in ConfigurationKey.all {
            #expect(file.contains("\n.TP\n.B \"\(key.name)\"\n"), "\(key.name)")
            if let option = key.option {
                #expect(daemon.contains("\n.B \"\\-\\-\(option.split(separator: "-").joined(separator: "\\-"))"), "\(option)")
            }
        }
        for section in ConfigurationSection.all {
            #expect(file.contains("[[\(section.name)]]"))
            for key in section.keys { #expect(file.contains("\n.TP\n.B \"\(key.name)\"\n"), "\(key.name)") }
        }
        for page in [file, daemon] { #expect(page.unicodeScalars.allSatisfy { $0.value < 128 }, "roff is ASCII") }
    }

    @Test("The manual has all that the console can be told, and every kind of line in the log")
    func manualOfTheDaemon() {
        let page = ManualPage.daemon(version: "1")
        for topic in ConsoleTopic.allCases {
            let name = topic.rawValue.uppercased()
            #expect(page.contains("\n.TP\n.B \"SHOW \(name)\"\n"), "\(name)")
        }
        for (syntax, _) in ConsoleStatement.help {
            #expect(page.contains("\n.TP\n.B \"\(syntax.replacing("'", with: "\\(aq"))\"\n"), "\(syntax)")
        }
        for kind in EventKind.allCases {
            let summary = kind.summary.replacing("'", with: "\\(aq").replacing("-", with: "\\-")
            #expect(page.contains("\n.TP\n.B \"\(kind)\"\n\(summary).\n.br\nMESSAGE_ID=\(kind.messageID)\n"), "\(kind)")
        }
    }

    @Test("The manual names the environment that the daemon acts on, and says of each drop-in what it is for")
    func manualOfTheService() {
        let page = ManualPage.daemon(version: "1")
        for variable in [
            "RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR", "TMPDIR", "SQLITE_TMPDIR", "STATE_DIRECTORY", "LISTEN_FDS", "NOTIFY_SOCKET",
            "WATCHDOG_USEC", "JOURNAL_STREAM",
        ] {
            let isItem = page.split(separator: "\n").contains { $0.hasPrefix(".B ") && $0.contains(variable) }
            #expect(isItem, "\(variable)")
        }
        // Between two drop-ins there are words.
        #expect(!page.contains(".EE\n.PP\n.EX\n"))
    }

    @Test(
        "What means something to roff is escaped",
        arguments: [
            (".x", "\\&.x"), ("a.b", "a.b"), ("'x'", "\\(aqx\\(aq"), ("--a", "\\-\\-a"), ("a\\b", "a\\eb"), ("~^`", "\\(ti\\(ha\\(ga"),
            ("\"x\"", "\"x\""),
        ])
    func roff(text: String, expected: String) {
        var page = Roff(title: "x", section: 1, version: "1")
        let before = page.source.count
        page.text(text)
        #expect(page.source.dropFirst(before) == "\(expected)\n")
    }
}
