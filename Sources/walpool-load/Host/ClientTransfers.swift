import CLinux

/// Bytes from, or for, several clients, which one system call transfers: see `LoadThread.answerGathered`.
///
/// A plain struct in memory of the thread's own, like its clients, and to the end of the process.
struct ClientTransfers {
    /// As many as the daemon takes at once; a power of two.
    static let capacity = 16

    private let transfers = UnsafeMutablePointer<walpool_transfer>.allocate(capacity: capacity)
    private let clients = UnsafeMutablePointer<Int>.allocate(capacity: capacity)
    private(set) var count = 0
    /// Of all of them.
    private(set) var bytesCount = 0

    var isFull: Bool { count == Self.capacity }

    @inline(__always)
    mutating func add(client: Int, socket: Int32, bytesCount: Int) {
        clients[count] = client
        transfers[count] = walpool_transfer(bytes: nil, count: UInt32(bytesCount), socket: socket, result: 0)
        count += 1
        self.bytesCount += bytesCount
    }

    /// The bytes of one lie behind those of the one before it.
    func transfer(_ ring: inout walpool_ring, from start: UnsafeMutableRawPointer, isSend: Bool) {
        var next = start
        for place in 0..<count {
            transfers[place].bytes = next
            next += Int(transfers[place].count)
        }
        walpool_transfer_all(
            &ring, UInt32(Self.capacity), transfers, UInt32(count), walpool_transfer_kind(is_send: isSend ? 1 : 0, messages: nil))
    }

    @inline(__always)
    func client(_ place: Int) -> Int { clients[place] }

    /// What there was to transfer, and how many bytes were; or 0 at the end of what the other side sends; or an errno, negative.
    @inline(__always)
    func result(_ place: Int) -> (bytes: UnsafeRawBufferPointer, count: Int) {
        let transfer = transfers[place]
        return (UnsafeRawBufferPointer(start: transfer.bytes, count: Int(transfer.count)), Int(transfer.result))
    }

    mutating func removeAll() {
        count = 0
        bytesCount = 0
    }
}
