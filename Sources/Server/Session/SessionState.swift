import PostgresWire
import SQLite
import Scheduling

/// Everything a session remembers between messages that a transaction run again must find as it was.
///
/// A value: going back is an assignment, but for portals and statements, which are objects; how far portals were is remembered beside
/// it (`Portal.Progress`).
struct SessionState {
    /// How far the input has been handled, in bytes from the start of the input buffer.
    var inputPosition = 0
    var transaction = Transaction()
    var settings: Settings
    var statements = NamedStatements()
    var unnamedStatement: PreparedStatement?
    var portals: [ExactName: Portal] = [:]
    var unnamedPortal: Portal?
    var counters = ChangeCounters.Values()
    /// After an error in the extended protocol: "the backend reads and discards messages until a Sync is reached".
    /// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
    var skipsUntilSync = false
    /// The Query message being worked through.
    var query: RunningQuery?
    /// The COPY FROM whose data the client sends; see Copy/.
    var copyIn: CopyIn?

    init(settings: Settings) { self.settings = settings }

    /// A Query message with its statements, as offsets into the input.
    struct RunningQuery {
        var sql: Range<Int>
        /// Before any of its statements runs, all of it is read; nil: it has been.
        var reading: QueryReading?
        var statements: [Range<Int>] = []
        var next = 0
        /// The next statement's portal has been made ready.
        var hasStarted = false
        /// Where the input goes on behind it: behind the data, too, of a COPY FROM among its statements.
        var end: Int
        /// Where the message itself ends.
        let messageEnd: Int

        mutating func finishReading() {
            statements = reading?.statements ?? []
            reading = nil
        }
    }
}

/// The transaction block a client has opened, or none: then what is said of it is of the message or pipeline that runs.
struct Transaction {
    /// What the client's block has come to.
    enum Block {
        case none
        case open
        /// After an error: everything is refused until ROLLBACK or ROLLBACK TO.
        case failed
        /// Its COMMIT waits for what its cursors WITH HOLD need: whatever ends that wait ends it.
        case committing
    }

    var block = Block.none
    /// Between BEGIN and COMMIT or ROLLBACK.
    var isExplicit: Bool { block != .none }
    var hasFailed: Bool { block == .failed }
    var isolation = IsolationLevel.readCommitted
    var isReadOnly = false
    /// SQLite's BEGIN DEFERRED.
    var isDeferred = false
    /// A statement of the block has run.
    var hasQueried = false
    /// SET TRANSACTION without a block: for the rest of the query string or pipeline.
    var hasModesOfMessage = false
    /// Reads see one snapshot throughout, kept on one reader.
    var pinsSnapshot = false
    /// It began before the pause there may be: see Session+Pause.
    var passesPause = false
    /// The snapshot was ended: nothing more can be read in this transaction.
    var snapshotLoss: SnapshotLoss?
    /// Names, outermost first. SQLite's own savepoint has the index in its name, so that a name used twice and a
    /// name that differs only in case are told apart as PostgreSQL does.
    var savepoints: [Savepoint] = []
    var deadline = Instant.distantFuture
    /// What it has changed, also where there is no block.
    var settings = TransactionSettings()

    var status: TransactionStatus {
        switch block {
        case .none: .idle
        case .open, .committing: .inTransaction
        case .failed: .failed
        }
    }
}
