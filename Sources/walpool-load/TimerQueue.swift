/// Which client is to be looked at when: a binary heap, the earliest first. One entry for a client at a time.
struct TimerQueue {
    private struct Entry {
        var time: Int64
        var client: Int32
    }

    private var heap: [Entry] = []

    var earliest: Int64 { heap.first?.time ?? .max }

    mutating func add(client: Int, at time: Int64) {
        heap.append(Entry(time: time, client: Int32(truncatingIfNeeded: client)))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].time < heap[parent].time else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// The client whose time has come first; nil when none's has.
    mutating func next(upTo now: Int64) -> Int? {
        guard let first = heap.first, first.time <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return Int(first.client)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].time < heap[child].time { child += 1 }
            guard heap[child].time < heap[parent].time else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
