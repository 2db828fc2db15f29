import Pool
import Scheduling

/// SHOW POOLS, DATABASES, USERS and LISTS: what exporters and dashboards for PgBouncer read.
///
/// The console counts as a database of its own, as PgBouncer's does, though here it has no connection behind it. The user
/// of the connections is always the daemon: what a client may do is decided before.
extension Server {
    static let connectionUser = "walpool"
    static let consoleName = "walpool"

    func showPools(_ rows: inout ConsoleTable, _ now: Instant) {
        let view = pool.view
        let counts = SessionsCounted(table.sessions)
        let waiting = view.writerQueue.filter { $0.purpose != .job }.count + view.readerQueue.count
        let wait = view.longestWaitMicroseconds(now: now)
        rows.append(
            [.text(configuration.databaseName), .text(Self.connectionUser)]
                + integers([max(0, counts.clients - waiting), waiting, 0, 0, view.connectionsInUse, 0, 0])
                + integers([view.connectionsOpen - view.connectionsInUse, 0, 0, 0])
                + [.init(wait / 1_000_000), .init(wait % 1_000_000), "transaction", .init(counts.clients)]
                + [.init(view.readersLimit), .text(Self.describe(view.holder))]
                + integers([view.writerQueue.count, view.readerQueue.count]))
        rows.append(
            [.text(Self.consoleName), .text(Self.connectionUser)] + integers([counts.consoles] + Array(repeating: 0, count: 12))
                + ["statement", .init(counts.consoles), .null, .null, .null, .null])
    }

    /// Where PgBouncer names the host it connects to, here stands the file. `database` has the name by which exporters join
    /// this table with the others.
    func showDatabases(_ rows: inout ConsoleTable) {
        let view = pool.view
        rows.append(
            [.text(configuration.databaseName), .text(configuration.databasePath), .init(port)]
                + [.text(configuration.databaseName), .text(Self.connectionUser)]
                + [.init(view.readersLimit + 1), .init(0), .init(1), "transaction"]
                + integers([view.connectionsAtMost, view.connectionsOpen, view.pause == .none ? 0 : 1, 0]))
        rows.append(
            [.text(Self.consoleName), .null, .init(port), .text(Self.consoleName), .text(Self.connectionUser)]
                + [.init(0), .init(0), .init(0), "statement"] + integers([0, 0, 0, 0]))
    }

    func showUsers(_ rows: inout ConsoleTable) {
        for name in Set(table.sessions.compactMap { $0.introduction?.user }).sorted() { rows.append([.text(name), .null]) }
    }

    func showLists(_ rows: inout ConsoleTable) {
        let view = pool.view
        let sessions = table.sessions
        let counts = SessionsCounted(sessions)
        let lists = [
            ("databases", 2), ("users", Set(sessions.compactMap { $0.introduction?.user }).count), ("pools", 2),
            ("free_clients", max(0, current { $0.maximumSessions } - sessions.count)),
            ("used_clients", counts.clients + counts.consoles), ("login_clients", counts.starting),
            ("free_servers", view.connectionsOpen - view.connectionsInUse), ("used_servers", view.connectionsInUse),
            ("dns_names", 0), ("dns_zones", 0), ("dns_queries", 0), ("dns_pending", 0),
        ]
        for (name, items) in lists { rows.append([.text(name), .init(items)]) }
    }

    private func integers(_ numbers: [Int]) -> [ConsoleTable.Value] { numbers.map { .init($0) } }
}

/// Sessions by what they are for.
private struct SessionsCounted {
    var clients = 0, consoles = 0, starting = 0

    init(_ sessions: [Session]) {
        for session in sessions {
            switch session.introduction?.isConsole {
            case true?: consoles += 1
            case false?: clients += 1
            case nil: starting += 1
            }
        }
    }
}

extension PoolView {
    /// Open SQLite connections: the writer, the readers that were needed so far, and the one for preparing.
    var connectionsOpen: Int { 1 + readersOpen + (isPreparingConnectionOpen ? 1 : 0) }
    var connectionsAtMost: Int { 1 + readersLimit + 1 }
    fileprivate var connectionsInUse: Int { (holder == .nobody ? 0 : 1) + readersInUse + (isPreparingConnectionInUse ? 1 : 0) }
}
