import CLinux
import Glibc
import POSIX
import SQLite

/// The files while nobody has them open: what was there before is compared with what is found afterwards.
extension DatabaseFiles {
    /// What there was before nobody had the files open.
    struct Before: Sendable {
        /// Something was committed that is not in the database.
        let hadFrames: Bool
        let database: walpool_file?
        /// The -wal as it was then, which somebody may delete while nobody has it open.
        let keptWAL: KeptWAL?
    }

    /// With what there is now: they are about to be closed and opened again.
    ///
    /// - Parameters:
    ///   - hadFrames: something was committed that is not in the database. The -wal may have gone since.
    ///   - wal: it is kept, unless the database may be written into without a trace of that, so that what is in the -wal may be older.
    func beforeClosing(hadFrames: Bool, keeping wal: KeptWAL? = nil) -> DatabaseFiles {
        let database = databaseInPlace
        let now = UInt64(clamping: SystemClock.nanoseconds(CLOCK_REALTIME))
        let isChangeTold = database.map { Self.wouldTellOfChange($0.modified, now: now) } ?? false
        var files = self
        files.before = Before(hadFrames: hadFrames || hasFrames, database: database, keptWAL: isChangeTold ? wal : nil)
        return files
    }

    /// Whoever writes into the file from now on gives it another time. "The kernel has always used coarse time values to
    /// stamp inodes. This value is updated every jiffy, so any change that happens within that jiffy will end up with the
    /// same timestamp" (https://docs.kernel.org/filesystems/multigrain-ts.html). And where a file system keeps whole
    /// seconds, so does any within that one.
    ///
    /// - Parameters:
    ///   - modified: the file's time of modification, in nanoseconds since 1970.
    ///   - now: the same clock's time, in the same unit.
    static func wouldTellOfChange(_ modified: UInt64, now: UInt64) -> Bool {
        let granularity = modified % 1_000_000_000 == 0 ? coarsestNanoseconds : longestTickNanoseconds
        return now > modified && now - modified > granularity
    }

    /// Twice as long as the longest that a kernel is built with (CONFIG_HZ_100).
    private static let longestTickNanoseconds: UInt64 = 20_000_000
    /// ext3 and ext4 with small inodes have no more than seconds, FAT every other one.
    private static let coarsestNanoseconds: UInt64 = 2_000_000_000

    /// While nobody had it open the -wal was deleted, emptied or replaced, with commits that may be nowhere else. Another
    /// process that was the last to close the database may have copied them; then it has written into that.
    func haveLostWAL(since earlier: DatabaseFiles) -> Bool {
        guard let before = earlier.before, before.hadFrames, !hasFrames || !haveSameWAL(as: earlier), let then = before.database else {
            return false
        }
        return databaseInPlace.map { $0.modified == then.modified && $0.bytes == then.bytes } ?? false
    }
}
