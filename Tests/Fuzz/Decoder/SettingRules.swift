@testable import PostgresWire
@testable import Server

/// Settings by name and value, which come from SET and from the startup message.
enum SettingRules {
    static func check(_ bytes: UnsafeRawBufferPointer) {
        let text = String(decoding: bytes, as: UTF8.self)
        var settings = Settings()
        for line in text.split(separator: "\n", maxSplits: 16) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            set(String(parts[0]), parts.count > 1 ? String(parts[1]) : "", &settings)
        }
        for name in settings.names { require(settings.value(name) != nil, "a setting that is listed has a value: \(name)") }
    }

    private static func set(_ name: String, _ value: String, _ settings: inout Settings) {
        let before = settings.value(name)
        do {
            try settings.set(name, [value])
        } catch {
            require(error.severity == .error, "a bad setting does not end the session")
            require(settings.value(name) == before, "a setting that is refused stays as it was: \(name)")
            return
        }
        guard let shown = settings.value(name) else { return require(false, "a setting that was made has a value: \(name)") }
        do {
            try settings.set(name, [shown])
            require(settings.value(name) == shown, "a setting is shown as it can be set: \(name) = \(shown)")
            try settings.reset(name, from: Settings())
        } catch {
            require(false, "what SHOW shows can be set: \(name) = \(shown): \(error.message)")
        }
    }
}
