import SQLite
import Synchronization

/// A read-only connection with its snapshot lease.
///
/// The lease is a read transaction kept open between requests by a statement that has been stepped to its row. Before
/// each use the WAL index is compared with the copy taken when the snapshot began: equal, and the snapshot is still
/// the newest there is; different, and a new one is begun. It saves the two file locks that every read transaction
/// takes, and reads stay linearizable: a commit is visible to every read that starts after its acknowledgement.
///
/// `@unchecked Sendable`: see `PooledConnection`.
package final class Reader: PooledConnection, @unchecked Sendable {
    /// Its number in the pool, by which it is granted and given back.
    package let index: Int
    private let pin: Statement
    private let gate: GateSignal
    private let age: SnapshotAge
    private let schema: CommittedSchema
    private var walIndex: WALIndex?
    private var snapshot = WALIndex.Header()
    private(set) var leaseEpoch = 0
    private var isLeased = false

    init(
        index: Int, path: String, settings: ConnectionSettings, limits: PoolLimits, gate: GateSignal, age: SnapshotAge,
        schema: CommittedSchema, counters: PoolCounters = PoolCounters(),
        whenOpened: (Connection) throws(SQLiteError) -> Void = { (_) throws(SQLiteError) in }
    ) throws(SQLiteError) {
        self.index = index
        self.gate = gate
        self.age = age
        self.schema = schema
        let connection = try Connection(path: path, mode: .readOnly, settings: settings, whenOpened: whenOpened)
        // Any statement that reads would do; this one touches a single page and always has a row.
        pin = try connection.prepareInternal("PRAGMA schema_version")
        super.init(connection: connection, limits: limits, counters: counters)
    }

    override var isReader: Bool { true }

    override var reasonOfOwn: StopReason? { gate.isExpired.load(ordering: .relaxed) ? .snapshotTooOld : nil }

    /// Makes sure that the newest snapshot is the one statements will see.
    ///
    /// - Parameter epoch: the pool's; a lease from an older one is begun anew (see `Pool.leaseEpoch`).
    @inline(__always)
    package func refreshSnapshot(epoch: Int) throws(SQLiteError) {
        if isLeased, leaseEpoch == epoch, let walIndex, walIndex.matches(snapshot) { return }
        try beginSnapshot(epoch: epoch)
    }

    private func beginSnapshot(epoch: Int) throws(SQLiteError) {
        endSnapshot()
        let known = schema.version
        age.begins()
        // The copy comes before the transaction: a commit between the two makes the next check fail, and nothing worse.
        if let walIndex { snapshot = walIndex.copyHeader() }
        try stepPin()
        isLeased = true
        leaseEpoch = epoch
        guard walIndex == nil else { return try noteSchema(since: known) }
        // The first transaction has mapped the WAL index: begin again, now with a copy to compare with.
        walIndex = connection.walIndex()
        guard let walIndex else { return try noteSchema(since: known) }
        endSnapshot()
        age.begins()
        snapshot = walIndex.copyHeader()
        try stepPin()
        isLeased = true
        try noteSchema(since: known)
    }

    private func stepPin() throws(SQLiteError) {
        do { _ = try pin.step() } catch {
            age.ends()
            throw error
        }
    }

    /// Another process may have changed it, which nobody but a new snapshot tells.
    private func noteSchema(since known: SchemaVersion) throws(SQLiteError) {
        do { try meet(schema.version(pinnedBy: pin)) } catch {
            endSnapshot()
            throw error
        }
        if schemaVersion != known { schema.wasSeen(schemaVersion, since: known) { isNewest } }
    }

    /// Looks at the newest commit, and keeps no snapshot where there was none. What fails here fails again for who reads with it.
    func look(epoch: Int) {
        let wasLeased = isLeased
        try? refreshSnapshot(epoch: epoch)
        if !wasLeased { endSnapshot() }
    }

    /// The pool believes in another schema than this snapshot's, which is to be believed if it is the newest.
    package func announceSchema() { schema.wasSeen(schemaVersion, since: CommittedSchema.unknown) { isNewest } }

    /// Ends the read transaction, so that checkpoints and VACUUM's last step need not wait for it.
    package func endSnapshot() {
        guard isLeased else { return }
        pin.reset()
        isLeased = false
        age.ends()
    }

    /// From here on the snapshot is kept for a client; until now it was the lease's, which any commit would have ended.
    package func beginsToBeKept() { age.begins() }

    /// Whether nothing was committed since this snapshot began: then a transaction that read it may write.
    package var isNewest: Bool {
        guard isLeased, let walIndex else { return false }
        return walIndex.matches(snapshot)
    }
}
