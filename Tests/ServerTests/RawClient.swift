import Glibc
import Testing

/// A blocking client that speaks the wire protocol byte by byte, so that a test decides what is sent when.
final class RawClient {
    private let socket: Int32
    private var received: [UInt8] = []
    private var isOpen = true
    private(set) var processID: Int32 = 0
    private(set) var key: [UInt8] = []
    private(set) var status: [String: String] = [:]

    /// A test that waits longer for an answer fails instead of hanging.
    static let hangSeconds: Int64 = 60
    struct Hangs: Error {}
    struct Gone: Error {}

    init(_ path: String, receiveBuffer: Int32 = 0) throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.path = path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        var limit = timeval(tv_sec: Int(Self.hangSeconds), tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Gone() }
    }

    private let path: String

    deinit { close() }

    func close() {
        if isOpen { Glibc.close(socket) }
        isOpen = false
    }

    // MARK: Bytes

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 && errno == EINTR { continue }
            if count <= 0 { return }
            sent += count
        }
    }

    /// False at the end of the stream.
    private func receiveMore() throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65536)
        var count = 0
        // A ring that this thread used is taken down after its close, and the thread interrupted for it. Sockets with a time limit
        // "always fail with the error EINTR" then, SA_RESTART or not: signal(7).
        repeat { count = recv(socket, &buffer, buffer.count, 0) } while count < 0 && errno == EINTR
        if count > 0 {
            received += buffer[..<count]
            return true
        }
        if count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) { throw Hangs() }
        return false
    }

    private func take(_ count: Int) throws -> [UInt8]? {
        while received.count < count { if try !receiveMore() { return nil } }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    /// Whether the server has closed the connection, and sent nothing more.
    func isClosedByServer() throws -> Bool { try take(1) == nil }

    func byte() throws -> UInt8? { try take(1)?.first }

    struct Message {
        var type: Character
        var body: [UInt8]
    }

    func message() throws -> Message? {
        guard let head = try take(5) else { return nil }
        let length = head[1...].reduce(0) { $0 << 8 | Int($1) }
        guard let body = try take(length - 4) else { return nil }
        return Message(type: Character(UnicodeScalar(head[0])), body: body)
    }

    static func int32(_ value: Int32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
    static func int16(_ value: Int16) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
    static func string(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }
    static func message(_ type: Character, _ body: [UInt8] = []) -> [UInt8] {
        [type.asciiValue!] + int32(Int32(body.count + 4)) + body
    }

    // MARK: Starting and cancelling

    static func startupPacket(_ parameters: [(String, String)], version: Int32 = 196608) -> [UInt8] {
        let body = int32(version) + parameters.flatMap { string($0.0) + string($0.1) } + [0]
        return int32(Int32(body.count + 4)) + body
    }

    @discardableResult
    func startUp(_ parameters: [(String, String)], version: Int32 = 196608) throws -> Reply {
        send(Self.startupPacket(parameters, version: version))
        return try reply()
    }

    /// Asks for a cancel as libpq does: on a connection of its own, until the server has closed it.
    func cancel(key other: [UInt8]? = nil) throws {
        let request = try RawClient(path)
        let key = other ?? self.key
        request.send(Self.int32(Int32(12 + key.count)) + Self.int32(80_877_102) + Self.int32(processID) + key)
        // A key that cannot be one may be told so; then comes the end.
        while try request.byte() != nil {}
    }

    // MARK: Sending

    func sendQuery(_ sql: String) { send(Self.message("Q", Self.string(sql))) }

    static func parse(_ sql: String, name: String = "") -> [UInt8] {
        message("P", string(name) + string(sql) + int16(0))
    }
    static func bind(_ values: [String?] = [], portal: String = "", statement: String = "") -> [UInt8] {
        let parameters = values.flatMap { value in
            value.map { int32(Int32($0.utf8.count)) + Array($0.utf8) } ?? int32(-1)
        }
        return message(
            "B", string(portal) + string(statement) + int16(0) + int16(Int16(values.count)) + parameters + int16(0))
    }
    static func execute(portal: String = "", maxRows: Int32 = 0) -> [UInt8] {
        message("E", string(portal) + int32(maxRows))
    }
    static func closePortal(_ name: String) -> [UInt8] { message("C", [UInt8(ascii: "P")] + string(name)) }
    static func describePortal(_ name: String = "") -> [UInt8] { message("D", [UInt8(ascii: "P")] + string(name)) }
    static let sync = message("S")
    static let flush = message("H")

    // MARK: Replies

    /// What came up to ReadyForQuery, or up to the end of the stream.
    struct Reply: Equatable {
        /// The values of a row, joined by "|".
        var rows: [String] = []
        var tags: [String] = []
        /// SQLSTATEs, and how severe each was.
        var errors: [String] = []
        var severities: [String] = []
        var texts: [String] = []
        var isSuspended = false
        /// "I", "T" or "E"; nil: the server has closed the connection.
        var status: Character?

        /// Drawn: rows, then tags or errors, then the state.
        var picture: String {
            (rows + tags + errors + (isSuspended ? ["suspended"] : []) + [status.map(String.init) ?? "closed"])
                .joined(separator: " ")
        }
    }

    @discardableResult
    func reply() throws -> Reply { try replies { $0 == "Z" } }

    /// Up to the first of these messages: for what is sent without a Sync.
    func replies(upTo isEnd: (Character) -> Bool) throws -> Reply {
        var reply = Reply()
        while let message = try message() {
            take(message, &reply)
            if isEnd(message.type) { return reply }
        }
        return reply
    }

    private func take(_ message: Message, _ reply: inout Reply) {
        let body = message.body
        switch message.type {
        case "Z": reply.status = Character(UnicodeScalar(body[0]))
        case "C": reply.tags.append(String(decoding: body.dropLast(), as: UTF8.self))
        case "D": reply.rows.append(Self.row(body))
        case "s": reply.isSuspended = true
        case "E":
            let fields = Self.fields(body)
            reply.errors.append(fields["C"] ?? "?")
            reply.severities.append(fields["S"] ?? "?")
            reply.texts.append(fields["M"] ?? "?")
        case "K":
            processID = Int32(truncatingIfNeeded: body[..<4].reduce(0) { $0 << 8 | Int($1) })
            key = Array(body[4...])
        case "S":
            let parts = body.split(separator: 0, omittingEmptySubsequences: false)
            status[String(decoding: parts[0], as: UTF8.self)] = String(decoding: parts[1], as: UTF8.self)
        default: break
        }
    }

    private static func row(_ body: [UInt8]) -> String {
        var position = 2
        var values: [String] = []
        while position < body.count {
            let length = Int32(truncatingIfNeeded: body[position..<(position + 4)].reduce(0) { $0 << 8 | Int($1) })
            position += 4
            if length < 0 {
                values.append("NULL")
            } else {
                values.append(String(decoding: body[position..<(position + Int(length))], as: UTF8.self))
                position += Int(length)
            }
        }
        return values.joined(separator: "|")
    }

    private static func fields(_ body: [UInt8]) -> [Character: String] {
        var fields: [Character: String] = [:]
        for part in body.split(separator: 0) {
            fields[Character(UnicodeScalar(part.first!))] = String(decoding: part.dropFirst(), as: UTF8.self)
        }
        return fields
    }

    @discardableResult
    func query(_ sql: String) throws -> Reply {
        sendQuery(sql)
        return try reply()
    }
}
