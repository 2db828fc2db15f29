import Histogram
import Testing

@testable import Workload

@Suite struct HistogramTests {
    static let values: [UInt64] = [
        0, 1, 2, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 123_456, 5_000_000, LatencyCounts.highestMicroseconds,
    ]

    static func counts(of values: [UInt64]) -> SparseCounts {
        let counts = LatencyCounts()
        for value in values { counts.record(nanoseconds: Int64(value) * 1000) }
        return counts.take()
    }

    /// The layout is the package's: every value goes where its own counting puts it.
    @Test(arguments: values)
    func layout(_ value: UInt64) {
        let lowest = LatencyCounts.value(at: LatencyCounts.index(of: value))
        let histogram = Histogram<UInt64>(highestTrackableValue: LatencyCounts.highestMicroseconds, numberOfSignificantValueDigits: .three)
        #expect(lowest == histogram.lowestEquivalentForValue(value))
        #expect(LatencyCounts.index(of: lowest) == LatencyCounts.index(of: value))
        #expect(LatencyCounts.index(of: value) < LatencyCounts.count)
    }

    @Test(arguments: [(499, 0), (500, 1), (1499, 1), (1999, 2), (-1, 0)] as [(Int64, Int)])
    func theNearestMicrosecond(_ nanoseconds: Int64, _ place: Int) {
        #expect(LatencyCounts.index(nanoseconds: nanoseconds) == place)
    }

    @Test func everyPlaceHasItsValue() {
        for index in 0..<LatencyCounts.count { #expect(LatencyCounts.index(of: LatencyCounts.value(at: index)) == index) }
    }

    @Test func whatIsTakenIsGone() {
        let counts = LatencyCounts()
        counts.record(nanoseconds: 5000)
        counts.record(nanoseconds: -3000)
        counts.record(nanoseconds: .max / 2)
        #expect(counts.take().entries.map(\.count) == [1, 1, 1])
        #expect(counts.take().entries.isEmpty)
    }

    @Test func figures() {
        let counts = Self.counts(of: (1...10_000).map { UInt64($0) })
        let figures = LatencyFigures(counts, longestNanoseconds: 10_000_000)
        #expect(abs(Int(figures["p50"]) - 5000) <= 5 && abs(Int(figures["p99"]) - 9900) <= 8)
        #expect(abs(figures.mean - 5000.5) < 5 && figures.longest == 10_000)
        let one = LatencyFigures(Self.counts(of: [5001]), longestNanoseconds: 5_001_400)
        #expect(one["p50"] == 5001 && one["p9999"] == 5001)
        let none = LatencyFigures(SparseCounts(), longestNanoseconds: 0)
        #expect(none.mean == 0 && none["p50"] == 0)
    }

    /// What is written can be read back, by the rules of the format.
    @Test func encoding() throws {
        let counts = Self.counts(of: Self.values + Self.values + [7])
        let encoded = counts.encoded
        #expect(encoded[0..<4] == [0x1C, 0x84, 0x93, 0x13])
        #expect(encoded[4..<8].reduce(0) { $0 << 8 | Int($1) } == encoded.count - 40)
        var places: [(Int, Int64)] = []
        var index = 0
        var bytes = encoded[40...]
        while !bytes.isEmpty {
            let number = try Self.zigZag(&bytes)
            if number < 0 { index += Int(-number); continue }
            if number > 0 { places.append((index, number)) }
            index += 1
        }
        #expect(places.map(\.0) == counts.entries.map { Int($0.index) })
        #expect(places.map(\.1) == counts.entries.map { Int64($0.count) })
    }

    static func zigZag(_ bytes: inout ArraySlice<UInt8>) throws -> Int64 {
        var value: UInt64 = 0
        for place in 0..<9 {
            let first = bytes.popFirst()
            let byte = try #require(first)
            value |= UInt64(place < 8 ? byte & 0x7F : byte) << UInt64(7 * place)
            if place == 8 || byte & 0x80 == 0 { break }
        }
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    @Test(arguments: [0, 1, -1, 63, 64, -64, -65, 1 << 40, Int64.max, Int64.min])
    func zigZagNumbers(_ number: Int64) throws {
        var bytes: [UInt8] = []
        bytes.appendZigZag(number)
        #expect(bytes.count <= 9)
        var rest = bytes[...]
        #expect(try Self.zigZag(&rest) == number && rest.isEmpty)
    }

    @Test func zlib() {
        // Python: zlib.compress(b"abc", 0)
        #expect(
            ZlibStream.stored(Array("abc".utf8)) == [0x78, 0x01, 0x01, 0x03, 0x00, 0xFC, 0xFF, 0x61, 0x62, 0x63, 0x02, 0x4D, 0x01, 0x27])
        #expect(ZlibStream.stored([]) == [0x78, 0x01, 0x01, 0x00, 0x00, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x01])
        #expect(ZlibStream.stored(Array(repeating: 1, count: 65_536)).count == 2 + 5 + 65_535 + 5 + 1 + 4)
    }

    /// https://www.rfc-editor.org/rfc/rfc4648#section-10
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
    func base64Text(_ text: String, _ expected: String) {
        #expect(base64(Array(text.utf8)) == expected)
    }
}
