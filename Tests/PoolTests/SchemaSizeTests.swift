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

    /// A view's columns count with those that are known, and where these are not, or may be too many, all are counted.
    @Test func columns() {
        var size = SchemaSize()
        var counts = 0
        func isFull(_ columnBytes: Int, counted bytes: Int?) -> Bool {
            size.isFull(withColumnBytes: columnBytes, limitBytes: 100_000) {
                counts += 1
                return bytes
            }
        }
        #expect(!isFull(10, counted: 40_000) && counts == 1)
        #expect(!isFull(50_000, counted: 0) && counts == 1)
        // 90,000 at most, of which some are gone.
        #expect(!isFull(20_000, counted: 50_000) && counts == 2)
        #expect(isFull(50_001, counted: 120_000) && counts == 3)
        // That one was undone, and who tries again is not believed without a count.
        #expect(isFull(0, counted: 100_001) && counts == 4)
        #expect(!isFull(10_000, counted: 90_000) && counts == 5)
    }

    /// Where there is no time to count, what is known decides.
    @Test func columnsThatTakeLong() {
        var size = SchemaSize()
        #expect(!size.isFull(withColumnBytes: 1, limitBytes: 100) { nil })
        #expect(!size.isFull(withColumnBytes: 1, limitBytes: 100) { 90 })
        #expect(size.isFull(withColumnBytes: 11, limitBytes: 100) { nil })
        #expect(!size.isFull(withColumnBytes: 10, limitBytes: 100) { nil })
    }

    /// Views have what their tables get.
    @Test func columnsOfTables() {
        var size = SchemaSize()
        var counts = 0
        func isFull(_ views: Int, _ text: (bytes: Int, columns: Int)?, counted bytes: Int?) -> Bool {
            size.isFull(withViews: views, ofTable: text, limitBytes: 100_000) {
                counts += 1
                return bytes
            }
        }
        #expect(!isFull(0, nil, counted: 200_000) && counts == 0)
        #expect(!isFull(2, (36, 1), counted: nil) && counts == 1)
        // There was no time for it, and nothing is known.
        #expect(!isFull(2, (36, 1), counted: 200_000) && counts == 1)
        #expect(!size.isFull(withColumnBytes: 1, limitBytes: 100_000) { 80_000 } && size.columnBytes == 80_000)
        // Each may be in a join 64 times.
        #expect(!isFull(2, (36, 1), counted: 0) && counts == 1 && size.columnBytes == 92_800)
        #expect(!isFull(2, (36, 1), counted: 90_000) && counts == 2 && size.columnBytes == 90_000)
        #expect(isFull(1, nil, counted: 100_001) && counts == 3)
        #expect(isFull(1_000, (1_000_000, 2_000), counted: nil) && counts == 4)
    }

    /// Made so by another process: each definition is looked at.
    @Test func whatIsTooLargeAlready() {
        var size = SchemaSize()
        for _ in 0..<2 { #expect(size.bytesBefore(textBytes: 1, limitBytes: 200_000) { 200_001 } == 200_001) }
        #expect(size.bytesBefore(textBytes: 1, limitBytes: 200_000) { 50_000 } == nil)
    }
}
