import CSQLite

/// The database's file as a connection has it open, to be read beside SQLite.
///
/// `@unchecked Sendable`: the file object lives as long as its connection. Where nothing of it is mapped, its xRead only calls pread(2),
/// on any thread.
public struct DatabaseFile: @unchecked Sendable {
    private let file: UnsafeMutablePointer<sqlite3_file>

    /// nil for a database without a WAL index.
    init?(connection: OpaquePointer) {
        guard let file = walpool_shared_file(connection) else { return nil }
        self.file = file
    }

    /// nil: it is shorter, or cannot be read.
    func bytes(_ count: Int, at position: Int64) -> [UInt8]? {
        var bytes: [UInt8] = Array(repeating: 0, count: count)
        let code = bytes.withUnsafeMutableBytes { walpool_database_read(file, $0.baseAddress, Int32(clamping: $0.count), position) }
        return code == SQLITE_OK ? bytes : nil
    }
}

/// Some bytes of the database's file, to tell whether anything but a checkpoint has written into it (`cp backup.db app.db`).
///
/// The header is another one in most backups. But "the change counter might not be incremented on each transaction in WAL
/// mode" (https://www.sqlite.org/fileformat2.html#file_change_counter), and a copy of the file itself (`cp app.db
/// backup.db`) may have the same. So there is a page, too, that the last commit before the last checkpoint has changed: a
/// copy from before that has another, and one from after it does no harm.
public struct DatabaseSample: Sendable {
    /// A page of this number, and how long it is.
    public struct Page: Equatable, Sendable {
        var number: UInt32
        var bytes: Int
    }

    private struct Part {
        var page: UInt32
        var position: Int64
        var bytes: [UInt8]
    }

    private var parts: [Part] = []
    /// At the beginning of page 1: https://www.sqlite.org/fileformat2.html#the_database_header
    private static let header = Page(number: 1, bytes: 100)

    /// - Parameter page: one that was changed late.
    public init(of file: DatabaseFile, and page: Page?) {
        for page in [Self.header] + (page.map { [$0] } ?? []) {
            let position = Int64(page.number - 1) * Int64(page.bytes)
            guard let bytes = file.bytes(page.bytes, at: position) else { continue }
            parts.append(Part(page: page.number, position: position, bytes: bytes))
        }
    }

    /// Whether other bytes stand there now, and not because a checkpoint has put them there: those are in the -wal, too.
    /// What is cut off is not another.
    public func isWrittenOver(in file: DatabaseFile, besides wal: WALFile, _ index: WALIndex) -> Bool {
        let end = index.end
        return parts.contains { part in
            guard let bytes = file.bytes(part.bytes.count, at: part.position), bytes != part.bytes else { return false }
            return !wal.hasFrame(ofPage: part.page, beginningWith: bytes, end)
        }
    }
}

extension WALFile {
    /// The page that the last commit in it has written last; nil: there is none that the index names.
    public func lastPage(of index: WALIndex) -> DatabaseSample.Page? {
        let end = index.end
        guard !end.isEmpty, end.frames > 0, end.pageBytes >= 512, let number = page(ofFrame: end.frames - 1, end), number > 0 else {
            return nil
        }
        return DatabaseSample.Page(number: number, bytes: end.pageBytes)
    }

    fileprivate func hasFrame(ofPage page: UInt32, beginningWith bytes: [UInt8], _ end: WALIndex.End) -> Bool {
        var content: [UInt8] = Array(repeating: 0, count: bytes.count)
        return (0..<end.frames).contains { frame in
            guard self.page(ofFrame: frame, end) == page else { return false }
            let position = WALHistory.position(frame, end) + Int64(Self.frameHeaderBytes)
            return content.withUnsafeMutableBytes { read($0, at: position) } && content == bytes
        }
    }

    /// "Page number": https://www.sqlite.org/fileformat2.html#wal_file_format
    private func page(ofFrame frame: Int, _ end: WALIndex.End) -> UInt32? {
        var number: UInt32 = 0
        return withUnsafeMutableBytes(of: &number) { read($0, at: WALHistory.position(frame, end)) } ? UInt32(bigEndian: number) : nil
    }
}

extension Connection {
    /// The database's file, to be read besides; nil for one that is not in WAL mode. Only where nothing of it is mapped.
    public func databaseFile() -> DatabaseFile? { DatabaseFile(connection: handle) }
}
