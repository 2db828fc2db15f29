import CSQLite

/// What stands in a -wal that is open, as far as its header and its frames tell by what they say of themselves.
public enum WALContent: Equatable, Sendable {
    /// The frames that the index names.
    case own
    /// Those of another database, or of another time of this one: the header says so.
    case foreign
    /// Nothing, or something else, where some of them should be.
    case cut
    /// The disk does not say; SQLite's extended result code.
    case unreadable(Int32)
}

/// The -wal for one look at it, with what has kept it from being read.
private final class WALReading: WALSource {
    private let file: WALFile
    private(set) var failure: Int32?

    init(_ file: WALFile) { self.file = file }

    func read(_ buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Bool {
        let code = file.resultOfReading(buffer, at: position)
        if code != SQLITE_OK, code != SQLiteError.Code.shortRead { failure = code }
        return code == SQLITE_OK
    }
}

extension WALFile {
    /// Somebody may have written into the file in its place (`cp other.db-wal app.db-wal`), and SQLite copies what stands where the index
    /// says, whatever it is: checksums are compared only when an index is made.
    ///
    /// - Parameter isThorough: each frame is looked at; otherwise those that a checkpoint would begin and end with, which takes three
    ///   reads however long the -wal is.
    /// - Returns: `own` also when the index names other frames by now, or none.
    public func content(of index: WALIndex, isThorough: Bool) -> WALContent {
        let copied = index.backfilledFrames
        let named = index.copyHeader()
        let end = WALIndex.End(named, copiedFrames: copied)
        // Half of one says nothing: the writer may be at it.
        guard named.isWhole, !end.isEmpty, end.frames > 0 else { return .own }
        let reading = WALReading(self)
        var content: WALContent
        if let header = WALHistory.header(of: reading) {
            // Who begins it anew changes the index first, then this header, and names a frame when that is written.
            content = header.salts != end.salts ? .foreign : Self.has(end, isThorough, reading) ? .own : .cut
        } else {
            content = .cut
        }
        if content == .cut, let failure = reading.failure { content = .unreadable(failure) }
        return index.matches(named) ? content : .own
    }

    /// Asked twice where a read has failed: what is taken for this database's by mistake is served as such after the next start.
    public func isForeign(to index: WALIndex) -> Bool {
        let first = content(of: index, isThorough: false)
        guard case .unreadable = first else { return first == .foreign }
        return content(of: index, isThorough: false) == .foreign
    }

    /// Its header is that of another database: also not the one that it had itself before it was last begun anew, which is what the disk
    /// may come back with after an error. "Salt-1: a random integer incremented with each checkpoint"
    /// (https://www.sqlite.org/fileformat2.html#wal_file_format).
    public func isOfAnother(than index: WALIndex) -> Bool {
        guard isForeign(to: index), let header = WALHistory.header(of: WALReading(self)) else { return false }
        let named = index.end.salts
        return header.salts != named && Self.firstSalt(header.salts) &+ 1 != Self.firstSalt(named)
    }

    /// In the file's order it is the first four bytes.
    private static func firstSalt(_ salts: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: UInt64(bigEndian: salts) >> 32) }

    /// A hole that was cut into the file and written behind again has zeros for salts. The checksum of the last frame is of all that are
    /// before it, too, and the index has it.
    private static func has(_ end: WALIndex.End, _ isThorough: Bool, _ wal: WALReading) -> Bool {
        var header: [UInt8] = Array(repeating: 0, count: frameHeaderBytes)
        func isThere(_ frame: Int) -> Bool {
            guard header.withUnsafeMutableBytes({ wal.read($0, at: WALHistory.position(frame, end)) }) else { return false }
            return header.withUnsafeBytes { header in
                // At 8 "Salt-1 copied from the WAL header", at 16 "Checksum-1: Cumulative checksum up through and including this page"
                // (https://www.sqlite.org/fileformat2.html#wal_file_format).
                header.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == end.salts
                    && (frame < end.frames - 1 || WALChecksum(storedIn: header, at: 16) == end.checksum)
            }
        }
        if isThorough { return (0..<end.frames).allSatisfy(isThere) }
        return isThere(min(end.copiedFrames, end.frames - 1)) && isThere(end.frames - 1)
    }
}
