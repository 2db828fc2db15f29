import Glibc

/// Where a service's database is when nothing says where: systemd makes a directory for it (`StateDirectory=`) and names it
/// in STATE_DIRECTORY (systemd.exec(5)).
extension StartSettings {
    /// `<name>.db` in the state directory; without a `name`, what the configuration file is called, so that an instance of
    /// walpoold@.service serves a database of its own name. nil when there is no state directory.
    func databaseInStateDirectory(file: String?) -> String? {
        Self.stateDirectory.map { database(in: $0, file: file) }
    }

    static let stateDirectoryVariable = "STATE_DIRECTORY"

    static var stateDirectory: String? {
        // Several are separated by colons; ours is the first.
        getenv(stateDirectoryVariable).flatMap { String(cString: $0).split(separator: ":").first.map(String.init) }
    }

    func database(in directory: String, file: String?) -> String {
        "\(directory)/\(name ?? Self.name(ofFile: file)).db"
    }

    /// The one file that is called after the daemon and not after a database.
    private static func name(ofFile file: String?) -> String {
        var stem = file?.split(separator: "/").last.map(String.init) ?? ""
        if stem.hasSuffix(".toml") { stem.removeLast(5) }
        return stem.isEmpty || stem == "walpoold" ? "app" : stem
    }
}
