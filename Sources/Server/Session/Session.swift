import CLinux
import Glibc
import Pool
import PostgresWire
import SQLite
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

    // MARK: Input and output
    let input = InputBuffer()
    let out = OutputBuffer()
    var phase = Phase.startup(refusedEncryption: [])
    /// What the socket is armed for when no thread owns the session.
    var interest = Poller.Interest.stream
    /// No edge would announce what the socket has now, so it is armed anew before the session is let go of.
    var needsArming = false
    /// epoll tells nobody what its client sends until it is armed.
    var isUnannounced = false
    /// What is in hand for it, while its thread is at others.
    var due = Due.reply
    /// What the armed deadline is about.
    var awaited = Awaited.startup
    /// When that is over, for whoever owns the session; `deadline` may be earlier, when somebody asks the timer to look.
    var armedDeadline = Instant.distantFuture
    var userName = ""
    /// The process that connected, as the kernel noted it.
    let peer: walpool_peer?
    /// The same with its groups; nil when the kernel does not say which they are.
    let credentials: PeerCredentials?
    /// What it was let in as (see Access/), set before the session is introduced.
    var access = SessionAccess()
    /// Of the thread it is on: see Session+Turn.
    var turn = SessionTurn()
    /// It is the console's (see Console/), set before the session is introduced.
    var isConsole = false
    /// It came over TCP, where nobody knows who it is: it may ask for metrics and nothing else. Set before its first byte
    /// is read.
    var isHTTPOnly = false
    let connected = MonotonicClock.now
    /// Random bytes, of which the client was told as many as `cancelKeyLength` says; none before it has started.
    let cancelKey: [UInt8]
    let cancelKeyLength = Atomic<Int>(0)

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
        /// So many bytes have been received behind those it has; 0 or an errno as `Transfers` has it.
        case received(Int)
        /// It goes on with what it has received.
        case turn
    }

    enum Awaited { case nothing, startup, idleInTransaction, clientWrite, copyData }

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
    let simplePortal: Portal
    /// It was used since the session was last idle, and may have much.
    var hasSimpleStatement = false
    /// It is at a private connection of the catalogs: see `reasonOfOwnConnection`.
    var isAtCatalogs = false
    /// Set by each worker that takes the session, before anything else, and used on that worker's thread only. Not retained, for that
    /// would be two atomic operations at every turn.
    unowned(unsafe) var worker: Worker? { willSet(next) { counters = next?.counters } }

    // MARK: Counted (see Metrics/Session+Counting); times are nanoseconds of the monotonic clock, 0 is none
    /// At the daemon, and not at the database.
    var isLooking = false
    /// Those of the thread the session is on.
    var counters: ThreadCounters?
    var busySince = 0
    var transactionSince = 0
    var parkedSince = 0
    /// Waited in queues since `busySince`.
    var waitedNanoseconds = 0

    // MARK: The statement being handled
    var isStatementActive = false
    /// A cancel came for a statement that had done all it had to, and more of its message or pipeline follow.
    var wasCancelled = false
    var statementDeadline = Instant.distantFuture
    var lockDeadline = Instant.distantFuture
    /// See Logging/Session+SlowStatement.
    var times = StatementTimes()
    /// To be logged when the reply has gone out.
    var slowStatement: SlowStatement?
    /// See Logging/Session+LockWait.
    var waitBegan = Instant(nanoseconds: 0)
    var hasLoggedWait = false
    /// When it has had the writer for as long as its access rule allows.
    var writerDeadline = Instant.distantFuture
    /// When the client's socket is looked at next; 0 before the first time.
    var nextLookAtClient = Instant(nanoseconds: 0)

    /// See Session+Analysing; nil for most.
    var ownAnalyses: OwnAnalyses?
    /// Where the last complete reply ends in the output.
    var replyEnd = 0
    /// Where what its client waits for ends in the output: that reply, an error, or what it has asked for by a Flush.
    var awaitedEnd = 0
    /// The pool knows that it holds the writer and waits for its client.
    var isIdleHolder = false
    /// The same of a reader.
    var isReaderIdle = false
    var inputActivity = InputActivity()

    /// A COPY FROM is being received: `state.copyIn`, as a word that costs nothing to ask.
    var isCopyingIn = false

    /// See `takeErrorOfFunction`.
    var errorOfFunction: WireError?
    /// What a function has set that the client is told of.
    var settingsToReport: [String] = []

    // MARK: One member of a group (see Session+Group)
    var markedState: SessionState?
    var markedEnd = 0
    var markedDeadline = Instant.distantFuture
    var isSingleStatement = false
    /// Where the reply to the commit begins: cut off there when the commit fails.
    var commitMark = 0
    /// SHOW WRITER names it: see Logging/Session+LockWait.
    var isNotedMember = false
    /// As a member of a group: its transaction has ended, well or not, and nothing of it is left to undo.
    var memberHasEnded = false
    var totalChangesAtMark: Int64 = 0
    /// What its statement may have left behind, where it or what comes after it has failed.
    var leftovers = Leftovers.none
    var markedPortals: [(portal: Portal, description: Portal.Description)] = []
    /// Its transaction is part of the commit that is being made.
    var isInCommit = false
    /// With synchronous = pipelined: its own commit is not on the disk yet, and its reply is kept until it is. The settings
    /// are those it goes back to if that fails.
    var unsynced: (commit: UnsyncedCommit, settings: Settings?)?
    /// There is one, as a word that costs nothing to ask.
    var isUnsynced = false
    /// To be closed once its reply has gone out.
    var isClosing = false
    /// How a command of the console ended that ran on a thread of its own.
    var consoleOutcome: Result<Void, WireError>?

    // MARK: Touched by any thread
    /// An `Activity`.
    let activity = Atomic<Int>(Activity.none)
    /// A reader is checked out, so that there may be a snapshot to end.
    let hasReader = Atomic<Bool>(false)
    /// In the middle of a COPY FROM, and idle until its client sends more or `deadline`.
    let isAwaitingCopyData = Atomic<Bool>(false)
    /// Waits for the writer and has a snapshot meanwhile: when that began, in nanoseconds; 0: it has none.
    let parkedSnapshotBegan = Atomic<Int64>(0)
    /// The transaction status its client was last told, for whoever looks.
    private let status = Atomic<UInt8>(TransactionStatus.idle.rawValue)
    /// In a transaction block that a pause waits for: see Session+Pause.
    let blockPassesPause = Atomic<Bool>(false)
    /// An administrator ends it: see Session+Kill.
    let isKilled = Atomic<Bool>(false)
    /// See Session+QueueNotice.
    let parking = Atomic<Int>(Parking.closed)
    let noticeAt = Atomic<Int64>(.max)
    let waitReportAt = Atomic<Int64>(.max)
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
        var generator = SystemRandomNumberGenerator()
        cancelKey = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        defaults = server.current { $0.sessionDefaults }
        state = SessionState(settings: defaults)
        simplePortal = Portal(
            name: "", statement: PreparedStatement(server.emptyQuery))
    }

    var token: Poller.Token { UInt64(slot) << 32 | (generation & 0xFFFF_FFFF) }
}

// MARK: What the pool asks

extension Session: PoolClient {
    var clientID: ClientID { Int(processID) }

    func reasonToStop(now: Instant) -> StopReason? {
        if activity.load(ordering: .relaxed) == Activity.cancelled { return .cancelled }
        if server.mustStopStatements.load(ordering: .relaxed) || isKilled.load(ordering: .relaxed) { return .shutdown }
        if now >= statementDeadline { return .statementTimeout }
        if now >= state.transaction.deadline { return .transactionTimeout }
        if now >= writerDeadline { return .writerTimeLimit }
        return isAtCatalogs ? reasonOfOwnConnection(now: now) : nil
    }

    func isClientGone(now: Instant) -> Bool {
        guard now >= nextLookAtClient else { return false }
        defer { nextLookAtClient = now.advanced(byMilliseconds: SessionLimits.clientCheckMilliseconds) }
        guard nextLookAtClient.nanoseconds > 0 else { return false }
        // When the statement began to be long, the socket may have had no room for all of them.
        sendCompleteReplies()
        return walpool_is_hung_up(socket) != 0
    }

    func reasonToStopWaiting(now: Instant) -> StopReason? {
        reasonToStop(now: now) ?? (now >= lockDeadline ? .lockTimeout : nil)
    }

    func waitsWithSnapshot(fromBefore moment: Instant) -> Bool {
        let began = parkedSnapshotBegan.load(ordering: .sequentiallyConsistent)
        return began != 0 && began < moment.nanoseconds
    }

    func runsOn() {
        worker?.sendReplies()
        worker?.handOverIfAny()
    }

    func willBeLong() {
        sendCompleteReplies()
        worker?.willBeLong()
        if writerMode != .none { writerWillBeLong() }
        if writerMode == .group { noteLongMember() }
    }

    func writerWillBeLong() {
        for next in pool.openGateWhileReadersLeave() { enqueue(next) }
    }

    /// A client must not wait for the end of one statement to hear of the one before.
    func sendCompleteReplies() {
        if replyEnd > out.start, writerMode != .group { _ = flush() }
    }

    /// Before a wait in a queue, in which nobody would send them: replies that are complete go out first, and what the socket has no room
    /// for is waited for. nil: nothing is left.
    func waitUntilRepliesAreSent() -> Wait? {
        guard owesReplyEnd, !hasWriterGrant else { return nil }
        guard flush() else { return .closed }
        guard owesReplyEnd else { return nil }
        // A COPY has begun, and its time goes on.
        guard state.copyIn == nil else { return .output }
        // Any other statement has not: its message is handled again, and its time is not its client's.
        isStatementActive = false
        statementDeadline = .distantFuture
        state.query?.hasStarted = false
        return .output
    }

    /// The client is to hear first how its last statement ended. A session that has the writer waits for no client.
    var owesReplyEnd: Bool { replyEnd > out.start && out.count > 0 && writerMode == .none }

    /// It goes on when its client has read.
    var mustBeRead: Bool { out.count >= SessionLimits.flushBytes || owesReplyEnd }

    func readyForQuery() {
        if !settingsToReport.isEmpty { reportSettingsOfStatement() }
        let told = state.transaction.status
        out.readyForQuery(told)
        wasCancelled = false
        if told == .idle, ownAnalyses != nil { ownAnalyses = nil }
        replyEnd = out.end
        awaitedEnd = replyEnd
        status.store(told.rawValue, ordering: .relaxed)
        // A group's commit is yet to come.
        if told == .idle, writerMode != .group { countTransactionEnd() }
    }

    /// When a wait that began with this statement is over.
    var waitDeadline: Instant { min(lockDeadline, min(statementDeadline, state.transaction.deadline)) }
}

// MARK: What others may see of it

extension Session {
    /// What it said of itself when it started, which never changes afterwards.
    struct Introduction {
        var user: String
        var applicationName: String
        var isConsole: Bool
        var peer: walpool_peer?
        var role: Role
    }

    /// nil before it has started. Any thread may ask: the length of the key is stored when all of this is.
    var introduction: Introduction? {
        guard cancelKeyLength.load(ordering: .acquiring) > 0 else { return nil }
        return Introduction(
            user: userName, applicationName: defaults.applicationName, isConsole: isConsole, peer: peer, role: role)
    }

    var announcedStatus: TransactionStatus {
        TransactionStatus(rawValue: status.load(ordering: .relaxed)) ?? .idle
    }
}
