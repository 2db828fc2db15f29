import CLinux
import Glibc
import Testing

@testable import Server

/// The same results with io_uring and, where there is none, with a system call for each.
@Suite struct TransfersTests {
    private struct Pair {
        let near: Int32
        let far: Int32

        init() {
            var sockets: [Int32] = [-1, -1]
            let made = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &sockets)
            #expect(made == 0)
            (near, far) = (sockets[0], sockets[1])
        }

        func close() {
            Glibc.close(near)
            Glibc.close(far)
        }
    }

    private static let bufferBytes = 100

    /// Receives at these sockets, at once.
    private func receive(_ transfers: Transfers, _ sockets: [Int32]) -> [(result: Int, bytes: [UInt8])] {
        let buffers = sockets.map { _ in UnsafeMutableRawPointer.allocate(byteCount: Self.bufferBytes, alignment: 1) }
        defer { for buffer in buffers { buffer.deallocate() } }
        for (socket, buffer) in zip(sockets, buffers) { transfers.add(socket, buffer, count: Self.bufferBytes) }
        transfers.receive()
        defer { transfers.removeAll() }
        return buffers.enumerated().map { index, buffer in
            let result = transfers.result(index)
            return (result, [UInt8](UnsafeRawBufferPointer(start: buffer, count: max(0, result))))
        }
    }

    private func send(_ transfers: Transfers, _ sockets: [Int32], _ bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBytes { bytes in
            let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress!)
            for socket in sockets { transfers.add(socket, start, count: bytes.count) }
            transfers.send()
        }
        defer { transfers.removeAll() }
        return sockets.indices.map { transfers.result($0) }
    }

    @Test(arguments: [(true, true), (true, false), (false, true), (false, false)], [1, 2, Transfers.capacity])
    func whatOneSideSendsTheOtherReceives(with: (ring: Bool, descriptors: Bool), count: Int) {
        let transfers = Transfers(usesRing: with.ring, mayComeWithDescriptors: with.descriptors)
        let pairs = (0..<count).map { _ in Pair() }
        defer { for pair in pairs { pair.close() } }
        for round in 0..<5 {
            let bytes = Array("round \(round)".utf8)
            #expect(send(transfers, pairs.map(\.near), bytes) == pairs.map { _ in bytes.count })
            for (result, received) in receive(transfers, pairs.map(\.far)) {
                #expect(result == bytes.count && received == bytes)
            }
        }
    }

    /// One has something, one nothing yet, one is at its end, and one is no socket.
    @Test(arguments: [true, false], [true, false])
    func eachHasItsOwnResult(usesRing: Bool, mayComeWithDescriptors: Bool) {
        let transfers = Transfers(usesRing: usesRing, mayComeWithDescriptors: mayComeWithDescriptors)
        let pairs = (0..<3).map { _ in Pair() }
        defer { for pair in pairs { pair.close() } }
        #expect(send(transfers, [pairs[0].near], [1, 2, 3]) == [3])
        shutdown(pairs[2].near, Int32(SHUT_WR))
        let results = receive(transfers, pairs.map(\.far) + [-1])
        #expect(results.map(\.result) == [3, -Int(EAGAIN), 0, -Int(EBADF)])
        #expect(results[0].bytes == [1, 2, 3])
    }

    /// A socket takes what it has room for, then nothing, and nobody waits; the death of the other side is a result and no signal.
    @Test(arguments: [true, false])
    func aClientThatDoesNotRead(usesRing: Bool) {
        let transfers = Transfers(usesRing: usesRing)
        let (slow, quick, gone) = (Pair(), Pair(), Pair())
        defer { for pair in [slow, quick] { pair.close() } }
        Glibc.close(gone.far)
        defer { Glibc.close(gone.near) }
        var taken = 0
        var last = 0
        let bytes = [UInt8](repeating: 7, count: 50_000)
        for _ in 0..<100 {
            let results = send(transfers, [slow.near, gone.near], bytes)
            #expect(results[1] == -Int(EPIPE))
            last = results[0]
            guard last > 0 else { break }
            taken += last
        }
        #expect(taken > 0 && last == -Int(EAGAIN))
        #expect(send(transfers, [slow.near, quick.near], [9]) == [-Int(EAGAIN), 1])
    }

    /// The kernel interrupts a thread whose ring was closed, some time later: a client of a test that waits meanwhile is answered.
    @Test func afterRingsWereClosed() throws {
        let test = try TestServer()
        for _ in 0..<100 {
            let pairs = [Pair(), Pair()]
            defer { for pair in pairs { pair.close() } }
            let client = try test.connect()
            for _ in 0..<3 { #expect(send(Transfers(usesRing: true), pairs.map(\.near), [1]) == [1, 1]) }
            #expect(try client.query("INSERT INTO t(n) VALUES(NULL)").picture == "INSERT 0 1 I")
        }
    }

    private static let hasRings: Bool = {
        var ring = walpool_ring()
        defer { walpool_ring_close(&ring) }
        return walpool_ring_open(&ring, 8) == 0
    }()

    /// A ring that has failed is not used again, and nothing that was asked of it is left undone.
    @Test(.enabled(if: hasRings, "the kernel gives no io_uring")) func aRingThatFails() throws {
        var ring = walpool_ring()
        let opened = walpool_ring_open(&ring, 8)
        try #require(opened == 0)
        let pair = Pair()
        defer { pair.close() }
        // The kernel knows no such ring; this one it closes.
        let descriptor = ring.descriptor
        ring.descriptor = walpool_eventfd()
        var byte: UInt8 = 5
        withUnsafeMutableBytes(of: &byte) { bytes in
            var transfers = (0..<3).map { _ in
                walpool_transfer(bytes: bytes.baseAddress, count: 1, socket: pair.near, result: 0)
            }
            walpool_transfer_all(&ring, 8, &transfers, 3, walpool_transfer_kind(is_send: 1, messages: nil))
            #expect(transfers.map(\.result) == [1, 1, 1])
        }
        #expect(ring.is_open == 0 && ring.is_refused != 0)
        Glibc.close(descriptor)
        var received = [UInt8](repeating: 0, count: 8)
        #expect(recv(pair.far, &received, 8, Int32(MSG_DONTWAIT)) == 3)
    }
}
