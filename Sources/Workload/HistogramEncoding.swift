/// HdrHistogram's "V2 compressed" form, which other programs read:
/// https://github.com/HdrHistogram/HdrHistogram, AbstractHistogram.encodeIntoCompressedByteBuffer
extension SparseCounts {
    private static let cookie: UInt32 = 0x1C84_9303 | 0x10
    private static let compressedCookie: UInt32 = 0x1C84_9304 | 0x10

    /// A cookie, the length, and a zlib stream of `encoded`.
    var compressed: [UInt8] {
        let stream = ZlibStream.stored(encoded)
        var bytes: [UInt8] = []
        bytes.append(bigEndian: Self.compressedCookie)
        bytes.append(bigEndian: UInt32(stream.count))
        return bytes + stream
    }

    /// The form that is compressed: a head of 40 bytes and the counts.
    var encoded: [UInt8] {
        let payload = payload
        var bytes: [UInt8] = []
        bytes.append(bigEndian: Self.cookie)
        bytes.append(bigEndian: UInt32(payload.count))
        // The normalizing offset, the digits, the lowest and the highest value, the ratio of integers to doubles.
        bytes.append(bigEndian: UInt32(0))
        bytes.append(bigEndian: UInt32(LatencyCounts.significantDigits))
        bytes.append(bigEndian: UInt64(1))
        bytes.append(bigEndian: LatencyCounts.highestMicroseconds)
        bytes.append(bigEndian: 1.0.bitPattern)
        return bytes + payload
    }

    /// The counts from the first place on, as ZigZag LEB128 numbers; a negative number is a run of so many zeros.
    private var payload: [UInt8] {
        var bytes: [UInt8] = []
        var next = 0
        for entry in entries {
            let zeros = Int(entry.index) - next
            if zeros == 1 { bytes.appendZigZag(0) } else if zeros > 1 { bytes.appendZigZag(-Int64(zeros)) }
            bytes.appendZigZag(Int64(entry.count))
            next = Int(entry.index) + 1
        }
        return bytes
    }
}

extension [UInt8] {
    mutating func append<Number: FixedWidthInteger>(bigEndian value: Number) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// "ZigZag LEB128-64b9B": seven bits in each byte, the lowest first; a ninth byte has eight.
    mutating func appendZigZag(_ value: Int64) {
        var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
        for _ in 0..<8 {
            guard rest > 0x7F else { break }
            append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

/// A zlib stream whose blocks are stored and not compressed, which every reader takes. https://www.rfc-editor.org/rfc/rfc1951
enum ZlibStream {
    private static let longestBlock = 65_535

    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        // CMF and FLG: deflate, a window of 32 KiB, and a check that makes both divisible by 31.
        var stream: [UInt8] = [0x78, 0x01]
        var start = 0
        repeat {
            let end = min(start + longestBlock, bytes.count)
            let length = UInt16(end - start)
            stream.append(end == bytes.count ? 1 : 0)
            stream += [UInt8(length & 0xFF), UInt8(length >> 8), UInt8(~length & 0xFF), UInt8(~length >> 8)]
            stream += bytes[start..<end]
            start = end
        } while start < bytes.count
        stream.append(bigEndian: adler32(bytes))
        return stream
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }
}

/// https://www.rfc-editor.org/rfc/rfc4648#section-4
func base64(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 3 * 4 + 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        var word = 0
        for offset in 0..<3 { word = word << 8 | (offset < group.count ? Int(group[start + offset]) : 0) }
        for place in 0..<4 {
            text.append(place <= group.count ? alphabet[word >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
        }
    }
    return String(decoding: text, as: UTF8.self)
}
