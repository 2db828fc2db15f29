import CLinux
import Glibc

/// What a client's process and the one that started it say to each other, on a pair of sockets.
///
/// The process says `ready` or `failed`; it is told the time to start; it says `progress` where that is asked for, and at last
/// `tally`.
struct Channel: Sendable {
    let descriptor: Int32

    enum Message: Equatable {
        case ready
        case failed(String)
        case progress(Int)
        /// What was counted, and the processor time it took.
        case tally([UInt8], processorSeconds: Double)
    }

    func send(_ message: Message) {
        switch message {
        case .ready: send(kind: 0, [])
        case .failed(let text): send(kind: 1, Array(text.utf8))
        case .progress(let count): send(kind: 2, Self.bytes(UInt64(count)))
        case .tally(let bytes, let seconds): send(kind: 3, Self.bytes(seconds.bitPattern) + bytes)
        }
    }

    /// A byte for the kind, four for the length.
    private func send(kind: UInt8, _ body: [UInt8]) {
        writeAll([kind] + withUnsafeBytes(of: UInt32(body.count)) { Array($0) } + body)
    }

    private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    func writeAll(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            // The other side is gone, and nobody is left to tell.
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    /// The time to start; nil when the other side has closed.
    func readStart() -> Int64? {
        var time: Int64 = 0
        let count = withUnsafeMutableBytes(of: &time) { recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_WAITALL)) }
        return count == 8 ? time : nil
    }

    func sendStart(_ time: Int64) { writeAll(withUnsafeBytes(of: time) { Array($0) }) }
}

/// Puts what arrives on a channel together to messages.
struct ChannelReader {
    private var bytes: [UInt8] = []
    private(set) var isClosed = false

    /// Reads what has come, without waiting.
    mutating func receive(_ channel: Channel) {
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while !isClosed {
            let count = walpool_receive(channel.descriptor, &chunk, chunk.count)
            if count > 0 { bytes += chunk[..<count] }
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            if count <= 0 { isClosed = true }
        }
    }

    mutating func next() -> Channel.Message? {
        guard bytes.count >= 5 else { return nil }
        let length = Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 1, as: UInt32.self) })
        guard bytes.count >= 5 + length else { return nil }
        let kind = bytes[0]
        let body = Array(bytes[5..<5 + length])
        bytes.removeFirst(5 + length)
        func number() -> UInt64 { body.count < 8 ? 0 : body.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }
        switch kind {
        case 0: return .ready
        case 1: return .failed(String(decoding: body, as: UTF8.self))
        case 2: return .progress(Int(number()))
        default: return .tally(Array(body.dropFirst(8)), processorSeconds: Double(bitPattern: number()))
        }
    }
}
