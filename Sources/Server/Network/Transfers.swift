import CLinux
import Glibc

/// Bytes for, or from, several sockets by one system call.
///
/// A call for each message that comes and for each that goes was a quarter of what a point SELECT takes with 64 clients (8.8 µs,
/// 6.4 without). So the messages of one `epoll_wait` are received together, and their replies sent together
/// (Sources/CLinux/ring.h). Without io_uring it is a call for each, with the same results.
///
/// A thread's own: not `Sendable`.
final class Transfers {
    /// As many as one call has room for; a power of two.
    static let capacity = EventBatch.capacity
    /// Of one transfer: the result is a signed word of 32 bits. What one call does not take, the next one does.
    private static let mostBytes = 1 << 30

    private var ring = walpool_ring()
    private let transfers = UnsafeMutablePointer<walpool_transfer>.allocate(capacity: capacity)
    /// Where what is received may have descriptors beside it: see `SentDescriptors`.
    private let messages: UnsafeMutablePointer<walpool_message>?
    private(set) var count = 0

    /// - Parameters:
    ///   - usesRing: false: a call for each.
    ///   - mayComeWithDescriptors: what clients send.
    init(usesRing: Bool, mayComeWithDescriptors: Bool = SentDescriptors.mayCome) {
        ring.is_refused = usesRing ? 0 : 1
        messages = mayComeWithDescriptors ? .allocate(capacity: Self.capacity) : nil
        messages?.initialize(repeating: walpool_message(), count: Self.capacity)
    }

    deinit {
        walpool_ring_close(&ring)
        transfers.deallocate()
        messages?.deallocate()
    }

    /// The bytes must stay where they are until the call that transfers them.
    @inline(__always)
    func add(_ socket: Int32, _ bytes: UnsafeMutableRawPointer, count bytesCount: Int) {
        precondition(count < Self.capacity, "more transfers than one call has room for")
        transfers[count] = walpool_transfer(
            bytes: bytes, count: UInt32(min(bytesCount, Self.mostBytes)), socket: socket, result: 0)
        count += 1
    }

    func send() { transferAll(walpool_transfer_kind(is_send: 1, messages: nil)) }

    func receive() { transferAll(walpool_transfer_kind(is_send: 0, messages: messages)) }

    /// How many bytes; 0: the other side sends nothing more; or an errno, negative, or -WALPOOL_HAS_DESCRIPTORS.
    @inline(__always)
    func result(_ index: Int) -> Int { Int(transfers[index].result) }

    private func transferAll(_ kind: walpool_transfer_kind) {
        walpool_transfer_all(&ring, UInt32(Self.capacity), transfers, UInt32(count), kind)
    }

    /// The next call is for others.
    @inline(__always)
    func removeAll() { count = 0 }
}
