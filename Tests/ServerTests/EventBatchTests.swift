import Foundation
import Synchronization
import Testing

@testable import Server

@Suite struct EventBatchTests {
    private func keep(_ words: [UInt64], in batch: EventBatch) {
        let buffer = UnsafeMutableBufferPointer<UInt64>.allocate(capacity: words.count)
        defer { buffer.deallocate() }
        _ = buffer.initialize(from: words)
        batch.keep(buffer[...])
    }

    private func takeAll(_ batch: EventBatch) -> [UInt64] {
        var taken: [UInt64] = []
        while let event = batch.take() { taken.append(event.word) }
        return taken
    }

    @Test func inTheirOrder() {
        let batch = EventBatch()
        #expect(takeAll(batch).isEmpty && batch.takeOver().isEmpty)
        keep([3, 1, 2], in: batch)
        #expect(takeAll(batch) == [3, 1, 2])
        #expect(takeAll(batch).isEmpty && batch.takeOver().isEmpty)
        keep(Array(0..<UInt64(EventBatch.capacity)), in: batch)
        #expect(takeAll(batch).count == EventBatch.capacity)
    }

    /// What is added comes after the others; the room is for one round of epoll.
    @Test func whatIsAdded() {
        let batch = EventBatch()
        keep([1, 2], in: batch)
        #expect(batch.take()?.word == 1)
        batch.add(Poller.Event(word: 7))
        #expect(takeAll(batch) == [2, 7])
        while batch.hasRoom { batch.add(Poller.Event(word: 9)) }
        #expect(takeAll(batch).count == EventBatch.capacity - 3 && !batch.hasRoom)
        keep([], in: batch)
        #expect(batch.hasRoom && batch.take() == nil)
        batch.add(Poller.Event(word: 8))
        #expect(batch.takeOver().map(\.word) == [8] && batch.take() == nil)
    }

    /// The owner looks at all that are pending and leaves others in their place, or none.
    @Test func whatIsPutInAnothersPlace() {
        let batch = EventBatch()
        keep([1, 2, 3, 4], in: batch)
        #expect(batch.take()?.word == 1)
        #expect(batch.pendingPlaces == 1..<4)
        #expect(batch.take(at: 1)?.word == 2)
        batch.put(Poller.Event(word: 20), at: 1)
        #expect(batch.take(at: 2)?.word == 3)
        #expect(takeAll(batch) == [20, 4])
        #expect(batch.pending == 0)
        batch.removeAll()
        #expect(batch.pendingPlaces.isEmpty && batch.hasRoom && batch.take() == nil)
    }

    @Test func words() {
        let token = UInt64(5) << 32 | 0xFFFF_FFFF
        for event in [Poller.Event(token: token), Poller.Event(token: token, isHungUp: true), Poller.Event(owned: token)] {
            #expect(event.token == token)
        }
        #expect(Poller.Event(owned: token).isOwned && !Poller.Event(owned: token).isHungUp)
        #expect(Poller.Event(token: token).isPlain && !Poller.Event(owned: token).isPlain)
        #expect(!Poller.Event(token: token, isHungUp: true).isPlain && !Poller.Event(token: token, isHungUp: true).isOwned)
        // The daemon's own.
        #expect(Server.wakeUpEvent.token == Server.wakeUpEvent.word)
        #expect(!Server.wakeUpEvent.isPlain && !Server.wakeUpEvent.isOwned)
    }

    ///     owner           another
    ///     takes 10
    ///                     takes over 11, 12
    ///     has none left
    @Test func whatAnotherThreadTookOver() {
        let batch = EventBatch()
        keep([10, 11, 12], in: batch)
        #expect(batch.take()?.word == 10)
        #expect(batch.takeOver().map(\.word) == [11, 12])
        #expect(batch.take() == nil)
        keep([13], in: batch)
        #expect(takeAll(batch) == [13])
    }

    @Test func eachIsTakenOnce() {
        let batch = EventBatch()
        let others = Mutex<[UInt64]>([])
        let isOver = Atomic<Bool>(false)
        let ended = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            while !isOver.load(ordering: .relaxed) {
                let taken = batch.takeOver().map(\.word)
                others.withLock { $0 += taken }
            }
            ended.signal()
        }
        var own: [UInt64] = []
        for round in 0..<UInt64(20_000) {
            keep((0..<4).map { round * 4 + $0 }, in: batch)
            own += takeAll(batch)
        }
        isOver.store(true, ordering: .relaxed)
        ended.wait()
        let all = (own + others.withLock { $0 }).sorted()
        #expect(all == Array(0..<80_000))
    }

    /// A session's word has room for the hang-up, the daemon's own tokens do not change with it.
    @Test(arguments: [0, 1, 0x0000_4E20_FFFF_FFFF, UInt64.max, UInt64.max - 25])
    func words(_ token: UInt64) {
        #expect(Poller.Event(token: token).token == token && !Poller.Event(token: token).isHungUp)
        let hungUp = Poller.Event(word: token | 1 << 63)
        #expect(hungUp.token == token)
        #expect(hungUp.isHungUp == (token < 1 << 62))
    }
}
