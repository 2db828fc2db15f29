/// "The checksum is computed by interpreting the input as an even number of unsigned 32-bit integers"
/// (https://www.sqlite.org/fileformat2.html#checksum_algorithm). It goes on from frame to frame.
struct WALChecksum: Equatable {
    var first: UInt32 = 0
    var second: UInt32 = 0

    /// - Parameter bytes: a multiple of eight.
    mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
        var position = 0
        while position + 8 <= bytes.count {
            let a = bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)
            let b = bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self)
            first = first &+ (isBigEndian ? UInt32(bigEndian: a) : UInt32(littleEndian: a)) &+ second
            second = second &+ (isBigEndian ? UInt32(bigEndian: b) : UInt32(littleEndian: b)) &+ first
            position += 8
        }
    }

    init(first: UInt32, second: UInt32) { (self.first, self.second) = (first, second) }

    /// As it stands in the file: "in big-endian format", whatever the words it was made of.
    init(storedIn bytes: UnsafeRawBufferPointer, at position: Int) {
        first = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        second = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position + 4, as: UInt32.self))
    }

    init() {}
}
