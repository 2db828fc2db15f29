/// What the console can be told.
enum ConsoleStatement: Equatable, Sendable {
    case show(ConsoleTopic)
    /// Makes a backup; the reply comes when it is complete.
    case backup(name: String)
    /// Has a checkpoint made; the reply comes when it has been tried.
    case checkpoint
    /// Ends a client's session, by its number in SHOW CLIENTS.
    case kill(Int32)
    /// New transactions wait; the reply comes when those that had begun have ended. Of this database, if one is named.
    case pause(String?)
    case reload
    case resume(String?)
    case shutdown(whenClientsHaveLeft: Bool)
    /// Has upkeep done now instead of when it is due; the reply comes at once.
    case vacuum
    /// A setting of the daemon's, which is not changed here.
    case set(String)
    case missing(MissingCommand)

    var tag: StaticString {
        switch self {
        case .show: "SHOW"
        case .backup: "BACKUP"
        case .checkpoint: "CHECKPOINT"
        case .kill: "KILL"
        case .pause: "PAUSE"
        case .reload: "RELOAD"
        case .resume: "RESUME"
        case .shutdown: "SHUTDOWN"
        case .vacuum: "VACUUM"
        case .set: "SET"
        case .missing: "a command of PgBouncer's"
        }
    }

    /// The commands as SHOW HELP lists them, after the SHOWs.
    static let help: [(syntax: String, summary: String)] = [
        ("BACKUP TO 'name'", "copies the database into backup_directory; answers when the copy is checked and on the disk"),
        ("CHECKPOINT", "copies what it can of the write-ahead log into the database file"),
        ("KILL client", "ends a client's session, by its id in SHOW CLIENTS"),
        ("PAUSE [database]", "new transactions wait; answers when those that had begun have ended"),
        ("RELOAD", "reads the configuration file again and says what was applied"),
        ("RESUME [database]", "ends a pause"),
        ("SHUTDOWN [WAIT_FOR_CLIENTS]", "stops the daemon; or lets nobody in any more and stops it when the last client has left"),
        ("VACUUM", "asks for upkeep now; SHOW MAINTENANCE says how it goes"),
    ]
}
