/// What SHOW shows.
enum ConsoleTopic: String, CaseIterable, Sendable {
    case help, version, state
    case clients, servers, sockets
    case activeSockets = "active_sockets"
    case pools, databases, users, lists, config, mem
    case dnsHosts = "dns_hosts"
    case dnsZones = "dns_zones"
    case writer, wal, snapshots, maintenance, backups
    case stats, statsTotals = "stats_totals", statsAverages = "stats_averages", statements

    /// What SHOW HELP says of it.
    var summary: String {
        switch self {
        case .help: "this list"
        case .version: "the versions of Walpool, SQLite and the protocol"
        case .state: "whether it is paused, and whether it waits for its clients to leave"
        case .clients: "one row for each session, those of the console included"
        case .servers: "one row for each open SQLite connection, and whose it is at the moment"
        case .sockets: "the clients with what their buffers hold; numbers of those at work are not known"
        case .activeSockets: "the same, of those that are at work or wait"
        case .pools: "clients, connections and queues in numbers"
        case .databases: "the database that is served, and the console"
        case .users: "the names under which clients are connected"
        case .lists: "how many there are of what"
        case .config: "every setting: its value, its default, whether RELOAD changes it"
        case .mem: "memory"
        case .dnsHosts, .dnsZones: "nothing: for tools that ask"
        case .writer: "who has the writer (place 0), since when and with what, and who waits for it, in order"
        case .wal: "the write-ahead log, its last checkpoint, and what holds it back"
        case .snapshots: "the snapshots that are kept open, oldest first"
        case .maintenance: "VACUUM: what it waits for or how far it is, the last, the next"
        case .backups: "the backup that runs, and the last one"
        case .stats, .statsTotals, .statsAverages, .statements: statisticsSummary
        }
    }
}
