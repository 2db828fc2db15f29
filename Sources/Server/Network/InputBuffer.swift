import CLinux
import Glibc

/// What a client has sent and the session has not dropped yet.
///
/// Memory grows with the bytes received, never with a length a client only claims.
final class InputBuffer {
    private var storage: UnsafeMutableRawPointer?
    private var capacity = 0
    private(set) var count = 0
    /// What the client sends, or has sent and is not read: see `SentDescriptors`.
    let mayComeWithDescriptors: Bool
    /// That is so with this client and not with others, whose input is received together.
    let isReceivedAlone: Bool

    init(mayComeWithDescriptors: Bool) {
        self.mayComeWithDescriptors = mayComeWithDescriptors
        isReceivedAlone = mayComeWithDescriptors && !SentDescriptors.mayCome
    }

    deinit { free(storage) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

    enum Received: Equatable {
        case some
        /// As much as there was room for: the socket may have more.
        case full
        case nothingYet, closed, noMemory
        /// The client sent some beside its bytes, which are dropped: see `SentDescriptors`.
        case descriptors
    }

    /// Reads once, whatever the socket has, up to the free room (at least `minimum` bytes of it).
    func receive(from socket: Int32, minimum: Int) -> Received {
        guard let room = room(atLeast: minimum) else { return .noMemory }
        while true {
            let result = mayComeWithDescriptors ? SentDescriptors.receive(from: socket, room) : receive(from: socket, room)
            if result != -Int(EINTR) { return didReceive(result) }
        }
    }

    @inline(__always)
    private func receive(from socket: Int32, _ room: UnsafeMutableRawBufferPointer) -> Int {
        let received = walpool_receive(socket, room.baseAddress, room.count)
        return received < 0 ? -Int(errno) : received
    }

    /// The free room behind what is there, for `didReceive`; nil when there is no memory for so much.
    @inline(__always)
    func room(atLeast minimum: Int) -> UnsafeMutableRawBufferPointer? {
        if capacity - count < minimum, !grow(to: max(count + minimum, capacity * 2)) { return nil }
        return UnsafeMutableRawBufferPointer(start: storage! + count, count: capacity - count)
    }

    /// So many bytes are in that room now; 0 or an errno as `Transfers` has it.
    @inline(__always)
    func didReceive(_ result: Int) -> Received {
        guard result > 0 else {
            if result == -WALPOOL_HAS_DESCRIPTORS { return .descriptors }
            return result == -Int(EAGAIN) || result == -Int(EWOULDBLOCK) ? .nothingYet : .closed
        }
        precondition(result <= capacity - count, "more received than there was room for")
        count += result
        return count == capacity ? .full : .some
    }

    /// Drops the first `n` bytes; what follows moves to the front.
    func drop(_ n: Int) {
        guard n > 0, let storage else { return }
        count -= n
        if count > 0 { memmove(storage, storage + n, count) }
    }

    /// Drops bytes from the middle; what follows moves there.
    func remove(_ range: Range<Int>) {
        guard !range.isEmpty, let storage else { return }
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "removing what is not in the buffer")
        memmove(storage + range.lowerBound, storage + range.upperBound, count - range.upperBound)
        count -= range.count
    }

    /// Gives memory back: all of it when nothing is in it, otherwise what is above `limit`, where the contents leave that much.
    func releaseMemory(above limit: Int) {
        guard count <= limit, capacity > limit else { return }
        if count > 0 {
            _ = grow(to: limit)
            return
        }
        free(storage)
        storage = nil
        capacity = 0
    }

    /// Makes the buffer as large as this, or as small. False: there is no memory.
    private func grow(to size: Int) -> Bool {
        guard let grown = realloc(storage, size) else { return false }
        storage = grown
        capacity = size
        return true
    }
}
