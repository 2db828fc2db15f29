import CSQLite

/// The -wal file as a connection has it open, to be brought onto the disk from any thread.
///
/// `@unchecked Sendable`: the file object lives as long as its connection, and its own xSync calls fdatasync(2) on the descriptor
/// (https://www.sqlite.org/c3ref/io_methods.html), which may run beside the writer's own writes; of a new file once fsync(2) on its
/// directory, too. What it notes in the object is that this was done, and the last errno, which only tells of what an error is.
public struct WALFile: @unchecked Sendable {
    /// Of what stands before each page in a WAL: "a 24-byte frame-header followed by a page-size bytes of page data"
    /// (https://www.sqlite.org/walformat.html section 1).
    public static let frameHeaderBytes = 24

    let file: UnsafeMutablePointer<sqlite3_file>
    /// What it was opened with: `CommitFrames` puts others in their place, which are the writer's alone.
    private let methods: UnsafePointer<sqlite3_io_methods>

    /// nil for a database that is not in WAL mode.
    init?(connection: OpaquePointer) {
        guard let file = walpool_wal_file(connection), let methods = file.pointee.pMethods else { return nil }
        self.file = file
        self.methods = methods
    }

    /// Brings what was written to it onto the disk: fdatasync(2). May be called on any thread while the connection is open.
    public func sync() throws(SQLiteError) {
        let code = walpool_wal_sync(methods, file)
        guard code == SQLITE_OK else {
            throw SQLiteError(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
        }
    }

    /// How long it is; nil when that cannot be told.
    public var bytes: Int64? {
        let bytes = walpool_wal_bytes(methods, file)
        return bytes < 0 ? nil : bytes
    }

    /// Writes zeros behind its end until it is so long. Only for whoever has the write lock, and with it the right to append.
    ///
    /// - Parameter length: what `bytes` has just said.
    public func appendZeros(from length: Int64, upTo end: Int64) throws(SQLiteError) {
        var position = length
        while position < end {
            let count = min(Int64(Self.zeros.count), end - position)
            let code = Self.zeros.withUnsafeBytes { walpool_wal_write(methods, file, $0.baseAddress, Int32(count), position) }
            guard code == SQLITE_OK else {
                throw SQLiteError(extendedCode: code, message: String(cString: sqlite3_errstr(code)))
            }
            position += count
        }
    }

    /// False: it is shorter, or cannot be read.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Bool { resultOfReading(buffer, at: position) == SQLITE_OK }

    /// SQLITE_IOERR_SHORT_READ: it is shorter.
    func resultOfReading(_ buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Int32 {
        walpool_wal_read(methods, file, buffer.baseAddress, Int32(clamping: buffer.count), position)
    }

    /// Only for whoever has the write lock, and not into what was committed.
    ///
    /// - Returns: false when that has failed.
    @discardableResult
    public func truncate(to bytes: Int64) -> Bool { walpool_wal_truncate(methods, file, bytes) == SQLITE_OK }

    /// Whether nothing but zeros stands there; false also when it cannot be read.
    public func isZero(from start: Int64, upTo end: Int64) -> Bool {
        var buffer = [UInt8](repeating: 0, count: Self.zeros.count)
        var position = start
        while position < end {
            let count = Int(min(Int64(buffer.count), end - position))
            let isRead = buffer.withUnsafeMutableBytes { resultOfReading(.init(rebasing: $0[..<count]), at: position) == SQLITE_OK }
            guard isRead, buffer[..<count].allSatisfy({ $0 == 0 }) else { return false }
            position += Int64(count)
        }
        return true
    }

    private static let zeros = [UInt8](repeating: 0, count: 64 << 10)
}
