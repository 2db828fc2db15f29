import Testing

@testable import Pool

@Suite struct SchemaSizeTests {
    /// One looks at first, and then only when what was defined since may have filled the limit.
    @Test func looks() {
        var size = SchemaSize()
        var looks = 0
        func before(_ text: Int?, takes bytes: Int) -> Int? {
            size.bytesBefore(textBytes: text, limitBytes: 100_000) {
                looks += 1
                return bytes
            }
        }
        #expect(before(100, takes: 1_000) == nil && looks == 1)
        #expect(before(100, takes: 2_000) == nil && looks == 1)
        // 61,000 at most.
        #expect(before(100, takes: 3_000) == nil && looks == 1)
        #expect(before(300, takes: 4_000) == nil && looks == 2)
        // A single one may do it, and what its text does not tell.
        for text in [600, nil, .max] { #expect(before(text, takes: 5_000) == 5_000) }
        #expect(looks == 5)
        #expect(before(1, takes: 6_000) == nil && looks == 6)
    }

    /// Made so by another process: each definition is looked at.
    @Test func whatIsTooLargeAlready() {
        var size = SchemaSize()
        for _ in 0..<2 { #expect(size.bytesBefore(textBytes: 1, limitBytes: 100_000) { 100_001 } == 100_001) }
        #expect(size.bytesBefore(textBytes: 1, limitBytes: 100_000) { 50_000 } == nil)
    }
}
