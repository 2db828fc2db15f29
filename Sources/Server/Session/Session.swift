import CLinux
import Glibc
import Pool
import PostgresWire
import Scheduling
import Synchronization

/// One client's connection: its socket, what it has sent, what it is owed, and where its transaction stands.
///
/// `@unchecked Sendable` because a session goes from thread to thread, owned by one at a time: the worker that took it
/// in the `SessionTable`, or the one that received the `Resumption` it was parked for. What other threads may touch
/// without owning it is atomic and says so.
final class Session: @unchecked Sendable {
    // MARK: Identity, never changed
    let server: Server
    // The server's, at hand: what is reached in two steps is retained and released at each use.
    let pool: Pool
    let eventLog: EventLog
    let table: SessionTable
    let socket: Int32
    let slot: Int
    let generation: UInt64
    let processID: Int32

    // MARK: Who it is
    var userName = ""
    /// The process that connected, as the kernel noted it.
    let peer: walpool_peer?
    /// That process with its groups; nil when the kernel does not say which they are.
    let credentials: PeerCredentials?
    /// What it was let in as (see Access/), set before the session is introduced.
    var access = SessionAccess()
    /// It is the console's (see Console/), set before the session is introduced.
    var isConsole = false
    /// It came over TCP, where nobody knows who it is: it may ask for metrics and nothing else. Set before its first byte
    /// is read.
    var isHTTPOnly = false
    let connected = MonotonicClock.now
    /// Random bytes, of which the client was told as many as `cancelKeyLength` says; none before it has started.
    let cancelKey: [UInt8]
    let cancelKeyLength = Atomic<Int>(0)

    // MARK: Input and output
    let input: InputBuffer
    let out = OutputBuffer()
    var phase = Phase.startup(refusedEncryption: [])
    var arming = SocketArming()
    /// What is in hand for it, while its thread is at others.
    var due = Due.reply
    var awaiting = AwaitedInput()
    /// Of the thread it is on: see Session+Turn.
    var turn = SessionTurn()

    enum Phase {
        /// Before the startup message; which encryption requests were answered N.
        case startup(refusedEncryption: [UInt8])
        case ready
        /// It speaks HTTP; see Metrics/Session+HTTP.
        case http
        /// Its HTTP response is on its way, and whatever else it sends is dropped.
        case httpAnswered
        /// Nothing more is handled; what the client is owed is still to be sent.
        case leaving
        case closed
    }

    enum Due {
        /// Its reply is to be sent, and then it waits for its client.
        case reply
        /// Its socket is ready.
        case event
        /// This many bytes were received and stand behind those that `input` has; 0 or a negative errno as `Transfers` gives it.
        case received(Int)
        /// It goes on with what it has received.
        case turn
    }

    // MARK: The session proper
    var state: SessionState
    /// What RESET goes back to: the configuration, and what the startup message set.
    var defaults: Settings

    // MARK: Connections it has, which are not part of the state that a group restores
    enum WriterMode { case none, group, lease }
    var writerMode = WriterMode.none
    var readerIndex: Int?
    var reader: Reader?
    /// The reader was asked for only to prepare a statement on it.
    var readerIsOnlyToPrepare = false
    /// Portals that have a statement running on the reader.
    var portalsOnReader = 0
    /// The writer was granted while the session was parked, and no transaction has been begun yet.
    var hasWriterGrant = false
    /// When it has had the writer for as long as its access rule allows.
    var writerDeadline = Instant.distantFuture
    /// The pool knows that it holds the writer and waits for its client.
    var isIdleHolder = false
    /// The pool knows that it has a reader and waits for its client.
    var isReaderIdle = false
    let simplePortal: Portal
    /// It was used since the session was last idle, and may have much.
    var hasSimpleStatement = false
    /// It is at a private connection of the catalogs: see `reasonOfOwnConnection`.
    var isAtCatalogs = false
    /// Set by each worker that takes the session, before anything else, and used on that worker's thread only, which keeps it until the
    /// thread ends. Not retained, for that would be two atomic operations at every turn.
    unowned(unsafe) var worker: Worker? { willSet(next) { (counters, socketMark) = (next?.counters, next?.socketMark) } }
    /// Of the thread the session is on.
    var socketMark: SocketWait.Mark?

    // MARK: Counted
    /// Those of the thread the session is on.
    var counters: ThreadCounters?
    var accounting = SessionAccounting()

    // MARK: The statement being handled
    var running = RunningStatement()
    /// See Logging/Session+LockWait.
    var lockWait = LockWait()
    var marks = ReplyMarks()
    /// See Session+Analysing; nil for most.
    var ownAnalyses: OwnAnalyses?
    /// A COPY FROM is being received: `state.copyIn`, as a word that costs nothing to ask.
    var isCopyingIn = false

    // MARK: Committing
    var member = GroupMembership()
    /// With synchronous = pipelined: its own commit is not on the disk yet, and its reply is kept until it is. The settings
    /// are those it goes back to if that fails.
    var unsynced: (commit: UnsyncedCommit, settingsBefore: HeldSettings?)?
    /// There is one, as a word that costs nothing to ask.
    var isUnsynced = false
    /// Of a commit that is not on the disk yet, or was not when it came: see Session+HeldCursors.
    var heldByCommit: [Portal] = []
    /// To be closed once its reply has gone out.
    var isClosing = false
    /// How a command of the console ended that ran on a thread of its own.
    var consoleOutcome: Result<Void, WireError>?

    // MARK: Touched by any thread
    let activity = Atomic<Activity>(.none)
    /// A reader is checked out, so that there may be a snapshot to end.
    let hasReader = Atomic<Bool>(false)
    /// In the middle of a COPY FROM, and idle until its client sends more or `deadline`.
    let isAwaitingCopyData = Atomic<Bool>(false)
    /// The transaction status its client was last told, for whoever looks.
    let status = Atomic<UInt8>(TransactionStatus.idle.rawValue)
    /// In a transaction block that a pause waits for: see Session+Pause.
    let blockPassesPause = Atomic<Bool>(false)
    /// An administrator ends it: see Session+Kill.
    let isKilled = Atomic<Bool>(false)
    let parked = ParkedSession()
    /// When the timer shall look at this session, in nanoseconds; Int64.max is never.
    let deadline = Atomic<Int64>(.max)

    init(
        server: Server, socket: Int32, _ arrival: Server.Arrival, slot: Int, generation: UInt64, processID: Int32
    ) {
        self.server = server
        pool = server.pool
        eventLog = server.eventLog
        table = server.table
        self.socket = socket
        self.slot = slot
        self.generation = generation
        self.processID = processID
        peer = arrival.peer
        credentials = arrival.credentials
        access.startsIn = arrival.group
        input = InputBuffer(mayComeWithDescriptors: arrival.mayHaveDescriptors)
        var generator = SystemRandomNumberGenerator()
        cancelKey = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        defaults = server.current { $0.sessionDefaults }
        state = SessionState(settings: defaults)
        simplePortal = Portal(
            name: "", statement: PreparedStatement(server.emptyQuery))
    }

    var token: Poller.Token { UInt64(slot) << 32 | (generation & 0xFFFF_FFFF) }
}
