/// What a client receives, cut into messages and checked byte by byte.
/// https://www.postgresql.org/docs/current/protocol-message-formats.html
struct BackendStream {
    private var bytes: [UInt8] = []
    private var position = 0

    var isEmpty: Bool { position == bytes.count }

    mutating func receive(_ more: [UInt8]) {
        bytes.removeFirst(position)
        position = 0
        bytes += more
    }

    /// The one byte that answers a request for encryption; nil when it has not arrived.
    mutating func answerToEncryptionRequest() -> Character? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return Character(Unicode.Scalar(bytes[position]))
    }

    /// The next message, when all of it is there.
    mutating func next() -> BackendMessage? {
        guard bytes.count - position >= 5 else { return nil }
        let length = bytes[(position + 1)..<(position + 5)].reduce(0) { $0 << 8 | Int($1) }
        require(length >= 4 && length <= 1 << 30, "a message's length is one: \(length)")
        guard bytes.count - position > length else { return nil }
        defer { position += 1 + length }
        return BackendMessage(
            type: Character(Unicode.Scalar(bytes[position])), body: Array(bytes[(position + 5)..<(position + 1 + length)]))
    }
}

struct BackendMessage {
    let type: Character
    let body: [UInt8]

    /// The body is what its type says.
    func check() {
        var reader = BackendReader(body)
        switch type {
        case "1", "2", "3", "c", "I", "n", "s": break
        case "C": reader.string()
        case "D":
            for _ in 0..<reader.int16() {
                let length = reader.int32()
                require(length >= -1, "a value's length is one")
                if length > 0 { reader.skip(length) }
            }
        case "E", "N": checkFields(&reader)
        case "K":
            _ = reader.int32()
            require((4...256).contains(reader.left), "a cancel key has 4 to 256 bytes")
            reader.skip(reader.left)
        case "R": require(reader.int32() == 0, "nobody is asked for a password")
        case "S":
            reader.string()
            reader.string()
        case "T":
            for _ in 0..<reader.int16() {
                reader.string()
                reader.skip(16)
                require((0...1).contains(reader.int16()), "a column's format is one")
            }
        case "t": reader.skip(4 * reader.int16())
        case "v":
            _ = reader.int32()
            for _ in 0..<reader.int32() { reader.string() }
        case "Z": require([73, 84, 69].contains(reader.byte()), "a transaction's status is one of I, T and E")
        case "A":
            _ = reader.int32()
            reader.string()
            reader.string()
        case "d": reader.skip(reader.left)
        case "G", "H":
            require((0...1).contains(reader.byte()), "a copy's format is one")
            for _ in 0..<reader.int16() { require((0...1).contains(reader.int16()), "a column's format is one") }
        default: require(false, "no server sends a message of type \(type)")
        }
        require(reader.left == 0, "nothing follows in the body of \(type)")
    }

    private func checkFields(_ reader: inout BackendReader) {
        var seen: Set<UInt8> = []
        while true {
            let field = reader.byte()
            if field == 0 { break }
            require(seen.insert(field).inserted, "a field of an error comes once")
            reader.string()
        }
        for field in "SVCM".utf8 { require(seen.contains(field), "an error has a severity, a state and a message") }
    }

    /// A field of an ErrorResponse or NoticeResponse.
    func field(_ code: Character) -> String? {
        for part in body.split(separator: 0) where part.first == code.asciiValue {
            return String(decoding: part.dropFirst(), as: UTF8.self)
        }
        return nil
    }

    /// How many columns a RowDescription or DataRow has.
    var columns: Int { Int(body[0]) << 8 | Int(body[1]) }

    var isFatal: Bool { type == "E" && ["FATAL", "PANIC"].contains(field("V") ?? "") }
}

/// Reads a body and insists on what it reads being there.
private struct BackendReader {
    private let body: [UInt8]
    private var position = 0

    init(_ body: [UInt8]) { self.body = body }

    var left: Int { body.count - position }

    mutating func skip(_ count: Int) {
        require(count >= 0 && count <= left, "a body is as long as what is in it")
        position += count
    }

    mutating func byte() -> UInt8 {
        skip(1)
        return body[position - 1]
    }

    mutating func int16() -> Int { Int(byte()) << 8 | Int(byte()) }
    mutating func int32() -> Int { Int(Int32(truncatingIfNeeded: int16() << 16 | int16())) }

    /// A NUL ends it, and it is text.
    mutating func string() {
        guard let nul = body[position...].firstIndex(of: 0) else { return require(false, "a string ends") }
        require(
            String(validating: body[position..<nul], as: UTF8.self) != nil, "what a client is told is UTF-8")
        position = nul + 1
    }
}
