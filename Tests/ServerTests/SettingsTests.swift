import PostgresWire
import Testing

@testable import Server

/// What SET, RESET and SHOW know of the names of settings.
@Suite struct SettingsTests {
    /// Other than the defaults.
    private static let values = [
        "application_name": "psql", "client_encoding": "SQL_ASCII", "client_write_timeout": "7s", "DateStyle": "ISO, MDY",
        "default_transaction_isolation": "serializable", "default_transaction_read_only": "on", "extra_float_digits": "3",
        "idle_in_transaction_session_timeout": "1h", "IntervalStyle": "iso_8601", "like_escape": "backslash", "lock_timeout": "250ms",
        "queue_notice": "2min",
        "result_typing": "declared", "search_path": "main", "statement_timeout": "3d", "TimeZone": "Europe/Berlin",
        "transaction_timeout": "90s", "untyped_parameters": "number",
    ]

    @Test func showAllHasEachNameOnceInItsOrder() {
        let effective = Self.values.keys.sorted { $0.lowercased() < $1.lowercased() }
        let names = Settings().names
        #expect(Array(names.prefix(effective.count)) == effective)
        let others = names.dropFirst(effective.count)
        #expect(Array(others) == others.sorted())
        #expect(Set(names.map { $0.lowercased() }).count == names.count)
        for name in names { #expect(Settings().value(name) != nil, "\(name)") }
        for name in Settings.reported { #expect(names.contains(name), "\(name)") }
    }

    @Test(arguments: values.keys.sorted()) func isShownAsItWasSet(_ name: String) throws {
        let value = try #require(Self.values[name])
        var settings = Settings()
        try settings.set(name.uppercased(), [value])
        #expect(settings.value(name.lowercased()) == value)
        try settings.reset(name.uppercased(), from: Settings())
        #expect(settings == Settings())
    }

    /// Each sets its own: no other is shown differently.
    @Test(arguments: values.keys.sorted()) func changesNoOther(_ name: String) throws {
        let before = Settings()
        var after = before
        try after.set(name, [try #require(Self.values[name])])
        for other in before.names where other != name { #expect(after.value(other) == before.value(other), "\(other)") }
    }

    @Test func nobodyChangesAConstant() throws {
        var settings = Settings()
        settings.isSuperuser = true
        for name in ["server_version", "Is_Superuser", "in_hot_standby", "block_size"] {
            let shown = try #require(settings.value(name))
            let error = #expect(throws: WireError.self) { try settings.set(name, [shown]) }
            #expect(error?.state == .cantChangeRuntimeParam)
            try settings.reset(name, from: Settings())
            #expect(settings.value(name) == shown)
        }
    }

    @Test func stringsConformAlways() throws {
        var settings = Settings()
        try settings.set("standard_conforming_strings", ["yes"])
        #expect(settings.value("standard_conforming_strings") == "on")
        #expect(throws: WireError.self) { try settings.set("standard_conforming_strings", ["off"]) }
        try settings.reset("standard_conforming_strings", from: Settings())
        #expect(settings == Settings())
    }

    @Test func whatHasNoEffectIsKept() throws {
        var settings = Settings()
        for name in ["Work_Mem", "my.own"] {
            try settings.set(name, ["64MB"])
            #expect(settings.value(name.lowercased()) == "64MB" && settings.names.contains(name.lowercased()))
            try settings.reset(name, from: Settings())
        }
        #expect(settings == Settings())
        let error = #expect(throws: WireError.self) { try settings.set("no_such", ["1"]) }
        #expect(error?.state == .undefinedObject)
        #expect(throws: WireError.self) { try settings.reset("no_such", from: Settings()) }
    }
}
