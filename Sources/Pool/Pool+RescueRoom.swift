import Logging
import Scheduling

/// Room on the disk for what a deleted -wal held.
extension Pool {
    /// The -wal may have been deleted for its room on a full disk, and what it held may make the database's file longer. A
    /// copy that stops half way would leave the file damaged, so it does not begin before there is room; until then this
    /// process has what nobody else has.
    ///
    /// - Returns: why nothing was copied, or nil.
    func waitForRoomToRescue() -> String? {
        let end = MonotonicClock.now.advanced(byMilliseconds: PoolLimits.rescueRoomMilliseconds)
        var isTold = false
        let missing = MonotonicClock.pollUntilGone(by: end, everyMilliseconds: PoolLimits.rescueRoomLookMilliseconds) { () -> Int64? in
            guard let missing = roomMissingToRescue else { return nil }
            if !isTold {
                log.critical(
                    .ioError, "\(path)-wal was deleted, and the disk has no room for what was committed in it",
                    metadata: ["missing": "\(missing)", "hint": "make room at once: it ends with this process, which waits for a while"])
                isTold = true
            }
            return missing
        }
        guard missing != nil else { return nil }
        return
            "\(path)-wal was deleted while it was served, and the disk has no room for what was committed in it: "
            + "nothing was copied, and what was committed since the last checkpoint is lost"
    }

    /// In bytes; nil: there is enough, as far as can be told.
    private var roomMissingToRescue: Int64? {
        guard let file = writer.places.databaseInPlace, let length = writer.walIndex?.copyHeader().databaseBytes, length > file.bytes,
            let (_, free) = DiskSpace.available(besideFile: path)
        else { return nil }
        let needed = Int64(clamping: length - file.bytes)
        return needed > free ? needed - free : nil
    }
}
