import Glibc

/// A growable run of bytes that backend messages are encoded into and that the socket is written from.
///
/// One owner at a time: the class is deliberately not `Sendable`; the session that owns it takes it along from
/// thread to thread. Positions (`start`, `end`, marks) are absolute: they keep their meaning when bytes before
/// them have been sent, and never come again.
///
/// The stored properties are `@exclusivity(unchecked)`: they are reached from code inlined into other modules,
/// where the compiler could not remove the dynamic check of every access, and no method calls out to foreign
/// code in the middle of a mutation.
public final class OutputBuffer {
    /// No message may be longer. PostgreSQL limits a message to 1 GB, and a length that wraps around its 32 bits
    /// would let the rest of the bytes pass for messages of their own (CVE-2024-27304).
    @inlinable public static var maximumMessageLength: Int { 1 << 30 }

    @usableFromInline @exclusivity(unchecked) var storage: UnsafeMutableRawPointer?
    @usableFromInline @exclusivity(unchecked) var capacity = 0
    /// Offsets into `storage`: the first unread byte, and one past the last.
    @usableFromInline @exclusivity(unchecked) var head = 0
    @usableFromInline @exclusivity(unchecked) var tail = 0
    /// What to add to an offset to get an absolute position.
    @usableFromInline @exclusivity(unchecked) var shift = 0
    /// Where the message being written begins, or -1.
    @usableFromInline @exclusivity(unchecked) var openMessage = -1
    /// The message being written did not fit; `endMessage` drops it.
    @usableFromInline @exclusivity(unchecked) var overflowed = false
    /// The last message that did not fit would have, had there been memory for it.
    public private(set) var hasLackedMemory = false
    /// There was no memory for something outside a message: what is here must not be sent, and the connection ends.
    public private(set) var hasHole = false
    private let initialCapacity: Int

    /// Allocates nothing yet; the first byte appended does.
    public init(initialCapacity: Int = 0) {
        self.initialCapacity = max(initialCapacity, 1024)
    }

    deinit { free(storage) }

    /// How many bytes wait to be sent.
    @inlinable public var count: Int { tail - head }

    /// The bytes that wait to be sent. Valid until the next mutation.
    @inlinable public var readable: UnsafeRawBufferPointer {
        guard let storage else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: storage + head, count: tail - head)
    }

    /// The position of the first unread byte: what lies before it has been sent and cannot be patched any more.
    @inlinable public var start: Int { shift + head }

    /// The position behind the last byte.
    @inlinable public var end: Int { shift + tail }

    /// Forgets the first `n` bytes, which have been sent.
    public func consume(_ n: Int) {
        precondition(n >= 0 && n <= count, "more consumed than there is")
        head += n
        guard head == tail else { return }
        // Positions go on from here: one that was kept must never come to mean other bytes.
        shift += tail
        head = 0
        tail = 0
        openMessage = -1
    }

    /// Drops everything behind a mark.
    public func truncate(toEnd position: Int) {
        precondition(position >= start && position <= end, "the mark is not in the buffer")
        tail = position - shift
        if openMessage >= position { openMessage = -1 }
        overflowed = false
    }

    /// Gives the memory back when the buffer has more than `limit` bytes of it, and needs no more than that: what waits to be sent moves
    /// into a block of its own size.
    public func releaseMemory(above limit: Int) {
        guard capacity > limit, count <= limit, openMessage < 0 else { return }
        let unread = count
        let smaller = unread > 0 ? malloc(unread) : nil
        guard unread == 0 || smaller != nil else { return }
        if let smaller, let storage { memcpy(smaller, storage + head, unread) }
        free(storage)
        storage = smaller
        capacity = unread
        shift = start
        head = 0
        tail = unread
    }

    /// `n` more bytes at the end, uninitialised; nil when the open message may not grow by that much, or there is no memory.
    @inlinable @inline(__always)
    func claim(_ n: Int) -> UnsafeMutableRawPointer? {
        if capacity - tail < n {
            guard makeRoom(n) else { return nil }
        }
        guard let storage else { return nil }
        let place = storage + tail
        tail += n
        return place
    }

    /// Makes room for `n` bytes. Moving the unread bytes to the front costs no more than what was sent since the
    /// last move; otherwise the capacity doubles. Both keep appending linear in the bytes appended.
    @usableFromInline @inline(never)
    func makeRoom(_ n: Int) -> Bool {
        if openMessage >= 0, n > Self.maximumMessageLength - (end - openMessage) + 1 {
            overflowed = true
            hasLackedMemory = false
            return false
        }
        let unread = tail - head
        if head > 0, head >= unread, let storage {
            memmove(storage, storage + head, unread)
            shift += head
            head = 0
            tail = unread
        }
        if capacity - tail >= n { return true }
        let wanted = max(capacity * 2, tail + n, initialCapacity)
        guard let grown = realloc(storage, wanted) else {
            if openMessage >= 0 { overflowed = true } else { hasHole = true }
            hasLackedMemory = true
            return false
        }
        storage = grown
        capacity = wanted
        return true
    }
}
