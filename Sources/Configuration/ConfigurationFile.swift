import Glibc
import Server

/// The configuration file. Whatever is wrong in it is an error, all of it at once: a setting that is silently not applied
/// is worse.
struct ConfigurationFile {
    let path: String
    private let text: String
    private let sections: [ConfigurationSection]

    /// - Parameter again: it was read before, and the daemon is at work.
    init(path: String, again: Bool) throws(ConfigurationError) {
        self.init(path: path, text: try Self.read(path, again: again))
    }

    init(path: String, text: String, sections: [ConfigurationSection] = ConfigurationSection.all) {
        self.path = path
        self.text = text
        self.sections = sections
    }

    func apply(to settings: inout StartSettings) throws(ConfigurationError) {
        let document = ConfigurationDocument.read(text, accepted: accepted)
        var problems = document.problems
        applyKeys(document, &settings, &problems)
        applySections(document, &settings, &problems)
        guard problems.isEmpty else { throw ConfigurationError(path: path, problems) }
    }

    private func applyKeys(
        _ document: ConfigurationDocument, _ settings: inout StartSettings, _ problems: inout [ConfigurationProblem]
    ) {
        for entry in document.root.entries {
            guard let key = ConfigurationKey.named(entry.key) else {
                problems.append(unknownKey(entry, ConfigurationKey.all.map(\.name)))
                continue
            }
            do { try key.set(key.name, entry.value, &settings) } catch {
                problems.append(.init(line: entry.line, error.description))
            }
            settings.given.insert(key.name)
        }
    }

    /// What a key takes where it stands.
    private func accepted(_ name: String, in section: String?) -> AcceptedValue? {
        if let section {
            let key = sections.first { $0.name == section }?.keys.first { $0.name == name }
            return key.map { key in AcceptedValue(form: ConfigurationKey.inAnError(key.form)) { _ in key.takesText } }
        }
        guard let key = ConfigurationKey.named(name) else { return nil }
        return AcceptedValue(form: ConfigurationKey.inAnError(key.form)) { value in
            var settings = StartSettings()
            do { try key.set(key.name, value, &settings) } catch { return false }
            return true
        }
    }

    private func applySections(
        _ document: ConfigurationDocument, _ settings: inout StartSettings, _ problems: inout [ConfigurationProblem]
    ) {
        for header in document.foreignHeaders {
            let isSection = sections.contains { $0.name == header.name }
            let advice = isSection ? ": write [[\(header.name)]]" : ""
            problems.append(.init(line: header.line, "unknown table \(header.text)\(advice)"))
        }
        let known = sections.map(\.name)
        for table in document.sections where !table.name.isEmpty && !known.contains(table.name) {
            let meant = nearestSpelling(to: table.name, among: known).map { ": did you mean [[\($0)]]?" } ?? ""
            problems.append(.init(line: table.line, "unknown table [[\(table.name)]]\(meant)"))
        }
        for section in sections {
            let tables = document.sections.filter { $0.name == section.name }
            let keys = section.keys.map(\.name)
            for entry in tables.flatMap(\.entries) where !keys.contains(entry.key) {
                problems.append(unknownKey(entry, keys, in: section.name))
            }
            section.read(tables, &settings, &problems)
        }
    }

    private func unknownKey(
        _ entry: ConfigurationEntry, _ known: [String], in section: String? = nil
    ) -> ConfigurationProblem {
        if sections.contains(where: { $0.name == entry.key }) {
            return .init(line: entry.line, "\"\(entry.key)\" is no key: write tables headed [[\(entry.key)]]")
        }
        let place = section.map { " in [[\($0)]]" } ?? ""
        // Where one appends to the file.
        if let section, ConfigurationKey.named(entry.key) != nil {
            let advice = "it is one of the whole daemon, which stand above the first [[\(section)]]"
            return .init(line: entry.line, "unknown key \"\(entry.key)\"\(place): \(advice)")
        }
        let meant = nearestSpelling(to: entry.key, among: known).map { ": did you mean \"\($0)\"?" } ?? ""
        return .init(line: entry.line, "unknown key \"\(entry.key)\"\(place)\(meant)")
    }

    // MARK: Reading

    /// Where the system's service has its configuration.
    static let standardPath = "/etc/walpool/walpoold.toml"

    /// A configuration is a page of text.
    private static let longestBytes = 1 << 20

    private static func read(_ path: String, again: Bool) throws(ConfigurationError) -> String {
        // A pipe (`--config <(…)`) is there once. Later it would keep whoever opens it waiting, and with it the thread that is told to stop.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (again ? O_NONBLOCK : 0))
        guard descriptor >= 0, let file = fdopen(descriptor, "r") else { throw failed(path) }
        defer { fclose(file) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failed(path) }
        guard !again || status.st_mode & S_IFMT == S_IFREG else { throw ConfigurationError(["cannot read \(path): it is not a file"]) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
            guard bytes.count < longestBytes else { throw ConfigurationError(["\(path) is larger than 1 MiB"]) }
        }
        guard ferror(file) == 0 else { throw failed(path) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
            throw ConfigurationError(path: path, [.init(line: line + 1, "not UTF-8")])
        }
        return text
    }

    private static func failed(_ path: String) -> ConfigurationError {
        ConfigurationError(["cannot read \(path): \(String(cString: strerror(errno)))"])
    }
}
