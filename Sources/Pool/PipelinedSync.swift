import POSIX
import SQLite
import Scheduling
import Synchronization

/// `synchronous = pipelined`: a commit is visible before it is on the disk, and answered when it is.
///
/// SQLite commits without a sync of its own (synchronous = NORMAL), the writer goes on to the next transaction, and the
/// members wait to be answered until the WAL is on the disk. One sync serves every commit made before it began, and there is one
/// at a time: one thread syncs again and again, and answers, for as long as anybody waits. A thread that may not leave its
/// own commit to that one (`waitUntilDurable`) waits for the sync that goes on and then begins the next.
///
/// "WAL mode is safe from corruption with synchronous=NORMAL" (https://www.sqlite.org/pragma.html#pragma_synchronous);
/// what a crash of the machine can take is a suffix of commits nobody was told of.
///
/// `@unchecked Sendable`: everything mutable is touched with the mutex held, which is never kept across the sync. `files`
/// belongs to the thread that has set `isSyncing`.
final class PipelinedSync: @unchecked Sendable {
    private let file: WALFile
    /// Only for whoever has set `isSyncing`: to sync, or to checkpoint.
    private var files: OpenFiles
    private let work: ThreadAtWork
    private let mutex = PthreadMutex()
    /// A sync or a checkpoint is over.
    private let ended = PthreadCondition()
    private var committed = 0
    private var synced = 0
    private var isSyncing = false
    /// When the sync, or the checkpoint, that is going on began.
    private var syncBegan = Instant(nanoseconds: 0)
    /// A sync has failed: what it was for may be lost although a later one succeeds, so nothing more is durable here.
    private var failure: SQLiteError?
    /// What is on the disk will not be found again, so nothing more is durable. All the same a checkpoint may come and save it.
    private var loss: SQLiteError?
    /// Commits whose clients are answered once they are on the disk. Not in their order: a thread may be late to say that its
    /// commit waits.
    private var unanswered: [(commit: Int, members: [any GroupMember])] = []
    /// A thread goes on syncing until there are none of these: see `answerWhenDurable`.
    private var hasSyncer = false
    /// What a sync takes: a moving mean over about eight. Only who syncs stores it.
    let meanNanoseconds = Atomic<Int64>(0)

    /// How often the writer had been opened anew when it was opened this time.
    let recoveries: Int

    init(file: WALFile, files: OpenFiles, work: ThreadAtWork, recoveries: Int) {
        self.file = file
        self.files = files
        self.work = work
        self.recoveries = recoveries
    }

    /// A transaction has ended; returns the number of the last commit that has written anything. Call it before the writer is released.
    ///
    /// - Parameter hasWritten: that is this one. Otherwise nothing new is to be synced; but what its client has seen may be on its way.
    func didCommit(hasWritten: Bool) -> Int {
        mutex.lock()
        defer { mutex.unlock() }
        if hasWritten { committed += 1 }
        return committed
    }

    /// Clients whose commit is not on the disk yet.
    var unansweredCount: Int {
        mutex.lock()
        defer { mutex.unlock() }
        return unanswered.reduce(0) { $0 + $1.members.count }
    }

    /// Returns true once this commit is on the disk, and false when one sync of another thread's still goes on after `patience`, counted
    /// from its beginning or from now. One that follows it, and may begin before this thread has noticed, is waited for as long.
    func waitUntilDurable(_ commit: Int, patienceNanoseconds patience: Int64) throws(SQLiteError) -> Bool {
        let came = MonotonicClock.now
        mutex.lock()
        defer { mutex.unlock() }
        while synced < commit {
            if let cause { throw cause }
            guard isSyncing else {
                syncOnce()
                continue
            }
            let limit = max(came, syncBegan).advanced(byNanoseconds: patience)
            guard MonotonicClock.now < limit else { return false }
            ended.wait(mutex, untilNanoseconds: limit.nanoseconds)
        }
        return true
    }

    /// Clients to be answered when this commit is on the disk. True: nobody sees to it yet, and the caller has to, with
    /// `syncUnanswered`. So no thread stands and waits for the disk but the one that syncs.
    func answerWhenDurable(_ commit: Int, _ members: [any GroupMember]) -> Bool {
        mutex.lock()
        defer { mutex.unlock() }
        unanswered.append((commit, members))
        defer { hasSyncer = true }
        return !hasSyncer
    }

    /// Who may be answered now, and how.
    struct Synced {
        var durable: [any GroupMember] = []
        var failed: [any GroupMember] = []
        var error: SQLiteError?
        /// More were committed meanwhile: the caller has to sync again.
        var goesOn = false
    }

    /// Those whose commit is on the disk already; when there are none, all who have committed by now, after a sync.
    func syncUnanswered() -> Synced {
        mutex.lock()
        defer { mutex.unlock() }
        // Those whom somebody else's sync has served do not wait for the next one.
        while isSyncing, cause == nil, !isAnyDurable { ended.wait(mutex) }
        if cause == nil, !isAnyDurable, !unanswered.isEmpty { syncOnce() }
        var result = Synced(error: cause)
        var left: [(commit: Int, members: [any GroupMember])] = []
        for (commit, members) in unanswered {
            if commit <= synced {
                result.durable += members
            } else if cause != nil {
                result.failed += members
            } else {
                left.append((commit, members))
            }
        }
        unanswered = left
        hasSyncer = !unanswered.isEmpty
        result.goesOn = hasSyncer
        return result
    }

    /// Why no further commit becomes durable here.
    var error: SQLiteError? {
        mutex.lock()
        defer { mutex.unlock() }
        return cause
    }

    /// Why no further commit becomes durable. With the mutex held.
    private var cause: SQLiteError? { failure ?? loss }

    private var isAnyDurable: Bool { unanswered.contains { $0.commit <= synced } }

    /// Called with the mutex held, and returns with it held.
    private func syncOnce() {
        isSyncing = true
        syncBegan = MonotonicClock.now
        let reached = committed
        mutex.unlock()
        work.begins()
        let began = MonotonicClock.now
        var failed: SQLiteError?
        do { try file.sync() } catch { failed = error }
        let now = MonotonicClock.now
        let taken = now.nanoseconds &- began.nanoseconds
        let mean = meanNanoseconds.load(ordering: .relaxed)
        meanNanoseconds.store(mean == 0 ? taken : (mean &* 7 &+ taken) / 8, ordering: .relaxed)
        let lost = files.problem(now: now)
        work.ends()
        mutex.lock()
        isSyncing = false
        if let failed { failure = failure ?? failed }
        if let lost { loss = loss ?? lost }
        if cause == nil { synced = reached }
        ended.broadcast()
    }

    /// Runs a checkpoint in the turn of a sync, with the WAL on the disk before it.
    ///
    /// A checkpoint syncs the same descriptor, and a descriptor is told of a failed write-back once. Side by side, the
    /// checkpoint would take the error and the waiting commit would be acknowledged, or the other way round.
    func exclusively<Result>(_ checkpoint: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
        mutex.lock()
        defer { mutex.unlock() }
        while isSyncing { ended.wait(mutex) }
        syncOnce()
        if let failure { throw failure }
        isSyncing = true
        syncBegan = MonotonicClock.now
        mutex.unlock()
        var outcome: Swift.Result<Result, SQLiteError>
        if let problem = files.problemOfCopying {
            outcome = .failure(problem)
        } else {
            files.willBeCheckpointed()
            do { outcome = .success(try checkpoint()) } catch { outcome = .failure(error) }
            files.wereCheckpointed()
        }
        // How long the file is now is what it must not be shorter than. A loss is the next sync's to find.
        _ = files.problem()
        mutex.lock()
        if case .failure(let error) = outcome, error.isInputOutput { failure = failure ?? error }
        isSyncing = false
        ended.broadcast()
        return try outcome.get()
    }

    /// The files as they were last looked at.
    var knownFiles: OpenFiles {
        mutex.lock()
        defer { mutex.unlock() }
        while isSyncing { ended.wait(mutex) }
        return files
    }

    /// All that was committed is on the disk, or never will be.
    var hasNothingToSync: Bool {
        mutex.lock()
        defer { mutex.unlock() }
        return synced == committed || cause != nil
    }

    /// A sync or a checkpoint goes on, which may take as long as the disk likes.
    var isAtWork: Bool {
        mutex.lock()
        defer { mutex.unlock() }
        return isSyncing
    }

    /// Returns when no thread uses the file any more; whoever still waits is told `error`. Before the connection closes.
    func close(_ error: SQLiteError) {
        mutex.lock()
        defer { mutex.unlock() }
        failure = failure ?? error
        while isSyncing { ended.wait(mutex) }
        ended.broadcast()
    }
}

/// A commit that is not on the disk yet.
package struct UnsyncedCommit: Sendable {
    let sync: PipelinedSync
    let number: Int

    /// Returns once the commit is on the disk; the calling thread should have said that it will be long.
    package func waitUntilDurable() throws(SQLiteError) {
        while try !sync.waitUntilDurable(number, patienceNanoseconds: .max) {}
    }

    /// Returns true once the commit is on the disk. A sync of another thread is waited for only while it takes no more than twice as
    /// long as others did: one that hangs is not for the writer to wait for, whose thread would seem to hang, too.
    ///
    /// - Parameter hasFailed: the writer has, and is opened anew once nobody syncs any more: then there is nothing to hurry for.
    package func waitUntilDurableKeepingTheWriter(hasFailed: Bool) throws(SQLiteError) -> Bool {
        guard !hasFailed else {
            try waitUntilDurable()
            return true
        }
        let patience = min(max(0, sync.meanNanoseconds.load(ordering: .relaxed)), PoolLimits.longestKeptSyncNanoseconds) &* 2
        return try sync.waitUntilDurable(number, patienceNanoseconds: patience)
    }

    /// These are to be answered when it is. True: the calling thread has to see to it, with `Pool.syncUnanswered`.
    package func answerWhenDurable(_ members: [any GroupMember]) -> Bool { sync.answerWhenDurable(number, members) }
}
