import Server
import Testing

@testable import Configuration

struct ConfigurationFileTests {
    /// What is wrong with a text, a line each, without the path.
    private func problems(_ text: String, sections: [ConfigurationSection] = []) -> [String] {
        var settings = StartSettings()
        do {
            try ConfigurationFile(path: "f", text: text, sections: sections).apply(to: &settings)
            return []
        } catch {
            return error.lines
        }
    }

    private func settings(_ text: String) throws -> StartSettings {
        var settings = StartSettings()
        try ConfigurationFile(path: "f", text: text).apply(to: &settings)
        return settings
    }

    @Test("Values arrive where they belong")
    func values() throws {
        let settings = try settings(
            """
            database = "/a.db"
            port = 1_234
            readers = 0x10
            synchronous = "Pipelined"
            gate_limit = "3s"
            group_time_limit = 7
            vacuum_interval = "2d"
            vacuum_window = "Sun 03:00-05:00"
            secure_delete = "on"
            socket_mode = "0600"
            foreign_keys = false
            log_level = "debug"
            statement_timeout = "5s"
            default_transaction_read_only = true
            """)
        #expect(settings.database == "/a.db" && settings.port == 1234)
        #expect(settings.server.pool.readers == 16 && settings.server.pool.durability == .pipelined)
        #expect(settings.server.pool.gateMilliseconds == 3000 && settings.server.pool.groupMilliseconds == 7)
        #expect(settings.server.pool.maintenance.intervalSeconds == 172_800)
        #expect("\(settings.server.pool.maintenance.window)" == "Sun 03:00-05:00")
        #expect(settings.server.connection.secureDelete == .on && !settings.server.connection.foreignKeys)
        #expect(settings.server.socketMode == 0o600 && settings.logLevel == .debug)
        #expect(settings.server.settingDefault("statement_timeout") == "5s")
        #expect(settings.server.settingDefault("default_transaction_read_only") == "on")
    }

    @Test("Everything that is wrong is told at once, in the file's order")
    func everything() {
        let lines = problems(
            """
            reders = 3
            port = "many"
            # a comment
            readers = 0
            gate_limit = "soon"

            vacuum_window = "Sunday"
            foreign_keys = 1
            port = 5432
            name = "walpool"
            statement_timeout = -1
            cache_size_kib =
            max_sessions 3
            [metrics]
            synchronous = "full"
            """)
        let expected = [
            (1, "unknown key \"reders\": did you mean \"readers\"?"),
            (2, "port must be an integer, not \"many\""),
            (4, "readers must be between 1 and 1000, not 0"),
            (5, "invalid value for parameter \"gate_limit\": \"soon\". Valid units for this parameter are"),
            (7, "vacuum_window must be \"any\""),
            (8, "foreign_keys must be true or false, not 1"),
            (9, "port is given twice, first in line 2"),
            (10, "name must be a name; \"walpool\" and \"pgbouncer\" are the console's, not \"walpool\""),
            (11, "-1 is outside the valid range for parameter \"statement_timeout\""),
            (12, "encountered the end of the line"),
            (13, "expected '='"),
            (14, "unknown table [metrics]"),
        ]
        #expect(lines.count == expected.count, "\(lines)")
        for (line, (number, words)) in zip(lines, expected) {
            #expect(line.hasPrefix("f:\(number): ") && line.contains(words), "\(line)")
        }
    }

    @Test(
        "The text itself",
        arguments: [
            ("readers = 3\nname = \"a\u{0}b\"\n", "f:2: a NUL character"),
            ("readers = 3\nname = \"a\\u0000b\"\n", "f:2: name: a NUL character"),
            ("name = \"unclosed\nreaders = 3\n", "f:1: "),
            ("name = [\n  1,\nreaders = 3\n", "f:1: a bracket is never closed"),
            ("\"readers\" = 3\n'readers' = 4\n", "f:2: readers is given twice, first in line 1"),
            ("gate_limit = \"1m\"", "f:1: invalid value for parameter \"gate_limit\": \"1m\". Valid units for this parameter are"),
            ("statement_timeout = \"5 seconds\"", "f:1: invalid value for parameter \"statement_timeout\": \"5 seconds\". Valid units"),
            ("a.b = 1", "f:1: unknown key \"a\""),
            ("a = [}", "f:1: a closing bracket"), ("a = [1, }\n", "f:1: a closing bracket"),
            ("\n[é]\na = 1", "f:2: table header: "), ("[", "f:1: table header: "), ("[[#]]", "f:1: table header: "),
            ("[ [a]]", "f:1: table header: "),
        ])
    func text(text: String, expected: String) {
        let lines = problems(text)
        #expect(lines.count == 1 && lines[0].hasPrefix(expected), "\(lines)")
    }

    @Test(
        "A value that is no TOML is told in the words of its key, with what was meant if that can be known",
        arguments: [
            ("synchronous = full", "synchronous must be \"full\", \"pipelined\" or \"normal\", not full: write synchronous = \"full\""),
            ("synchronous = “full” # always", "not “full”: write synchronous = \"full\""),
            ("gate_limit = 5s", "gate_limit must be a number of milliseconds or a time such as \"5s\", not 5s: write gate_limit = \"5s\""),
            ("statement_timeout = 5s", "a time such as \"5s\"; 0: no limit, not 5s: write statement_timeout = \"5s\""),
            ("gate_limit = soon", "gate_limit must be a number of milliseconds or a time such as \"5s\", not soon"),
            ("backup_directory = /srv/b", "not /srv/b: write backup_directory = \"/srv/b\""),
            ("metrics_address = 127.0.0.1:9187", "not 127.0.0.1:9187: write metrics_address = \"127.0.0.1:9187\""),
            ("foreign_keys = on", "foreign_keys must be true or false, not on"),
            ("readers = 3 4", "readers must be an integer from 1 to 1000, not 3 4"),
            (
                "# a\nsocket_mode = 0660",
                "socket_mode must be an octal number in a string, such as \"0660\", not 0660: write socket_mode = \"0660\""
            ),
            ("readers =", "the end of the line; it must be an integer from 1 to 1000"),
            ("name = \"a", "; it must be a name; \"walpool\" and \"pgbouncer\" are the console's"),
            ("readers = \(String(repeating: "x", count: 1000))", "not \(String(repeating: "x", count: 60))…"),
            (
                "[[access]]\nuser = www-data\nrole = \"admin\"",
                "user must be a name, a list of names, or \"all\", not www-data: write user = \"www-data\""
            ),
            ("[[access]]\nuser = \"a\"\nrole = \"admin\"\nmax_sessions = ten", "max_sessions must be an integer from 0 to 100000, not ten"),
        ])
    func unreadable(text: String, expected: String) {
        let lines = problems(text, sections: [.access])
        #expect(lines.contains { $0.hasSuffix(expected) }, "\(lines)")
    }

    @Test(
        "What a session starts with says what it takes, and shows a value as the file has it",
        arguments: [
            ("result_typing = \"native\"", "f:1: result_typing must be \"stored\", \"declared\" or \"text\", not \"native\""),
            ("untyped_parameters = 1", "f:1: untyped_parameters must be \"error\", \"text\" or \"number\", not 1"),
            (
                "default_transaction_isolation = \"snapshot\"",
                "f:1: default_transaction_isolation must be \"read committed\", \"repeatable read\" or \"serializable\", not \"snapshot\""
            ),
            ("default_transaction_read_only = \"perhaps\"", "f:1: default_transaction_read_only must be true or false, not \"perhaps\""),
            ("statement_timeout = true", "f:1: statement_timeout must be a number of milliseconds or a time such as \"5s\", not true"),
        ])
    func sessionDefaults(text: String, expected: String) { #expect(problems(text) == [expected]) }

    @Test("A key of the daemon behind a section, where one appends, is told to go above it")
    func behindSections() {
        #expect(
            problems("[[rule]]\nuser = 'a'\nqueue_notice = \"7s\"\n", sections: [Self.rules]) == [
                "f:3: unknown key \"queue_notice\" in [[rule]]: it is one of the whole daemon, which stand above the first [[rule]]"
            ])
    }

    @Test("A table beside an array of the same name is told once, in our words")
    func oneBracket() {
        let lines = problems("[[access]]\nuid = 0\nrole = \"admin\"\n[access]\n", sections: [.access])
        #expect(lines == ["f:4: unknown table [access]: write [[access]]"])
    }

    @Test(
        "The nearest known spelling",
        arguments: [
            ("reader", "readers"), ("raeders", "readers"), ("max_session", "max_sessions"), ("socket_dir", nil),
            ("Readers", "readers"), ("statement_timout", "statement_timeout"), ("x", nil), ("interval", "vacuum_interval"),
            ("completely_other", nil),
        ] as [(String, String?)])
    func spelling(word: String, expected: String?) {
        #expect(nearestSpelling(to: word, among: ConfigurationKey.all.map(\.name)) == expected)
    }

    @Test("Lines may end with a carriage return")
    func carriageReturns() {
        #expect(problems("readers = 3\r\n# a\r\nname = 'a' # b\r\n[[rule]]\r\nuser = 'x'\r\n", sections: [Self.rules]) == [])
    }

    @Test("A file of nothing but errors is told in a page")
    func manyProblems() {
        #expect(problems(String(repeating: "a = [\n", count: 10_000)).count <= 21)
        let lines = problems(String(repeating: "a\n", count: 1000))
        #expect(lines.count == 101 && lines.last == "f: and 900 more problems")
    }

    // MARK: Sections

    private static let rules = ConfigurationSection(
        "rule", change: .reload, "", details: "", keys: [.init("user", form: "", ""), .init("limit", form: "", "")], example: "",
        shown: { $0.name ?? "" }
    ) { tables, settings, problems in
        settings.name = tables.map { "\($0.line)\($0["user"].map { String($0.value.text.dropFirst().dropLast()) } ?? "-")" }.joined(
            separator: ",")
        for table in tables {
            if table["user"] == nil { problems.append(.init(line: table.line, "no user")) }
        }
    }

    @Test("A section's tables come in order, with their lines")
    func section() throws {
        var settings = StartSettings()
        let text = "readers = 3\n[[rule]]\nuser = 'a'\nlimit = 1\n\n[[rule]] # another\nuser = 'b'\n"
        try ConfigurationFile(path: "f", text: text, sections: [Self.rules]).apply(to: &settings)
        #expect(settings.name == "2a,6b" && settings.server.pool.readers == 3)
    }

    @Test("What is wrong in a section")
    func wrongSection() {
        let text = """
            [[rule]]
            usr = 'a'
            [[rule]]
            user = 3
            limit = 10
            user = 'x'
            readers = 3
            [rule]
            user = 'a'
            [[rules]]
            user = 'a'
            [[rule]
            user = 'a'
            """
        let lines = problems(text, sections: [Self.rules])
        #expect(lines.count == 7, "\(lines)")
        let expected = [
            "f:1: no user", "f:2: unknown key \"usr\" in [[rule]]: did you mean \"user\"?", "f:6: user is given twice, first in line 4",
            "f:7: unknown key \"readers\" in [[rule]]", "f:8: unknown table [rule]: write [[rule]]",
            "f:10: unknown table [[rules]]: did you mean [[rule]]?", "f:12: ",
        ]
        for (line, words) in zip(lines, expected) { #expect(line.hasPrefix(words), "\(line)") }
        #expect(problems("rule = [{ user = 'a' }]", sections: [Self.rules]) == ["f:1: \"rule\" is no key: write tables headed [[rule]]"])
    }
}
