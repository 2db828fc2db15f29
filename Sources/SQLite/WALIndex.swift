import CSQLite

/// The header of a database's WAL index, as one connection has it mapped.
///
/// Format: https://www.sqlite.org/walformat.html section 2. Every commit, of any process, changes it: so comparing 48
/// bytes tells whether a snapshot is still the newest, without the two file locks a new read transaction costs.
public struct WALIndex {
    /// Points into the mapping that belongs to the connection; whoever holds a `WALIndex` holds that connection too.
    private let region: UnsafeRawPointer

    init?(connection: OpaquePointer) {
        guard let region = walpool_wal_index(connection) else { return nil }
        self.region = UnsafeRawPointer(region)
    }

    /// A copy of the header.
    ///
    /// Take it *before* a read transaction begins: the snapshot is then at least as new as the copy, and an equal
    /// header later means that no commit came between.
    public struct Header: Equatable, Sendable {
        var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)

        /// Equal to no header that SQLite has written.
        public init() {}

        /// So long the -wal is at least: frames are written before they are named.
        public var leastWALBytes: UInt64 {
            let end = WALIndex.End(self, copiedFrames: 0)
            return end.frames > 0 ? UInt64(WALHistory.position(end.frames, end)) : 0
        }

        /// So long is the database's file when all frames were copied: "Size of database in pages", at 20
        /// (https://www.sqlite.org/walformat.html#the_wal_index_header).
        public var databaseBytes: UInt64 {
            let pages = withUnsafeBytes(of: words) { $0.load(fromByteOffset: 20, as: UInt32.self) }
            return UInt64(pages) * UInt64(WALIndex.End(self, copiedFrames: 0).pageBytes)
        }

        /// It was not copied in the middle of being written: "aCksum", at 40, is of what comes before it
        /// (https://www.sqlite.org/walformat.html#the_wal_index_header), in the words of this machine.
        var isWhole: Bool {
            withUnsafeBytes(of: words) { header in
                var checksum = WALChecksum()
                checksum.add(UnsafeRawBufferPointer(rebasing: header[..<40]), isBigEndian: UInt32(1).bigEndian == 1)
                return checksum.first == header.load(fromByteOffset: 40, as: UInt32.self)
                    && checksum.second == header.load(fromByteOffset: 44, as: UInt32.self)
            }
        }

        /// All 48 bytes are compared, the salts and the checksums too.
        public static func == (a: Header, b: Header) -> Bool { a.words == b.words }
    }

    /// The header as it is now, which another process may be writing.
    @inline(__always)
    public func copyHeader() -> Header {
        var header = Header()
        withUnsafeMutableBytes(of: &header.words) { walpool_wal_header_copy(region, $0.baseAddress) }
        return header
    }

    /// Whether the header is still the same.
    @inline(__always)
    public func matches(_ header: borrowing Header) -> Bool {
        withUnsafeBytes(of: header.words) { walpool_wal_header_equals(region, $0.baseAddress) != 0 }
    }

    /// What tells that somebody has checkpointed: another process's checkpoint leaves nothing else behind.
    public struct CheckpointMarks: Equatable, Sendable {
        private var salts: UInt64 = 0
        private var done: UInt32 = 0
        private var attempted: UInt32 = 0
        /// Somebody copies now, or has given it up in the middle; or the index was made anew since, which leaves the same.
        public var isUnderWay: Bool { attempted > done }
        /// The same checkpoint, or none, was the last that was begun.
        public func hasSameAttempt(as other: CheckpointMarks) -> Bool { attempted == other.attempted }

        fileprivate init(_ region: UnsafeRawPointer) { walpool_wal_checkpoint_marks(region, &salts, &done, &attempted) }
    }

    /// Which checkpoint was begun last, and whether it has ended.
    public var checkpointMarks: CheckpointMarks { CheckpointMarks(region) }

    /// What the index says of the last commit. Only for whoever has the write lock: it changes with every commit.
    struct End: Equatable {
        /// It was never written, or was made to say nothing.
        var isEmpty: Bool
        var frames: Int
        var copiedFrames: Int
        var pageBytes: Int
        /// In what order the bytes of a word of the checksum are, as in "0x377f0683".
        var isBigEndian: Bool
        var checksum: WALChecksum
        /// As they are in the file.
        var salts: UInt64

        init(_ header: Header, copiedFrames: Int) {
            self = withUnsafeBytes(of: header.words) { header in
                // "0x0001" is 65536, in 16 bits.
                let page = Int(header.load(fromByteOffset: 14, as: UInt16.self))
                return End(
                    isEmpty: header[12] == 0, frames: Int(header.load(fromByteOffset: 16, as: UInt32.self)), copiedFrames: copiedFrames,
                    pageBytes: page == 1 ? 65_536 : page, isBigEndian: header[13] != 0,
                    checksum: WALChecksum(
                        first: header.load(fromByteOffset: 24, as: UInt32.self), second: header.load(fromByteOffset: 28, as: UInt32.self)),
                    salts: header.load(fromByteOffset: 32, as: UInt64.self))
            }
        }

        private init(
            isEmpty: Bool, frames: Int, copiedFrames: Int, pageBytes: Int, isBigEndian: Bool, checksum: WALChecksum, salts: UInt64
        ) {
            (self.isEmpty, self.frames, self.copiedFrames, self.pageBytes) = (isEmpty, frames, copiedFrames, pageBytes)
            (self.isBigEndian, self.checksum, self.salts) = (isBigEndian, checksum, salts)
        }
    }

    var end: End {
        let copiedFrames = backfilledFrames
        return End(copyHeader(), copiedFrames: copiedFrames)
    }

    /// The same for whoever has not the write lock; nil: somebody writes it just now.
    var endBesideWriter: End? {
        let copiedFrames = backfilledFrames
        let header = copyHeader()
        return header.isWhole ? End(header, copiedFrames: copiedFrames) : nil
    }

    /// Frames in the WAL (mxFrame) and how many of them a checkpoint has copied back (nBackfill).
    public var frames: Int { Int(walpool_wal_frames(region)) }
    /// They count once they are on the disk. As many as `frames`: the WAL has nothing that the database's file has not.
    public var backfilledFrames: Int { Int(walpool_wal_backfilled(region)) }
}

extension Connection {
    /// Nobody writes, checkpoints or makes the index anew meanwhile. nil: another connection does so just now.
    func withWALLocked<Result>(_ work: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result? {
        guard let file = walpool_shared_file(handle), walpool_wal_index_lock(file) == SQLITE_OK else { return nil }
        defer { walpool_wal_index_unlock(file) }
        return try work()
    }

    /// Nobody checkpoints or makes the index anew meanwhile, but somebody may write. nil: another connection does so just now.
    func withoutCheckpoints<Result>(_ work: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result? {
        guard let file = walpool_shared_file(handle), walpool_wal_checkpoint_lock(file) == SQLITE_OK else { return nil }
        defer { walpool_wal_checkpoint_unlock(file) }
        return try work()
    }

    /// Has everybody who has the database open read its -wal anew, for the index may name frames that the disk has not got.
    ///
    /// It is kept in memory for as long as any process has the database open, and SQLite compares frames with their checksums only
    /// when it makes an index. This connection must not be in a transaction.
    ///
    /// - Parameter whileNobodyWrites: done before, and nobody writes or checkpoints meanwhile.
    /// - Returns: false when another connection writes or checkpoints just now; nothing has happened then.
    public func forgetWALIndex<Failure: Error>(_ whileNobodyWrites: () throws(Failure) -> Void) throws(Failure) -> Bool {
        guard let file = walpool_shared_file(handle), walpool_wal_index_lock(file) == SQLITE_OK else { return false }
        do { try whileNobodyWrites() } catch {
            walpool_wal_index_unlock(file)
            throw error
        }
        walpool_wal_index_clear_and_unlock(file)
        return true
    }
}
