/// Something that may hold frames of a WAL.
protocol WALSource {
    /// False: there are fewer bytes.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Bool
}

extension WALFile: WALSource {}

/// Which frames of a WAL are in which of several files.
///
/// A -wal that is deleted while it is open parts the processes: who opens the database afterwards makes another, and goes
/// on in it where the -shm says, which they all have. Each file then has the frames of those who have it open, and zeros,
/// or nothing, in the place of the others. All together they are one WAL still, and its checksums tell which frame is its
/// next one: they are "computed consecutively on the first 24 bytes of the WAL header and the first 8 bytes and the content
/// of all frames up to and including the current frame" (https://www.sqlite.org/fileformat2.html#wal_file_format), and the
/// index has the last.
struct WALHistory {
    struct Part: Equatable {
        var frames: Range<Int>
        /// Which of the files has them.
        var file: Int
    }

    private(set) var parts: [Part] = []
    private(set) var header: [UInt8] = []
    /// So many of the frames were found.
    private(set) var frames = 0
    /// All of them, and they are those of the index.
    private(set) var isWhole = false

    static let headerBytes = 32
    static let frameHeaderBytes = WALFile.frameHeaderBytes
    private static let magic: UInt32 = 0x377f_0682

    /// - Parameter files: the first of them is asked first.
    init(_ end: WALIndex.End, in files: [any WALSource]) {
        guard end.frames > 0, end.pageBytes >= 512, let seed = findHeader(end, files) else {
            isWhole = end.frames == 0
            return
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.frameHeaderBytes + end.pageBytes, alignment: 8)
        defer { buffer.deallocate() }
        var checksum = seed
        while frames < end.frames, let (file, upTo) = findTransaction(end, files, &checksum, buffer) {
            if let last = parts.last, last.file == file {
                parts[parts.count - 1].frames = last.frames.lowerBound..<upTo
            } else {
                parts.append(Part(frames: frames..<upTo, file: file))
            }
            frames = upTo
        }
        isWhole = frames == end.frames && checksum == end.checksum
    }

    private mutating func findHeader(_ end: WALIndex.End, _ files: [any WALSource]) -> WALChecksum? {
        for file in files {
            guard let found = Self.header(of: file), found.salts == end.salts else { continue }
            header = found.bytes
            return found.checksum
        }
        return nil
    }

    /// nil: it has none, and nobody takes what stands in it for frames.
    static func header(of file: any WALSource) -> (bytes: [UInt8], salts: UInt64, checksum: WALChecksum)? {
        var bytes: [UInt8] = Array(repeating: 0, count: headerBytes)
        guard bytes.withUnsafeMutableBytes({ file.read($0, at: 0) }) else { return nil }
        return bytes.withUnsafeBytes { header in
            let first = UInt32(bigEndian: header.loadUnaligned(as: UInt32.self))
            var checksum = WALChecksum()
            checksum.add(UnsafeRawBufferPointer(rebasing: header[..<24]), isBigEndian: first & 1 != 0)
            guard first & ~1 == magic, checksum == WALChecksum(storedIn: header, at: 24) else { return nil }
            return (bytes, header.loadUnaligned(fromByteOffset: 16, as: UInt64.self), checksum)
        }
    }

    /// A transaction is written by one process, and so into one file. What stands in another file at its place and was rolled back has
    /// right checksums, too, but no end.
    private func findTransaction(
        _ end: WALIndex.End, _ files: [any WALSource], _ checksum: inout WALChecksum, _ buffer: UnsafeMutableRawBufferPointer
    ) -> (file: Int, upTo: Int)? {
        for (index, file) in files.enumerated() {
            var (upTo, sum) = (frames, checksum)
            while upTo < end.frames, file.read(buffer, at: Self.position(upTo, end)), Self.isNext(UnsafeRawBufferPointer(buffer), end, &sum)
            {
                upTo += 1
                // "For commit records, the size of the database file in pages after the commit. For all other records, zero."
                guard buffer.loadUnaligned(fromByteOffset: 4, as: UInt32.self) != 0 else { continue }
                checksum = sum
                return (index, upTo)
            }
        }
        return nil
    }

    static func position(_ frame: Int, _ end: WALIndex.End) -> Int64 {
        Int64(headerBytes) + Int64(frame) * Int64(frameHeaderBytes + end.pageBytes)
    }

    private static func isNext(_ frame: UnsafeRawBufferPointer, _ end: WALIndex.End, _ checksum: inout WALChecksum) -> Bool {
        guard frame.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == end.salts else { return false }
        checksum.add(UnsafeRawBufferPointer(rebasing: frame[..<8]), isBigEndian: end.isBigEndian)
        checksum.add(UnsafeRawBufferPointer(rebasing: frame[frameHeaderBytes...]), isBigEndian: end.isBigEndian)
        return checksum == WALChecksum(storedIn: frame, at: 16)
    }
}
