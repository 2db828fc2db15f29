import Server
import Testing

@testable import Configuration

struct ConfigurationKeyTests {
    @Test("Names and options are there once")
    func unique() {
        #expect(Set(ConfigurationKey.all.map(\.name)).count == ConfigurationKey.all.count)
        let options = ConfigurationKey.all.compactMap(\.option)
        #expect(Set(options).count == options.count)
    }

    @Test(
        "Every key takes its default or its example, and another value, has it then, and changes no other key",
        arguments: ConfigurationKey.all.map(\.name))
    func roundTrip(name: String) throws {
        let key = try #require(ConfigurationKey.named(name))
        for value in [try #require(key.defaultValue ?? key.example), try anotherValue(key)] {
            var settings = StartSettings()
            try key.set(name, value, &settings)
            #expect(key.value(settings) == value)
            for other in ConfigurationKey.all where other.name != name {
                #expect(other.value(settings) == other.defaultValue, "\(other.name)")
            }
        }
    }

    /// Neither its default nor its example.
    private func anotherValue(_ key: ConfigurationKey) throws -> ConfigurationValue {
        if key.form.hasPrefix("a time") { return .string("1234ms") }
        switch key.defaultValue {
        case .boolean(let isOn)?: return .boolean(!isOn)
        // One more is too much where the default is the most there may be.
        case .integer(let number)?: return .integer(number - 1)
        default: return .string(try #require(Self.otherTexts[key.name]))
        }
    }

    private static let otherTexts = [
        "backup_directory": "/srv/backups", "database": "/srv/other.db", "default_transaction_isolation": "serializable",
        "default_transaction_read_only": "on", "like_escape": "backslash", "log_client_errors": "all", "log_level": "debug",
        "metrics_address": "127.0.0.2:9188", "name": "other", "result_typing": "declared", "secure_delete": "on",
        "socket_directory": "/srv/sockets", "socket_mode": "0600", "synchronous": "normal", "untyped_parameters": "number",
        "vacuum_interval": "1h", "vacuum_window": "daily 02:00-04:00",
    ]

    @Test("Every key says what it is for and what it takes", arguments: ConfigurationKey.all.map(\.name))
    func documented(name: String) throws {
        let key = try #require(ConfigurationKey.named(name))
        #expect(!key.summary.isEmpty && !key.summary.hasSuffix(".") && !key.form.isEmpty)
        #expect(key.details.isEmpty || key.details.hasSuffix("."))
    }

    @Test("No key takes a value of another kind", arguments: ConfigurationKey.all.map(\.name))
    func otherKinds(name: String) throws {
        let key = try #require(ConfigurationKey.named(name))
        var settings = StartSettings()
        for value in [ConfigurationValue.array([]), .other("a date"), .string("")] {
            #expect(throws: StartError.self) { try key.set(name, value, &settings) }
        }
    }
}
