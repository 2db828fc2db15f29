import Journal
import Logging
import SQLite
import Scheduling
import Synchronization

/// Whether the files are still where they were, also while nobody writes.
///
/// A commit looks by itself (`OpenFiles`). But readers that are open go on with a file that was replaced or deleted, and
/// whoever restores a backup under the daemon would be answered from the old one until somebody writes.
extension Pool {
    /// A reader has met something that a file of another name, or none, would explain.
    package func suspectFiles() {
        filesLook.store(0, ordering: .sequentiallyConsistent)
        announce(MonotonicClock.now)
    }

    /// A connection that has read the schema says that the database has another text encoding since. Only an outsider's restore does
    /// that, and SQLite's connections never get over it: they are opened anew.
    package func encodingHasChanged() {
        hasForeignEncoding.store(true, ordering: .sequentiallyConsistent)
        suspectFiles()
    }

    /// When to call `lookAtFiles`.
    package var nextFilesLook: Instant { Instant(nanoseconds: filesLook.load(ordering: .sequentiallyConsistent)) }

    /// Returns the recovery, if something is wrong and the writer is free for it; otherwise it has the writer next. It saves what can
    /// be saved, and ends the process if that is not all.
    package func lookAtFiles(now: Instant) -> Resumption? {
        let next = now.advanced(byMilliseconds: PoolLimits.filesLookMilliseconds)
        filesLook.store(next.nanoseconds, ordering: .sequentiallyConsistent)
        defer { announce(next) }
        let recoveries = state.withLock { $0.recoveries }
        guard files.problem != nil || hasForeignEncoding.load(ordering: .sequentiallyConsistent) else {
            if let obstacle = files.obstacle {
                log.warning(
                    .ioError, "the files of the database cannot be looked at, so it would not be noticed if they were lost",
                    metadata: ["reason": "\(obstacle)"])
            }
            return lookIntoFiles().next
        }
        return state.withLock { state in
            // Those that were looked at may be others by now, and those of a recovery are its own matter.
            guard state.recoveries == recoveries, state.queuedJobs.insert(.recovery).inserted else { return nil }
            return state.resumption(state.writerQueue.requestFirst(WriterJob.recovery.client, now: now))
        }
    }

    /// Whether somebody has written into them, as long as nobody has the writer: who has it looks by itself.
    ///
    /// - Returns: what is wrong, if anything is, and who has the writer next: the recovery then.
    package func lookIntoFiles() -> (problem: SQLiteError?, next: Resumption?) {
        guard borrowWriter() else { return (nil, nil) }
        let problem = writer.knownFiles.problemOfCopying
        if let problem { writer.note(problem) }
        return (problem, releaseWriter())
    }
}
