import Server

/// The settings the daemon works with: those of its start, with what reloads have changed since.
package struct ConfigurationInForce: Sendable {
    private let started: StartSettings
    /// As last read, and so with what waits for a restart: what is in force of a key is `value(of:)`.
    package private(set) var settings: StartSettings
    /// The socket, where the service manager made it.
    private let socket: SocketInForce?

    /// - Parameter socket: the one that the service manager made, if it did.
    package init(_ started: StartSettings, socket: SocketInForce? = nil) {
        self.started = started
        self.socket = socket
        settings = started
    }

    /// What a reload has come to, a line each, for people.
    package struct Changes: Equatable, Sendable {
        package var changed: [String] = []
        package var needRestart: [String] = []
    }

    /// Takes over what can be changed of settings that have just been read.
    package mutating func take(_ read: StartSettings) -> Changes {
        var next = read
        var changes = Changes()
        if read.server.maximumSessions > started.server.sessionRoom {
            next.server.maximumSessions = settings.server.maximumSessions
            changes.needRestart.append(
                "max_sessions = \(read.server.maximumSessions): above \(started.server.sessionRoom) it needs a restart")
        }
        // A restart would not apply them to it either.
        changes.changed += socket?.notApplied(read) ?? []
        for key in ConfigurationKey.all where socket == nil || !SocketInForce.has(key) {
            let inForce = value(of: key)
            let new = key.value(next)
            guard inForce != new else { continue }
            let line = "\(key.name) = \(Self.shown(new)), was \(Self.shown(inForce))"
            switch key.change {
            case .reload: changes.changed.append(line)
            case .newSessions: changes.changed.append("\(line); for new sessions")
            case .restart: changes.needRestart.append("\(key.name) = \(Self.shown(new)), is \(Self.shown(inForce))")
            }
        }
        for section in ConfigurationSection.all {
            let inForce = section.shown(section.change == .restart ? started : settings)
            let new = section.shown(next)
            guard inForce != new else { continue }
            switch section.change {
            case .reload, .newSessions: changes.changed.append("[[\(section.name)]]: \(new)")
            case .restart: changes.needRestart.append("[[\(section.name)]]: \(new)")
            }
        }
        settings = next
        return changes
    }

    /// What is in force of a key.
    package func value(of key: ConfigurationKey) -> ConfigurationValue? {
        if let socket, SocketInForce.has(key) { return socket.values[key.name] }
        return key.value(key.change == .restart ? started : settings)
    }

    private static func shown(_ value: ConfigurationValue?) -> String { value?.text ?? "(not set)" }

    /// For SHOW CONFIG.
    package var rows: [ConfigurationRow] {
        ConfigurationKey.all.map { key in
            ConfigurationRow(
                key: key.name, value: value(of: key)?.plainText,
                defaultValue: key.defaultInWords ?? key.defaultValue?.plainText, isChangeable: key.change != .restart)
        }
    }
}
