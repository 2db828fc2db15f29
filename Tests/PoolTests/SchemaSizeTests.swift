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

    private final class Counter { var counts = 0 }

    private func isFull(
        _ size: inout SchemaSize, with columns: SchemaSize.Columns, counted bytes: Int?, waiting: Int = 0, _ counter: Counter = Counter()
    ) -> Bool {
        size.isFull(with: columns, limitBytes: 100_000) {
            counter.counts += 1
            return bytes.map { SchemaSize.Count(bytes: $0, waitingViews: waiting) }
        }
    }

    /// A view's columns count with those that are known, and where these are not, or may be too many, all are counted.
    @Test func columns() {
        var size = SchemaSize()
        let counter = Counter()
        #expect(!isFull(&size, with: .made(bytes: 10), counted: 40_000, counter) && counter.counts == 1)
        #expect(!isFull(&size, with: .made(bytes: 50_000), counted: 0, counter) && counter.counts == 1)
        // 90,000 at most, of which some are gone.
        #expect(!isFull(&size, with: .made(bytes: 20_000), counted: 50_000, counter) && counter.counts == 2)
        #expect(isFull(&size, with: .made(bytes: 50_001), counted: 120_000, counter) && counter.counts == 3)
        // That one was undone, and who tries again is not believed without a count.
        #expect(isFull(&size, with: .made(bytes: 1), counted: 100_001, counter) && counter.counts == 4)
        #expect(!isFull(&size, with: .made(bytes: 10_000), counted: 90_000, counter) && counter.counts == 5)
    }

    /// Where there is no time to count, what is known decides of views, and no table is refused.
    @Test func columnsThatTakeLong() {
        var size = SchemaSize()
        let counter = Counter()
        #expect(!isFull(&size, with: .made(bytes: 1), counted: nil))
        #expect(!isFull(&size, with: .made(bytes: 1), counted: 90_000))
        #expect(isFull(&size, with: .made(bytes: 10_001), counted: nil))
        #expect(!isFull(&size, with: .made(bytes: 10_000), counted: nil))
        for _ in 0..<2 { #expect(!isFull(&size, with: .altered, counted: nil, counter)) }
        size.loses()
        #expect(!isFull(&size, with: .table, counted: nil, counter) && counter.counts == 0)
        #expect(!isFull(&size, with: .made(bytes: 0), counted: nil, counter) && counter.counts == 0)
    }

    /// Something was dropped, so all are to be counted, and a busy machine has no time for that: a view counts as it does from then on.
    @Test func aViewBehindADropThatTakesLong() {
        for (bytes, isFull) in [(10_000, false), (10_001, true)] {
            var size = SchemaSize()
            #expect(!self.isFull(&size, with: .made(bytes: 1), counted: 90_000))
            size.loses()
            #expect(self.isFull(&size, with: .made(bytes: bytes), counted: nil) == isFull)
            #expect(size.columnBytes == (isFull ? 90_000 : 100_000))
        }
    }

    /// What was found smaller was so in a transaction that has gone back, and the schema may be measured with all of it.
    @Test func columnsThatComeBack() {
        var size = SchemaSize()
        #expect(!isFull(&size, with: .made(bytes: 1), counted: 90_000))
        for less in [0, 10_000] { #expect(!isFull(&size, with: .altered, counted: less) && size.columnBytes == less) }
        size.forget()
        #expect(size.columnBytes == 90_000)
        #expect(!isFull(&size, with: .made(bytes: 1), counted: 80_000) && size.columnBytes == 80_000)
        // What was committed does not go back.
        size.settle()
        size.forget()
        #expect(size.columnBytes == 80_000)
    }

    /// Views get what they wait for, and what their tables get.
    @Test func columnsOfTables() {
        var size = SchemaSize()
        let counter = Counter()
        #expect(!isFull(&size, with: .table, counted: 80_000, counter) && counter.counts == 1)
        #expect(!isFull(&size, with: .table, counted: 0, counter) && counter.counts == 1 && size.columnBytes == 80_000)
        #expect(!isFull(&size, with: .altered, counted: 85_000, counter) && counter.counts == 2 && size.columnBytes == 85_000)
        // One waits, for a table or for another view.
        #expect(!isFull(&size, with: .made(bytes: nil), counted: 0, counter) && counter.counts == 2)
        #expect(!isFull(&size, with: .made(bytes: 10), counted: 85_010, waiting: 1, counter) && counter.counts == 3)
        #expect(isFull(&size, with: .table, counted: 200_000, counter) && counter.counts == 4)
        // What was dropped may be waited for; and what was rolled back is there again.
        #expect(!isFull(&size, with: .table, counted: 70_000, counter) && counter.counts == 4)
        size.loses()
        #expect(!isFull(&size, with: .table, counted: 70_000, counter) && counter.counts == 5)
        size.forget()
        #expect(!isFull(&size, with: .made(bytes: 1), counted: 90_000, counter) && counter.counts == 6 && size.columnBytes == 90_000)
    }

    /// Made so by another process: each definition is looked at.
    @Test func whatIsTooLargeAlready() {
        var size = SchemaSize()
        for _ in 0..<2 { #expect(size.bytesBefore(textBytes: 1, limitBytes: 200_000) { 200_001 } == 200_001) }
        #expect(size.bytesBefore(textBytes: 1, limitBytes: 200_000) { 50_000 } == nil)
    }
}
