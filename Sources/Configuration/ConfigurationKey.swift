import Server

/// One key of the configuration file: what it takes, what it is without the file, what it is for, and where it goes.
///
/// The parser of the file, the command line, --help, the example file, the man pages, RELOAD and SHOW CONFIG all work from
/// the one list of these, `ConfigurationKey.all`.
package struct ConfigurationKey: Sendable {
    /// When a value that is changed in the file comes into effect.
    package enum Change: String, Sendable {
        /// At SIGHUP or RELOAD, for everybody.
        case reload
        /// At SIGHUP or RELOAD, for sessions that begin afterwards.
        case newSessions
        /// When the daemon is started again.
        case restart
    }

    /// As the file has it.
    package let name: String
    /// What it takes, in words for the manual: "an integer from 1 to 1000".
    package let form: String
    package let change: Change
    /// A sentence, without its full stop: for --help.
    package let summary: String
    /// Whole sentences, for the manual and the example file; none where the summary says it all.
    package let details: String
    /// The default in words, where it is not a value.
    package let defaultInWords: String?
    /// What the example file shows for a key that has no default.
    package let example: ConfigurationValue?
    /// The option of the command line that sets it too, without its dashes.
    package internal(set) var option: String?

    /// Its value in these settings; nil: it has none.
    package let value: @Sendable (StartSettings) -> ConfigurationValue?
    /// Puts a value into the settings, or says what is wrong with it. The first argument is what the user knows the key by.
    let set: @Sendable (String, ConfigurationValue, inout StartSettings) throws(StartError) -> Void

    init(
        _ name: String, form: String, change: Change, _ summary: String, details: String = "",
        defaultInWords: String? = nil, example: ConfigurationValue? = nil,
        value: @escaping @Sendable (StartSettings) -> ConfigurationValue?,
        set: @escaping @Sendable (String, ConfigurationValue, inout StartSettings) throws(StartError) -> Void
    ) {
        self.name = name
        self.form = form
        self.change = change
        self.summary = summary
        self.details = details
        self.defaultInWords = defaultInWords
        self.example = example
        self.value = value
        self.set = set
    }

    /// The same key, with an option of the command line.
    func option(_ name: String) -> ConfigurationKey {
        var key = self
        key.option = name
        return key
    }

    /// What it is without the file; nil: nothing.
    package var defaultValue: ConfigurationValue? { value(StartSettings()) }
}

extension ConfigurationKey {
    /// Where a key's value lies in the settings.
    package typealias Path<Value> = any WritableKeyPath<StartSettings, Value> & Sendable

    static func wrong(_ name: String, _ expected: String, _ value: ConfigurationValue) -> StartError {
        StartError("\(name) must be \(expected), not \(value.text)")
    }

    // MARK: Kinds of keys

    /// A whole number. The range is inclusive, and `unit` what is counted.
    static func integer(
        _ name: String, _ path: Path<Int>, _ range: ClosedRange<Int>, unit: String = "", _ change: Change,
        _ summary: String, details: String = ""
    ) -> Self {
        Self(
            name, form: "an integer from \(range.lowerBound) to \(range.upperBound)\(unit.isEmpty ? "" : ", \(unit)")",
            change: change, summary, details: details,
            value: { .integer($0[keyPath: path]) },
            set: { (name, value, settings) throws(StartError) in
                guard case .integer(let number) = value else { throw wrong(name, "an integer", value) }
                guard range.contains(number) else {
                    throw wrong(name, "between \(range.lowerBound) and \(range.upperBound)", value)
                }
                settings[keyPath: path] = number
            })
    }

    static func boolean(
        _ name: String, _ path: Path<Bool>, _ change: Change, _ summary: String, details: String = ""
    ) -> Self {
        Self(
            name, form: "true or false", change: change, summary, details: details,
            value: { .boolean($0[keyPath: path]) },
            set: { (name, value, settings) throws(StartError) in
                guard case .boolean(let isOn) = value else { throw wrong(name, "true or false", value) }
                settings[keyPath: path] = isOn
            })
    }

    /// A duration: a number of milliseconds, or a string with a unit.
    static func milliseconds(
        _ name: String, _ path: Path<Int64>, upTo longest: Int64 = Int64(Int32.max), _ change: Change, _ summary: String,
        details: String = ""
    ) -> Self {
        Self(
            name, form: "a time", change: change, summary, details: details,
            value: { ConfigurationValue(milliseconds: $0[keyPath: path]) },
            set: { (name, value, settings) throws(StartError) in
                settings[keyPath: path] = try time(name, value, upTo: longest)
            })
    }

    /// One of the words that the type's raw values are, in lower case.
    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ path: Path<Choice>, _ change: Change, _ summary: String, details: String = ""
    ) -> Self {
        let words = Choice.allCases.map { "\"\($0.rawValue.lowercased())\"" }
        let form = words.dropLast().joined(separator: ", ") + " or " + words.last!
        return Self(
            name, form: form, change: change, summary, details: details,
            value: { .string($0[keyPath: path].rawValue.lowercased()) },
            set: { (name, value, settings) throws(StartError) in
                guard case .string(let word) = value,
                    let choice = Choice.allCases.first(where: { $0.rawValue.lowercased() == word.lowercased() })
                else { throw wrong(name, form, value) }
                settings[keyPath: path] = choice
            })
    }

    /// A text that may be left out; `form` says what it is.
    static func text(
        _ name: String, _ path: Path<String?>, form: String, defaultInWords: String, example: String, _ change: Change,
        _ summary: String, details: String = "", isValid: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }
    ) -> Self {
        Self(
            name, form: form, change: change, summary, details: details, defaultInWords: defaultInWords,
            example: .string(example), value: { $0[keyPath: path].map(ConfigurationValue.string) },
            set: { (name, value, settings) throws(StartError) in
                guard case .string(let text) = value, isValid(text) else { throw wrong(name, form, value) }
                settings[keyPath: path] = text
            })
    }

    /// What a session starts with: the name and the values are those of SET.
    static func sessionDefault(_ name: String, form: String, _ summary: String, details: String = "") -> Self {
        Self(
            name, form: form, change: .newSessions, summary, details: details,
            value: { $0.server.settingDefault(name).map(ConfigurationValue.string) },
            set: { (shown, value, settings) throws(StartError) in
                let text: String
                switch value {
                case .string(let string): text = string
                case .integer(let number): text = String(number)
                case .boolean(let isOn): text = isOn ? "on" : "off"
                default: throw wrong(shown, form, value)
                }
                do { try settings.server.setDefault(name, text) } catch { throw wrong(shown, form, value) }
            })
    }

    /// A time that a session starts with; `zero` says what 0 is.
    static func sessionTime(_ name: String, zero: String = "no limit", _ summary: String, details: String = "") -> Self {
        Self(
            name, form: "a time; 0: \(zero)", change: .newSessions, summary, details: details,
            value: { $0.server.settingDefault(name).map(ConfigurationValue.string) },
            set: { (shown, value, settings) throws(StartError) in
                switch value {
                case .string(let text): try settings.server.setDefault(name, text)
                case .integer(let number): try settings.server.setDefault(name, String(number))
                default: throw wrong(shown, timeInAnError, value)
                }
            })
    }

    static func time(_ name: String, _ value: ConfigurationValue, upTo longest: Int64) throws(StartError) -> Int64 {
        switch value {
        case .string(let text): return try ServerConfiguration.milliseconds(name, text, upTo: longest)
        case .integer(let number): return try ServerConfiguration.milliseconds(name, String(number), upTo: longest)
        default: throw wrong(name, timeInAnError, value)
        }
    }

    private static let timeInAnError = "a number of milliseconds or a time such as \"5s\""

    /// The form as an error has it, which has to say what a time is: the manual has a paragraph for that.
    static func inAnError(_ form: String) -> String {
        let word = "a time"
        return form.hasPrefix(word) ? timeInAnError + form.dropFirst(word.count) : form
    }
}

extension ConfigurationValue {
    /// A time in the largest unit that divides it.
    init(milliseconds: Int64) { self = .string(ServerConfiguration.shown(milliseconds: milliseconds)) }
}
