import Testing

@testable import Pool

@Suite struct SchemaSizeTests {
    /// One looks at first, and then only when what was defined since may have filled the limit.
    @Test func looks() {
        var size = SchemaSize()
        var looks = 0
        func before(_ text: Int?, takes bytes: Int) -> Int? {
            size.bytesBefore(textBytes: text, limitBytes: 300_000) {
                looks += 1
                return bytes
            }
        }
        #expect(before(100, takes: 1_000) == nil && looks == 1)
        #expect(before(100, takes: 2_000) == nil && looks == 1)
        // 257,608 at most: 1,000, and for each 20,000 for its text and 65,536 besides.
        #expect(before(100, takes: 3_000) == nil && looks == 1)
        #expect(before(1, takes: 4_000) == nil && looks == 2)
        // A single one may do it, and what its text does not tell.
        for text in [1_500, nil, .max] { #expect(before(text, takes: 5_000) == 5_000) }
        #expect(looks == 5)
        #expect(before(1, takes: 6_000) == nil && looks == 6)
    }

    /// A view's columns count with what is known, and where that is nothing one looks.
    @Test func columnsOfViews() {
        var size = SchemaSize()
        var looks = 0
        func with(_ columnBytes: Int, takes bytes: Int) -> Int? {
            size.bytesWith(columnBytes: columnBytes, limitBytes: 100_000) {
                looks += 1
                return bytes
            }
        }
        #expect(with(10, takes: 40_000) == 40_000 && looks == 1)
        #expect(with(50_000, takes: 0) == nil && looks == 1)
        #expect(with(20_000, takes: 50_000) == 50_000 && looks == 2)
        #expect(with(50_001, takes: 120_000) == 120_000 && looks == 3)
        #expect(with(0, takes: 120_000) == 120_000 && looks == 4)
    }

    /// Made so by another process: each definition is looked at.
    @Test func whatIsTooLargeAlready() {
        var size = SchemaSize()
        for _ in 0..<2 { #expect(size.bytesBefore(textBytes: 1, limitBytes: 200_000) { 200_001 } == 200_001) }
        #expect(size.bytesBefore(textBytes: 1, limitBytes: 200_000) { 50_000 } == nil)
    }
}
