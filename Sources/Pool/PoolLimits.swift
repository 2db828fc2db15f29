import SQLite
import Scheduling

/// The bounds of the pool, each with its reason. What only one job needs (retries of upkeep, the pages a backup copies at a time)
/// stands where that job is, as do the thresholds of one algorithm.
package struct PoolLimits: Sendable {
    /// Read-only connections. Each costs its page cache (`cache_size`) and about 60 KB besides.
    package var readers = 8
    /// Descriptors a connection may have open: the database and its -wal; and files without a name, two for each of two sorts at a
    /// time, one for a transient table, one for what a statement may have to undo. The -shm is open once for all.
    package static let descriptorsPerConnection = 8
    /// Connections besides the readers: the writer, the one that only prepares, a backup's two.
    package static let otherConnections = 4
    /// Members of one group commit. At 1,000 clients 64 gave 0.72 times, 256 gave 1.08 times the INSERTs of 128; a killed group runs
    /// its members again, so no more than that.
    package var groupMembers = 128
    /// How long a group may run before it takes on no more members and commits. A member other than the first that runs for longer
    /// than that by itself is stopped, and has the first place of the next group.
    package var groupMilliseconds: Int64 = 20
    /// How long a holder of the writer, or the user of a reader, may be idle while somebody waits.
    package var writerIdleMilliseconds: Int64 = 5_000
    /// Prepared statements kept per connection. Each takes a few KB; see `StatementCache` for which goes first.
    package var statementsPerConnection = 256
    /// What all kept statements of a connection may take together: 32 KB for each of 256. A statement whose text is one mebibyte takes
    /// thirty, and those that are kept count against `MemoryLimits.totalBytes`, which is everybody's: fifty such texts of one client kept
    /// the others from theirs.
    package var statementBytesPerConnection = 8 << 20
    /// A statement that takes more than its share, were there only so many, is not kept: it would push out most of the others.
    static let leastCachedStatements = 8
    /// Not changed while the pool is open.
    package var durability = Durability.full
    /// With `pipelined`: a group that keeps the writer waits for another thread's sync for twice the time a sync takes in the mean,
    /// and this is the longest mean that counts.
    static let longestKeptSyncNanoseconds: Int64 = 1_000_000_000
    /// How long the writer's snapshot is kept at most: another process that wants to empty the WAL waits for it, as it does for
    /// the readers'. Its beginning costs 5 µs, so ten times shorter would make no difference to throughput.
    static let writerSnapshotMilliseconds: Int64 = 50
    /// WAL size at which a checkpoint is attempted; 4,000 pages of 4 KiB are 16 MB.
    package var checkpointFrames = 4_000
    /// The size the WAL does not outgrow, however long snapshots are kept: at half of it writers wait for a checkpoint,
    /// at three quarters readers do. What is left is room for what is on its way; one transaction larger than that
    /// still makes it larger, because nothing of it can be copied before it commits.
    package var walLimitBytes = 64 << 20
    /// How long a checkpoint that empties the WAL waits for readers, with every writer waiting for it.
    package var truncateMilliseconds: Int64 = 30
    /// How long writers go on beside a closed gate while readers leave; then they wait for those that are left. Never longer
    /// than `gateMilliseconds`, nor once the WAL has `CheckpointPolicy.holdFrames`.
    package var gateDrainMilliseconds: Int64 = 2_000
    /// How long statements that read may go on once the WAL must be emptied; then they are ended. A snapshot that its
    /// client keeps without reading is ended at once when it is older than this.
    package var gateMilliseconds: Int64 = 2_000
    /// How often it is looked whether the files are where they were, besides at each commit. The daemon wakes up as often for its
    /// statistics.
    static let filesLookMilliseconds: Int64 = 60_000
    /// How long a client waits in a queue before it is looked whether it is still there, and how often that is. It costs a system call
    /// for each who has waited for so long.
    static let waitingLookMilliseconds: Int64 = 1_000
    /// How often the lock of a backup's temporary file is tried for while others, one after the other, have it and remove it. Each
    /// has it for a moment only, or it is refused at once.
    static let backupLockAttempts = 100
    /// How long a start waits for another daemon to let go of the database: who stops one and starts the next at once, without a service
    /// manager, finds it closing its files. One that still waits for its statements takes longer, and then the start is refused.
    static let databaseLockMilliseconds: Int64 = 3_000
    /// How long another file may take to come into the place of one that was moved away or emptied: who restores a backup calls one
    /// program after the other. The process ends then, and waits for nothing else.
    static let replacementMilliseconds: Int64 = 1_000
    /// How often a sync of what an earlier process has left is tried. After one that fails, what is not on the disk is forgotten, and the
    /// next one is about the rest; a disk that takes none of them is not served from.
    static let settlingSyncs = 3
    /// Of a value in the copy that a backup checks: as long as any that SQLite stores, or it could not be read there.
    static let checkedValueBytes = 1 << 30
    /// Of the list of all locks of the machine, some 60 bytes each: who has this database locked is for a message, and not worth more.
    static let lockListBytes = 1 << 20
    /// Of what SQLite said of a VACUUM that failed, in the file that remembers it, which is read as a whole.
    static let reasonCharacters = 400
    /// Of symbolic links that lead from one to the next: SQLITE_MAX_SYMLINK of SQLite.
    static let symbolicLinks = 100
    /// How often, a millisecond apart, a process is looked at that seems to have the database open without its -wal: each
    /// look takes less than one, and it would have to close the database, and open it again, in every one of them.
    static let outsiderLooks = 10
    /// How long a full disk may take to get room for what a deleted -wal held. Less than the unit's watchdog gives the
    /// writer, which would end the process, and with a stop's other waits less than the 90 s of a service manager's
    /// patience.
    static let rescueRoomMilliseconds: Int64 = 20_000
    /// Between two looks while it is waited for that.
    static let rescueRoomLookMilliseconds = 10
    /// Between two looks at what nothing tells of: another process's lock, a file that somebody puts into its place, readers that are
    /// given back. Most of it takes no longer, and a look takes microseconds.
    package static let lookMilliseconds = 1
    /// How often idle snapshots are looked at while statements may go on.
    static let gateLookMilliseconds: Int64 = 100
    /// How long statements told to end may take for it. The progress handler hears of it within a millisecond; what
    /// takes longer waits for the disk.
    package var gateGraceMilliseconds: Int64 = 5_000
    /// How long those are waited for, whose snapshots were ended, before it is looked for others with an idle one.
    static let idleReadersMilliseconds: Int64 = 2
    /// When VACUUM runs.
    package var maintenance = MaintenanceSchedule.Configuration()
    /// VACUUM is preceded by ANALYZE also where that adds a table, sqlite_stat1, to the schema.
    package var analyzesAlways = false

    /// All as above.
    package init() {}

    func checkpointPolicy(pageBytes: Int) -> CheckpointPolicy {
        let frames = max(4, walLimitBytes / (pageBytes + WALFile.frameHeaderBytes))
        return CheckpointPolicy(
            softFrames: min(max(1, checkpointFrames), frames / 4), hardFrames: frames / 2, emergencyFrames: frames * 3 / 4)
    }
}

extension PoolLimits {
    /// When a commit is visible to others, and when it is answered.
    package enum Durability: String, CaseIterable, Sendable {
        /// Visible when it is on the disk, and answered then.
        case full
        /// Answered when it is on the disk, visible up to one sync earlier: the writer goes on while the disk works.
        case pipelined
        /// Answered before the sync: survives a crash of the process, not of the machine.
        case normal
    }
}
