import TestSupport
import Testing

@testable import PostgresWire

@Suite struct OutputBufferTests {
    @Test func nothingIsAllocatedBeforeTheFirstByte() {
        let buffer = OutputBuffer(initialCapacity: 4096)
        #expect(buffer.capacity == 0)
        #expect(buffer.readable.isEmpty)
        buffer.append(1 as UInt8)
        #expect(buffer.capacity == 4096)
    }

    @Test func positionsStayComparableWhileBytesAreSent() {
        let buffer = OutputBuffer()
        let payload = [UInt8](repeating: 7, count: 700)
        withRaw(payload) { buffer.append($0) }
        buffer.consume(600)
        let mark = buffer.beginMessage(UInt8(ascii: "D"))
        #expect(mark == 700)
        // Does not fit behind the 700, so the unread bytes move to the front in the middle of the message.
        withRaw(payload) { buffer.append($0) }
        #expect(buffer.endMessage(mark))
        #expect(buffer.start == 600)
        #expect(buffer.end == 700 + 5 + 700)
        #expect(Array(buffer.readable) == Array(payload.prefix(100)) + message("D", .raw(payload)))
        buffer.truncate(toEnd: mark)
        #expect(Array(buffer.readable) == Array(payload.prefix(100)))
        buffer.consume(100)
        // Positions go on, so that one that was kept never comes to mean other bytes.
        #expect(buffer.start == 700 && buffer.end == 700)
    }

    /// A client that reads slowly but steadily must not make the buffer grow.
    @Test func memoryIsBoundedByWhatIsUnread() {
        let buffer = OutputBuffer()
        var generator = SeededGenerator(state: 3)
        var model: [UInt8] = []
        for round in 0..<5000 {
            let chunk = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: Int(generator.next() % 200))
            withRaw(chunk) { buffer.append($0) }
            model += chunk
            if model.count > 1000 {
                buffer.consume(model.count - 500)
                model.removeFirst(model.count - 500)
            }
            #expect(buffer.readable.elementsEqual(model))
        }
        #expect(buffer.capacity <= 4096)
    }

    @Test func memoryIsGivenBackWhenEmpty() {
        let buffer = OutputBuffer()
        withRaw([UInt8](repeating: 0, count: 100_000)) { buffer.append($0) }
        buffer.releaseMemory(above: 0)
        #expect(buffer.count == 100_000)
        let capacity = buffer.capacity
        buffer.releaseMemory(above: 99_999)
        #expect(buffer.capacity == capacity)
        buffer.consume(100_000)
        buffer.releaseMemory(above: 1 << 20)
        #expect(buffer.capacity >= 100_000)
        buffer.releaseMemory(above: 4096)
        #expect(buffer.capacity == 0)
        buffer.append("again")
        #expect(string(buffer.readable) == "again")
    }

    /// What a large reply has left, and its place is the same.
    @Test func whatWaitsMovesIntoABlockOfItsSize() {
        let buffer = OutputBuffer()
        withRaw([UInt8](repeating: 0, count: 100_000)) { buffer.append($0) }
        buffer.append("the rest")
        buffer.consume(100_000)
        let places = [buffer.start, buffer.end]
        buffer.releaseMemory(above: 4096)
        #expect(buffer.capacity == 8 && string(buffer.readable) == "the rest" && [buffer.start, buffer.end] == places)
        buffer.append(" and more")
        buffer.consume(4)
        #expect(string(buffer.readable) == "rest and more" && buffer.start == places[0] + 4)
    }

    /// CVE-2024-27304: lengths that do not fit are an error, and never wrap. The fields claim to be larger than they
    /// are; a buffer that believed them would read far beyond.
    @Test(arguments: [1 << 30, (1 << 30) + 1, Int(Int32.max), 1 << 32, (1 << 32) + 8])
    func aMessageBeyondTheLimitIsTakenBack(_ length: Int) {
        let buffer = OutputBuffer()
        buffer.bindComplete()
        let mark = buffer.beginDataRow(columns: 2)
        withRaw([1, 2, 3]) { buffer.fieldText(UnsafeRawBufferPointer(start: $0.baseAddress, count: length)) }
        buffer.fieldIntegerText(1)
        #expect(!buffer.endDataRow(mark))
        #expect(Array(buffer.readable) == [0x32, 0, 0, 0, 4])
        let next = buffer.beginDataRow(columns: 0)
        #expect(buffer.endDataRow(next))
        #expect(buffer.count == 12)
    }

    @Test func hexOfALargeBlobIsLimitedToo() {
        let buffer = OutputBuffer()
        let mark = buffer.beginDataRow(columns: 1)
        withRaw([1]) { buffer.fieldByteaText(UnsafeRawBufferPointer(start: $0.baseAddress, count: 1 << 29)) }
        #expect(!buffer.endDataRow(mark))
        #expect(buffer.count == 0)
    }

    @Test func takingAMessageBackWithTruncate() {
        let buffer = OutputBuffer()
        buffer.noData()
        let mark = buffer.beginMessage(UInt8(ascii: "D"))
        buffer.append("half")
        buffer.truncate(toEnd: mark)
        buffer.readyForQuery(.idle)
        #expect(Array(buffer.readable) == message("n") + message("Z", .text("I")))
    }
}
