import SQLite
import Synchronization

/// `synchronous = pipelined`: a commit is visible before it is on the disk, and answered when it is.
///
/// SQLite commits without a sync of its own (synchronous = NORMAL), the writer goes on to the next transaction, and the
/// thread that has to answer brings the WAL onto the disk first. One sync serves every commit made before it began.
///
/// "WAL mode is safe from corruption with synchronous=NORMAL" (https://www.sqlite.org/pragma.html#pragma_synchronous);
/// what a crash of the machine can take is a suffix of commits nobody was told of.
final class PipelinedSync: Sendable {
    private let file: WALFile
    private let committed = Atomic<Int>(0)
    private let synced = Atomic<Int>(0)
    /// A sync has failed: what it was for may be lost although a later one succeeds, so nothing is ever durable again.
    private let hasFailed = Atomic<Bool>(false)

    init(file: WALFile) { self.file = file }

    /// A commit has been made; returns its number. Call it before the writer is released.
    func didCommit() -> Int { committed.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue }

    /// Returns once this commit is on the disk.
    func waitUntilDurable(_ commit: Int) throws(SQLiteError) {
        guard !hasFailed.load(ordering: .sequentiallyConsistent) else { throw Self.failure }
        guard synced.load(ordering: .sequentiallyConsistent) < commit else { return }
        let reached = committed.load(ordering: .sequentiallyConsistent)
        do { try file.sync() } catch {
            hasFailed.store(true, ordering: .sequentiallyConsistent)
            throw error
        }
        guard !hasFailed.load(ordering: .sequentiallyConsistent) else { throw Self.failure }
        synced.max(reached, ordering: .sequentiallyConsistent)
    }

    /// SQLITE_IOERR_FSYNC.
    private static let failure = SQLiteError(extendedCode: 1034, message: "an earlier sync of the WAL has failed")
}
