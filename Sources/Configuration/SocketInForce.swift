import Glibc
import POSIX
import Server

/// What a socket that the service manager made has of what socket_directory, port and socket_mode say of one that the daemon
/// makes: they are not applied to it.
package struct SocketInForce: Sendable {
    private let path: String
    /// Of these keys, what is so. An abstract socket has no directory and no permissions, and one of another name has no port.
    let values: [String: ConfigurationValue]

    /// The keys, each with the setting of a socket unit that says the same.
    private static let unitSettings = ["socket_directory": "ListenStream", "port": "ListenStream", "socket_mode": "SocketMode"]

    /// Looks at the file, if the socket has one: permissions are what they are now.
    package init(path: String) {
        self.path = path
        var values: [String: ConfigurationValue] = [:]
        values["port"] = InheritedSocket.port(inPath: path).map { .integer($0) }
        // Not contains(): in a file that sees Foundation that is Foundation's.
        if path.lastIndex(of: "/") != nil, !path.hasPrefix("@") { values["socket_directory"] = .string(Directory.of(path)) }
        var status = stat()
        if !path.hasPrefix("@"), stat(path, &status) == 0 { values["socket_mode"] = ConfigurationValue(mode: status.st_mode & 0o777) }
        self.values = values
    }

    static func has(_ key: ConfigurationKey) -> Bool { unitSettings[key.name] != nil }

    /// What the file or the command line says and the socket has not, a line each.
    package func notApplied(_ settings: StartSettings) -> [String] {
        ConfigurationKey.all.compactMap { key in
            guard let unitSetting = Self.unitSettings[key.name], settings.given.contains(key.name), let wanted = key.value(settings),
                !isSame(wanted, values[key.name])
            else { return nil }
            let present = values[key.name].map { ", is \($0.text)" } ?? ""
            return "\(key.name) = \(wanted.text)\(present): not applied to \(path), which the service manager made; "
                + "that is \(unitSetting)= of its socket unit"
        }
    }

    /// One directory may have several paths.
    private func isSame(_ wanted: ConfigurationValue, _ present: ConfigurationValue?) -> Bool {
        guard case .string(let one) = wanted, case .string(let other) = present, one != other, one.utf8.contains(UInt8(ascii: "/"))
        else { return wanted == present }
        guard let directory = FileIdentity(at: one) else { return false }
        return directory == FileIdentity(at: other)
    }
}
