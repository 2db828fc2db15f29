import PostgresWire

/// PgBouncer's commands that mean nothing here; whoever tries one is told why.
enum MissingCommand: String, CaseIterable, Sendable {
    case disable, enable, reconnect, suspend
    case waitClose = "wait_close"

    var error: WireError {
        WireError(
            state: .featureNotSupported, message: "\(rawValue.uppercased()) is not available: \(reason)", hint: alternative)
    }

    private var reason: String {
        switch self {
        case .suspend: "it is for handing sockets over to another process, and here the service manager keeps the socket"
        case .disable, .enable: "there is one database, and without it no daemon"
        case .reconnect, .waitClose: "its connections are to a file, and it looks for itself whether that is still the same"
        }
    }

    private var alternative: String? {
        switch self {
        case .suspend: "PAUSE holds statements back; SHUTDOWN WAIT_FOR_CLIENTS is for restarts."
        case .disable, .enable: "PAUSE and RESUME, or SHUTDOWN WAIT_FOR_CLIENTS."
        case .reconnect, .waitClose: nil
        }
    }
}
