import Glibc
import POSIX
import Pool
import PostgresWire
import Scheduling

/// SHOW CLIENTS, SERVERS and SOCKETS. `ptr` names a connection, and `link` the one it is joined to at the moment.
extension Server {
    /// What PgBouncer says of a connection, of either kind.
    private struct ConnectionRow {
        var type: String
        var user: String?
        var database: String?
        var state: String
        var port: Int?
        var connected: String?
        var requested: String?
        var waitMicroseconds: Int64 = 0
        var name: String
        var link: String?
        var remoteProcess: Int64?
        var applicationName: String?

        var values: [ConsoleTable.Value] {
            let address = ConsoleTable.Value(port == nil ? nil : "unix")
            let port = port.map { ConsoleTable.Value($0) } ?? .null
            return [
                .text(type), .init(user), .init(database), .text(state), address, port, address, port, .init(connected),
                .init(requested), .init(waitMicroseconds / 1_000_000), .init(waitMicroseconds % 1_000_000), .init(0),
                .text(name), .init(link), remoteProcess.map { .init($0) } ?? .null, .null, .init(applicationName),
            ]
        }
    }

    /// One look at the pool, asked by client.
    private struct ClientsOfPool {
        var waits: [ClientID: Waiter] = [:]
        var links: [ClientID: String] = [:]

        init(_ view: PoolView) {
            for waiter in view.writerQueue + view.readerQueue { waits[waiter.client] = waiter }
            for (index, client) in view.readerUsers { links[client] = "reader \(index)" }
            if case .transaction(let client, _, _) = view.holder { links[client] = "writer" }
        }
    }

    /// Of the socket that it listens on, whoever made it: the number in its name, or 0.
    var port: Int { InheritedSocket.port(inPath: socketFile) ?? 0 }

    static func name(of client: ClientID) -> String { "client \(client)" }

    private var sessionsInOrder: [Session] { table.sessions.sorted { $0.processID < $1.processID } }

    private func row(_ session: Session, _ clients: ClientsOfPool, _ now: Instant) -> ConnectionRow {
        let introduction = session.introduction
        let waiter = clients.waits[session.clientID]
        let isActive = session.activity.load(ordering: .relaxed).isStatement
        return ConnectionRow(
            type: "C", user: introduction?.user,
            database: introduction.map { $0.isConsole ? Self.consoleName : configuration.databaseName },
            state: introduction == nil ? "starting" : waiter != nil ? "waiting" : isActive ? "active" : "idle",
            port: port, connected: UTCTime.text(of: session.connected),
            requested: waiter.map { UTCTime.text(of: $0.since) },
            waitMicroseconds: waiter.map { max(0, now.microseconds(since: $0.since)) } ?? 0,
            name: Self.name(of: session.clientID), link: clients.links[session.clientID],
            remoteProcess: introduction?.peer.map { Int64($0.process) }, applicationName: introduction?.applicationName)
    }

    func showClients(_ rows: inout ConsoleTable, _ now: Instant) {
        let clients = ClientsOfPool(pool.view)
        for session in sessionsInOrder {
            let introduction = session.introduction
            rows.append(
                row(session, clients, now).values + [
                    .init(Int(session.processID)),
                    introduction == nil ? .null : .text(Self.describe(session.announcedStatus)),
                    .init(clients.waits[session.clientID].map { $0.purpose == nil ? "reader" : "writer" }),
                    introduction?.peer.map { .init(Int($0.user)) } ?? .null,
                ])
        }
    }

    private static func describe(_ status: TransactionStatus) -> String {
        switch status {
        case .idle: "none"
        case .inTransaction: "open"
        case .failed: "failed"
        }
    }

    // MARK: Servers

    func showServers(_ rows: inout ConsoleTable, _ now: Instant) {
        let view = pool.view
        let sessions = Dictionary(uniqueKeysWithValues: table.sessions.map { ($0.clientID, $0) })
        func append(_ name: String, _ state: String, _ client: ClientID?, since: Instant? = nil, snapshot: Instant? = nil) {
            let introduction = client.flatMap { sessions[$0]?.introduction }
            let row = ConnectionRow(
                type: "S", user: Self.connectionUser, database: configuration.databaseName, state: state,
                requested: since.map { UTCTime.text(of: $0) }, name: name, link: client.map(Self.name(of:)),
                applicationName: introduction?.applicationName)
            rows.append(row.values + [snapshot.map { .init(now.milliseconds(since: $0)) } ?? .null])
        }
        switch view.holder {
        case .nobody: append("writer", "idle", nil)
        case .transaction(let client, let since, _): append("writer", "active", client, since: since)
        case .group, .job: append("writer", "active", nil, since: view.holderSince)
        }
        let users = Dictionary(uniqueKeysWithValues: view.readerUsers.map { ($0.index, $0.client) })
        for index in 0..<view.readersOpen {
            append(
                "reader \(index)", users[index] == nil ? "idle" : "active", users[index],
                snapshot: pool.snapshotBegan(index))
        }
        // So people know the connection that only prepares: docs/console.md.
        if view.isPreparingConnectionOpen {
            append(
                "analyst", view.isPreparingConnectionInUse ? "active" : "idle", nil, snapshot: pool.snapshotBegan(view.readersLimit))
        }
        if let backup = pool.backups.running { append("backup", "active", nil, snapshot: backup.snapshotBegan) }
    }

    // MARK: Sockets

    func showSockets(_ rows: inout ConsoleTable, _ now: Instant, _ viewer: Session) {
        let clients = ClientsOfPool(pool.view)
        for session in sessionsInOrder {
            let row = row(session, clients, now)
            if rows.topic == .activeSockets, row.state != "active", row.state != "waiting" { continue }
            rows.append(row.values + buffers(of: session, viewer))
        }
    }

    /// A session's buffers are its owner's. One that nobody owns is taken for the moment; of one that is at work nothing is
    /// said.
    private func buffers(of session: Session, _ viewer: Session) -> [ConsoleTable.Value] {
        if session === viewer { return Self.buffers(session) }
        guard let owned = table.own(slot: session.slot, generation: session.generation) else {
            return Array(repeating: .null, count: 7)
        }
        defer { owned.disownAndArm() }
        return Self.buffers(owned)
    }

    private static func buffers(_ session: Session) -> [ConsoleTable.Value] {
        let received = session.input.count
        let handled = session.state.inputPosition
        let unsent = session.out.count
        return [received, handled, 0, 0, unsent, received - handled, unsent].map { .init($0) }
    }
}
