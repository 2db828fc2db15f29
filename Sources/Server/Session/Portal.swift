import Pool
import PostgresWire

/// A statement with its parameters, ready to run, running, or run.
final class Portal {
    let name: String
    private(set) var statement: PreparedStatement
    let parameters = BoundParameters()
    /// The formats the client asked for: none (all text), one for all, or one for each column.
    var resultFormats: [Format] = []
    var encoder = RowEncoder()
    /// The encoder has been made for this run, and the client may have been told what it says.
    var isDescribed = false
    private(set) var run: Run?
    /// What is known of the statement in the schema that it was begun in. Another portal of it may meet another one meanwhile, by
    /// which this one's rows must not be read.
    private var analysisOfRun: Analysis?
    private(set) var isDone = false
    /// What is left of its rows when its run had to end before them (see Session+OpenPortals).
    private(set) var kept: KeptRows?
    /// Why there are no rows behind those that were asked for; see `keepErrorBehind`.
    var errorBehind: KeptRows?
    /// It stood on a snapshot that was ended: its other rows cannot be had any more.
    var snapshotLoss: SnapshotLoss?
    /// Its transaction has ended, or it was closed: the object is only kept to be used again.
    var isClosed = false
    var isBinaryCursor = false
    /// It was DECLAREd WITH HOLD.
    var isHoldable = false
    /// The transaction that has declared it is committed: no other one's end closes it.
    private(set) var isHeld = false
    private(set) var hasFailed = false
    /// How many savepoints there were when it was opened: it survives a rollback to one of those.
    var savepointDepth = 0
    /// Rows sent for the Execute message being handled.
    var rowsOfExecute = 0
    /// Rows that were sent or passed over before that, which is where FETCH ABSOLUTE counts from.
    private(set) var position = 0
    /// It was asked for more rows than there are.
    private(set) var isPastEnd = false
    /// What the run has taken and returned before it was paused. Not in `Run`, which is copied for every row that is sent.
    private(set) var pausedNanoseconds = 0
    private(set) var pausedRows = 0

    /// A statement running on a connection.
    struct Run {
        var lease: PreparedLease
        var connection: PooledConnection
        var isOnWriter: Bool
        var counts: Bool
        var kind: StatementKind
        /// The statement stands on a row that has not been sent.
        var hasRow = false
    }

    init(name: String, statement: PreparedStatement) {
        self.name = name
        self.statement = statement
    }

    var query: Query { statement.prepared }
    var analysis: Analysis? { analysisOfRun ?? statement.analysis }
    var isRunning: Bool { run != nil }
    /// Its statement stands on a row that has not been sent.
    var hasRow: Bool { run?.hasRow ?? false }
    /// FETCH can read from it: SQLite runs its statement, which gives rows.
    var isCursor: Bool { statement.query === query && !(analysis?.columns.isEmpty ?? true) }
    /// It has been begun and has rows, or a failure, left to tell.
    var isBegun: Bool { run != nil || kept != nil }
    /// The client has described this portal, and decodes other portals of its statement by the same types.
    private(set) var announces = false
    /// Its columns are what an earlier portal of its statement announced.
    var keepsAnnouncedTypes = false

    func announce() {
        announces = true
        statement.announceOfPortal(encoder.columns.map(\.type))
    }

    /// Open columns take their types from the rows sent so far, so they are announced again when some were sent; not if Describe of the
    /// statement came between.
    func announceAgain() {
        if statement.announcedTypes != nil { announce() }
    }

    /// Nobody has asked it for anything.
    var isFresh: Bool { run == nil && !isDone && !isClosed }

    func format(_ column: Int) -> Format { resultFormats.format(at: column) }

    /// Those it was opened with, since a FETCH has asked for others.
    private var openedWith: [Format]?

    /// A FETCH may ask for other formats than the cursor was opened with. The types that were announced stay.
    func changeFormats(_ formats: [Format]) {
        guard !isBinaryCursor else { return }
        if openedWith == nil { openedWith = resultFormats }
        resultFormats = formats
        guard isDescribed else { return }
        for index in encoder.columns.indices { encoder.columns[index].format = format(index) }
    }

    /// What Execute sends is in the formats that Bind has asked for.
    @inline(__always)
    func takeBackFormats() {
        if let openedWith { changeFormats(openedWith) }
    }

    /// Makes the portal new for another statement, keeping its memory.
    func reuse(for statement: PreparedStatement) {
        if statement !== self.statement { self.statement = statement }
        if !resultFormats.isEmpty { resultFormats.removeAll(keepingCapacity: true) }
        openedWith = nil
        makeFresh()
    }

    /// The statement it is for turns out to be a call of this one.
    func become(_ statement: PreparedStatement) { self.statement = statement }

    /// How far it is, and what the client was told of it: what a group's member finds again when it runs again.
    struct Progress {
        var isDescribed: Bool
        var announces: Bool
        var keepsAnnouncedTypes: Bool
        var isClosed: Bool
        var isDone: Bool
        var hasFailed: Bool
        var snapshotLoss: SnapshotLoss?
        var rowsOfExecute: Int
        var position: Int
        var isPastEnd: Bool
        var encoder: RowEncoder
        var kept: KeptRows?
        var analysisOfRun: Analysis?
        var isHeld: Bool
    }

    var progress: Progress {
        get {
            Progress(
                isDescribed: isDescribed, announces: announces, keepsAnnouncedTypes: keepsAnnouncedTypes, isClosed: isClosed,
                isDone: isDone, hasFailed: hasFailed, snapshotLoss: snapshotLoss,
                rowsOfExecute: rowsOfExecute, position: position, isPastEnd: isPastEnd, encoder: encoder, kept: kept,
                analysisOfRun: analysisOfRun, isHeld: isHeld)
        }
        set {
            (isDescribed, isClosed, encoder) = (newValue.isDescribed, newValue.isClosed, newValue.encoder)
            (announces, keepsAnnouncedTypes) = (newValue.announces, newValue.keepsAnnouncedTypes)
            (isDone, hasFailed, snapshotLoss) = (newValue.isDone, newValue.hasFailed, newValue.snapshotLoss)
            rowsOfExecute = newValue.rowsOfExecute
            (position, isPastEnd) = (newValue.position, newValue.isPastEnd)
            kept = newValue.kept
            analysisOfRun = newValue.analysisOfRun
            isHeld = newValue.isHeld
        }
    }

    /// Its values, which an idle session does not keep when they are large.
    func releaseMemory(above limit: Int) { parameters.releaseMemory(above: limit) }

    /// As if it had not run.
    func makeFresh() {
        isDescribed = false
        announces = false
        keepsAnnouncedTypes = false
        isDone = false
        snapshotLoss = nil
        isClosed = false
        isHeld = false
        hasFailed = false
        rowsOfExecute = 0
        position = 0
        isPastEnd = false
        kept = nil
        analysisOfRun = nil
    }

    /// The message that they were sent for has been answered, and the next one counts its own.
    @inline(__always)
    func endRowsOfExecute() {
        position &+= rowsOfExecute
        rowsOfExecute = 0
    }
    func passOver(rows: Int) { position &+= rows }
    func passEnd() { isPastEnd = true }
    /// Neither before the first row nor behind the last one.
    var isOnRow: Bool { position > 0 && !isPastEnd }

    func begin(_ run: Run, _ analysis: Analysis) {
        self.run = run
        analysisOfRun = analysis
        pausedNanoseconds = 0
        pausedRows = 0
    }
    /// It is none of SQLite's and has done what it does.
    func end() { isDone = true }
    func standOnRow(_ hasRow: Bool) { run?.hasRow = hasRow }
    /// Its statement, or what was to become of a row, has failed: it gives nothing more, and is closed by name or with its transaction.
    func fail() { hasFailed = true }
    func pause(nanoseconds: Int) { pausedNanoseconds += nanoseconds }
    /// The rows of this Execute are counted, and the next one counts its own.
    func keepRows() { pausedRows += rowsOfExecute }
    func finish() -> Run? {
        isDone = true
        guard isBegun else { return nil }
        kept = nil
        return run.take()
    }
    /// It was begun for others, and that failed for a reason of theirs: call `finish` first.
    func forgetRun() {
        isDone = false
        hasFailed = false
        analysisOfRun = nil
    }
    /// Its columns as they turned out to be when it ran, which the client has not been told.
    func take(_ fresh: Analysis) {
        statement.take(fresh)
        analysisOfRun = fresh
    }
    /// Savepoints are of other transactions from here on.
    func hold() {
        isHeld = true
        savepointDepth = 0
    }
    /// Its run is over, and these are its other rows.
    func keep(_ rows: KeptRows) {
        kept = rows
        // Its error, if it has one, is for whoever asks for its rows.
        hasFailed = false
    }
}
