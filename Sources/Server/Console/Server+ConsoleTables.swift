import Glibc
import Pool
import PostgresWire
import SQLite
import Scheduling

/// The rows of what the console shows. Each look takes one copy under one lock at a time and holds nobody up: nothing
/// here waits in a queue or reads the database.
extension Server {
    func consoleTable(_ topic: ConsoleTopic) -> ConsoleTable {
        var rows = ConsoleTable(topic)
        let now = MonotonicClock.now
        switch topic {
        case .help: showHelp(&rows)
        case .version:
            rows.append([.text(ServerVersion.walpool), .text(SQLiteLibrary.version), "3.2"])
        case .clients: showClients(&rows, now)
        case .pools: showPools(&rows, now)
        case .writer: showWriter(&rows, now)
        case .wal: showWAL(&rows, now)
        case .snapshots: showSnapshots(&rows, now)
        case .maintenance: showMaintenance(&rows)
        case .backups: showBackups(&rows, now)
        case .stats, .statsTotals, .statsAverages, .statements: showStatistics(topic, &rows, now)
        }
        return rows
    }

    private func showHelp(_ rows: inout ConsoleTable) {
        for topic in ConsoleTopic.allCases {
            rows.append([.text("SHOW \(topic.rawValue.uppercased())"), .text(topic.summary)])
        }
        rows.append(["BACKUP TO 'name'", "copies the database into backup_directory; answers when the copy is checked and on the disk"])
        rows.append(["CHECKPOINT", "copies what it can of the write-ahead log into the database file"])
        rows.append(["VACUUM", "asks for upkeep now; SHOW MAINTENANCE says how it goes"])
    }

    private func showPools(_ rows: inout ConsoleTable, _ now: Instant) {
        let view = pool.view
        let sessions = table.sessions
        let waiting = view.writerQueue.filter { $0.purpose != .job }.count + view.readerQueue.count
        // Those that wait have a statement, too.
        let active = sessions.count { $0.activity.load(ordering: .relaxed) != 0 }
        rows.append([
            .text(configuration.databaseName), .init(sessions.count), .init(max(0, active - waiting)), .init(waiting),
            .init(view.readersInUse), .init(view.readersOpen - view.readersInUse), .init(view.readersLimit),
            .text(Self.describe(view.holder)), .init(view.writerQueue.count), .init(view.readerQueue.count),
            .init(view.longestWaitMilliseconds(now: now)),
        ])
    }

    private static func describe(_ holder: WriterQueue.Holder) -> String {
        switch holder {
        case .nobody: "free"
        case .group: "group"
        case .transaction(let client, _, _): "client \(client)"
        case .job(let client): describeJob(client)
        }
    }

    private static func describeJob(_ client: ClientID) -> String {
        WriterJob(client: client).map { "\($0)" } ?? "job"
    }

    private func showWriter(_ rows: inout ConsoleTable, _ now: Instant) {
        let view = pool.view
        let users = userNames
        switch view.holder {
        case .nobody: break
        case .group:
            rows.append([.init(0), .null, .null, "group", .null, .null])
        case .transaction(let client, let since, let idleSince):
            rows.append([
                .init(0), .init(client), .init(users[client]), "transaction", .init(now.milliseconds(since: since)),
                idleSince.map { .init(now.milliseconds(since: $0)) } ?? .null,
            ])
        case .job(let client):
            rows.append([.init(0), .null, .null, .text(Self.describeJob(client)), .null, .null])
        }
        for (index, waiter) in view.writerQueue.enumerated() {
            let isJob = waiter.purpose == .job
            rows.append([
                .init(index + 1), isJob ? .null : .init(waiter.client), .init(users[waiter.client]),
                .text(isJob ? Self.describeJob(waiter.client) : Self.describe(waiter.purpose)),
                .init(now.milliseconds(since: waiter.since)), .null,
            ])
        }
    }

    private static func describe(_ purpose: WriterQueue.Purpose?) -> String { purpose.map { "\($0)" } ?? "" }

    /// By client number.
    var userNames: [ClientID: String] {
        var names: [ClientID: String] = [:]
        for session in table.sessions { names[session.clientID] = session.introduction?.user }
        return names
    }

    private func showClients(_ rows: inout ConsoleTable, _ now: Instant) {
        let view = pool.view
        var waits: [ClientID: Waiter] = [:]
        for waiter in view.writerQueue + view.readerQueue { waits[waiter.client] = waiter }
        for session in table.sessions.sorted(by: { $0.processID < $1.processID }) {
            let introduction = session.introduction
            let waiter = waits[session.clientID]
            let isActive = session.activity.load(ordering: .relaxed) != 0
            let state = introduction == nil ? "starting" : waiter != nil ? "waiting" : isActive ? "active" : "idle"
            rows.append([
                .init(Int(session.processID)), .init(introduction?.user),
                .init(introduction.map { $0.isConsole ? "walpool" : configuration.databaseName }), .text(state),
                introduction == nil ? .null : .text(Self.describe(session.announcedStatus)),
                .text(UTCTime.text(of: session.connected, now: now)),
                .init(waiter.map { $0.purpose == nil ? "reader" : "writer" }),
                waiter.map { .init(now.milliseconds(since: $0.since)) } ?? .null,
                introduction?.peer.map { .init(Int($0.user)) } ?? .null,
                introduction?.peer.map { .init(Int($0.process)) } ?? .null,
                .init(introduction?.applicationName),
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

    private func showBackups(_ rows: inout ConsoleTable, _ now: Instant) {
        for backup in [pool.backups.running, pool.backups.last].compactMap({ $0 }) {
            let status = backup.status
            rows.append([
                .text(backup.name), .text(status.phase.rawValue), .text(UTCTime.text(of: backup.began, now: now)),
                .init((status.ended ?? now).milliseconds(since: backup.began)), .init(status.pages),
                .init(status.copiedPages), .init(status.bytes),
                backup.snapshotBegan.map { .init(now.milliseconds(since: $0)) } ?? .null,
                .init(status.error.map { "\($0)" }),
            ])
        }
    }
}

extension UTCTime {
    /// The wall clock at a moment of the monotonic one, as the two stand now.
    static func text(of instant: Instant, now: Instant) -> String {
        text(Int64(time(nil)) - now.milliseconds(since: instant) / 1000)
    }
}
