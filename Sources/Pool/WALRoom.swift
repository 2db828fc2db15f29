import SQLite

/// Room ahead in the -wal, so that commits write into a part of the file that is there already.
///
/// A commit that makes the file longer has more to bring onto the disk than its frames: "fdatasync() … does not flush modified
/// metadata unless that metadata is needed in order to allow a subsequent data retrieval to be correctly handled … a change
/// to the file size … would require a metadata flush" (https://man7.org/linux/man-pages/man2/fdatasync.2.html). On ext4
/// without a journal those are two writes more, one after the other; with one, a commit of the journal. From the first
/// checkpoint on SQLite writes over what is there, so this is for the WAL of a daemon that has just started, or that was
/// emptied. PostgreSQL does the same with its segments (`wal_init_zero`).
///
/// Zeros are no frame. "A frame is considered valid if and only if … The salt-1 and salt-2 values in the frame-header match salt
/// values in the wal-header" and the checksum is right (https://www.sqlite.org/walformat.html section 4), and no frame is for
/// page 0.
struct WALRoom {
    private let file: WALFile
    private let frameBytes: Int64
    /// Nothing is to be done before the WAL reaches this.
    private var end: Int64 = 0
    private var lastFrames = 0
    /// What stands behind the last commit at the file's end is known to be no commit: an earlier process may have left one there that was cut
    /// short, which zeros behind it could make whole.
    private var isEndKnown = false

    /// So much at once: a quarter of a mebibyte is on the disk in a millisecond or two, together with the next commit.
    static let stepBytes: Int64 = 256 << 10
    /// So much is always ahead: a commit is seldom larger.
    static let aheadBytes: Int64 = 64 << 10
    /// "The WAL header is 32 bytes in size".
    private static let headerBytes: Int64 = 32
    /// As many frames as the first 32 KiB of the -shm file can index (HASHTABLE_NPAGE_ONE in SQLite's wal.c: 4096 less its header):
    /// on a full disk a frame that fits into the zeros must not be what makes that file longer, because its failure is an I/O
    /// error and not a full disk.
    static let mostFrames = 4_062

    init(file: WALFile, pageBytes: Int) {
        self.file = file
        frameBytes = Int64(pageBytes + WALFile.frameHeaderBytes)
    }

    /// Only for whoever has the write lock.
    ///
    /// - Parameters:
    ///   - frames: that the WAL has. None: the file is empty or begins anew, and what SQLite writes first is its header, for a
    ///     -wal of zeros alone is one that "exists" to whoever opens the database.
    ///   - limit: so many frames make a checkpoint due, and what comes behind is seldom used again.
    @inline(__always)
    mutating func make(behind frames: Int, upTo limit: @autoclosure () -> Int) {
        // It was begun anew, by whomever, and a checkpoint may have cut it off.
        if frames < lastFrames { end = 0 }
        lastFrames = frames
        if frames > 0, bytes(frames) &+ Self.aheadBytes > end { extend(bytes(frames), upTo: bytes(min(limit(), Self.mostFrames))) }
    }

    mutating func isCut() { end = 0 }

    /// What a -wal of so many frames takes.
    static func bytes(_ frames: Int, frameBytes: Int64) -> Int64 { headerBytes &+ Int64(frames) &* frameBytes }

    private func bytes(_ frames: Int) -> Int64 { Self.bytes(frames, frameBytes: frameBytes) }

    private mutating func extend(_ used: Int64, upTo limit: Int64) {
        guard let length = file.bytes else { return }
        end = length
        let wanted = min(used + Self.stepBytes, limit)
        if used + Self.aheadBytes > length, wanted > length {
            // Otherwise commits write over it first.
            guard isEndKnown || file.isZero(from: used, upTo: length) else { return }
            isEndKnown = true
            // Where there is no room, or no disk, the commit itself will say so, if it needs any.
            try? file.appendZeros(from: length, upTo: wanted)
            end = wanted
        }
        if end >= limit { end = .max }
    }
}
