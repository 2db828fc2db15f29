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
        "Every key takes its own default and its own example, and they change nothing or what they say",
        arguments: ConfigurationKey.all.map(\.name))
    func roundTrip(name: String) throws {
        let key = try #require(ConfigurationKey.named(name))
        let value = try #require(key.defaultValue ?? key.example)
        var settings = StartSettings()
        try key.set(name, value, &settings)
        #expect(key.value(settings) == value)
        // No other key has changed.
        for other in ConfigurationKey.all where other.name != name {
            #expect(other.value(settings) == other.defaultValue, "\(other.name)")
        }
    }

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
