@testable import PostgresWire
@testable import Server

/// One client's view of its session: what it has sent, and what it may be told in return.
///
/// The protocol answers in order (https://www.postgresql.org/docs/current/protocol-flow.html), so each message received
/// must fit the first message sent that is not answered in full.
struct Conversation {
    private enum Phase {
        case startup(refused: Set<UInt8>), greeting, started, over
        /// It speaks HTTP, and is answered so.
        case foreign
    }

    private var phase = Phase.startup(refused: [])
    private var stream = BackendStream()
    private var sent: [UInt8] = []
    private var position = 0
    /// Messages sent and not answered in full.
    private var questions: [Question] = []
    private var skipsUntilSync = false
    /// The client has sent what ends the session: Terminate, or bytes that are no message.
    private(set) var hasAskedToEnd = false
    private(set) var hasBeenRefused = false
    /// It keeps the server waiting for too long to be told why it is left.
    var mayBeCutOff = false
    private(set) var processID: Int32 = 0
    private(set) var key: [UInt8] = []
    private(set) var status: Character = "?"
    /// SQLSTATEs, command tags and rows so far, for who wants to know what was answered.
    private(set) var errors: [String] = []
    private(set) var tags: [String] = []
    private(set) var rows = 0

    /// A message that was sent.
    private struct Question {
        let type: UInt8
        let describesStatement: Bool
        var isAnswered = true
        /// What was announced for the rows that follow.
        var columns: Int?
        var hasFailed = false
        var hasParameters = false
    }

    var isStarted: Bool { if case .started = phase { true } else { false } }

    // MARK: Sending

    mutating func send(_ bytes: [UInt8]) {
        sent += bytes
        while !hasAskedToEnd, takeQuestion() {}
    }

    /// Notes the next message that the server will find, when all of it has been sent.
    private mutating func takeQuestion() -> Bool {
        switch phase {
        case .startup: return takeStartup()
        case .greeting, .over, .foreign: return false
        case .started: break
        }
        return sent.withUnsafeBytes { bytes in
            switch FrameDecoder.next(in: bytes, at: position, maximumBodyLength: SessionLimits.messageBytes) {
            case .incomplete: return false
            case .invalid:
                hasAskedToEnd = true
                return false
            case .message(let type, let body, let next):
                position = next
                if type == .terminate || type == .password { hasAskedToEnd = true }
                var question = Question(type: type.rawValue, describesStatement: bytes[body].first == UInt8(ascii: "S"))
                // A Flush with something in it is an error.
                question.isAnswered =
                    [.query, .parse, .bind, .describe, .close, .execute, .sync, .functionCall].contains(type)
                    || (type == .flush && !body.isEmpty)
                questions.append(question)
                return true
            }
        }
    }

    private mutating func takeStartup() -> Bool {
        guard case .startup(let refused) = phase else { return false }
        let frame = sent.withUnsafeBytes { FrameDecoder.nextStartup(in: $0, at: position) }
        switch frame {
        case .incomplete: return false
        case .sslRequest(let next): return asksForEncryption(UInt8(ascii: "S"), refused, next)
        case .gssEncryptionRequest(let next): return asksForEncryption(UInt8(ascii: "G"), refused, next)
        case .cancel, .invalid:
            hasAskedToEnd = true
            return false
        case .startup(_, let next):
            position = next
            phase = .greeting
            return false
        case .http:
            phase = .foreign
            return false
        }
    }

    private mutating func asksForEncryption(_ kind: UInt8, _ refused: Set<UInt8>, _ next: Int) -> Bool {
        guard !refused.contains(kind) else {
            hasAskedToEnd = true
            return false
        }
        position = next
        phase = .startup(refused: refused.union([kind]))
        questions.append(Question(type: 0, describesStatement: false))
        return true
    }

    // MARK: Receiving

    mutating func receive(_ bytes: [UInt8]) {
        if case .foreign = phase { return }
        stream.receive(bytes)
        while questions.first?.type == 0 {
            guard let answer = stream.answerToEncryptionRequest() else { return }
            require(answer == "N", "encryption is refused with N")
            questions.removeFirst()
        }
        while let message = stream.next() {
            message.check()
            take(message)
            // What came behind it, in one go, is no answer of this protocol's either.
            if case .foreign = phase { return }
            while !hasAskedToEnd, takeQuestion() {}
        }
    }

    private mutating func take(_ message: BackendMessage) {
        require(!hasBeenRefused, "nothing follows a fatal error")
        if message.type == "E" {
            let state = message.field("C") ?? ""
            require(state != "XX000", "no error is the server's own: \(message.field("M") ?? "")")
            errors.append(state)
        }
        if message.isFatal {
            hasBeenRefused = true
            return
        }
        if message.type == "N" || message.type == "A" { return }
        if case .greeting = phase { return takeGreeting(message) }
        guard case .started = phase else { return require(false, "nobody asked: \(message.type)") }
        if message.type == "S" { return }
        dropUnanswered()
        guard !questions.isEmpty else { return require(false, "nobody asked: \(message.type)") }
        answer(message)
    }

    private mutating func takeGreeting(_ message: BackendMessage) {
        switch message.type {
        case "R", "S", "v": break
        case "K":
            processID = message.body[..<4].reduce(0) { $0 << 8 | Int32($1) }
            key = Array(message.body[4...])
        case "Z":
            require(!key.isEmpty, "a client has a key when it may begin")
            status = "I"
            phase = .started
        default: require(false, "a greeting has no message of type \(message.type)")
        }
    }

    /// What has no answer of its own, or is skipped after an error, is done with.
    private mutating func dropUnanswered() {
        while let first = questions.first {
            let isSkipped = skipsUntilSync && first.type != UInt8(ascii: "S")
            if first.isAnswered && !isSkipped { return }
            questions.removeFirst()
        }
    }

    private mutating func answer(_ message: BackendMessage) {
        if message.type == "C" { tags.append(String(decoding: message.body.dropLast(), as: UTF8.self)) }
        if message.type == "D" { rows += 1 }
        let type = Character(Unicode.Scalar(questions[0].type))
        let isSimple = "QSF".contains(type)
        switch (type, message.type) {
        case (_, "Z") where isSimple:
            require(type == "S" || type == "Q" || questions[0].hasFailed, "a function call fails")
            status = Character(Unicode.Scalar(message.body[0]))
            if type == "S" { skipsUntilSync = false }
            questions.removeFirst()
        case (_, "E"):
            require(!questions[0].hasFailed, "a message fails once")
            questions[0].hasFailed = true
            guard !isSimple else { return }
            questions.removeFirst()
            skipsUntilSync = true
        case ("P", "1"), ("B", "2"), ("C", "3"), ("E", "I"), ("E", "s"), ("E", "C"), ("D", "n"):
            questions.removeFirst()
        case ("D", "t") where questions[0].describesStatement && !questions[0].hasParameters:
            questions[0].hasParameters = true
        case ("D", "T"):
            questions.removeFirst()
        case ("E", "D"):
            require(message.columns == questions[0].columns ?? message.columns, "all rows have the same columns")
            questions[0].columns = message.columns
        case ("Q", "G"), ("E", "G"):
            // From here on what it sends are data, and what of it is a message is another protocol's question.
            phase = .foreign
        case ("Q", "H"), ("E", "H"), ("Q", "d"), ("E", "d"), ("Q", "c"), ("E", "c"): break
        case ("Q", _): answerQuery(message)
        default: require(false, "\(message.type) is no answer to \(type)")
        }
    }

    private mutating func answerQuery(_ message: BackendMessage) {
        require(!questions[0].hasFailed, "nothing but Z follows the error of a query")
        switch message.type {
        case "T":
            require(questions[0].columns == nil, "columns are described once for each statement")
            questions[0].columns = message.columns
        case "D": require(message.columns == questions[0].columns, "a row has the columns that were described")
        case "C", "I": questions[0].columns = nil
        default: require(false, "\(message.type) is no answer to Q")
        }
    }

    // MARK: Afterwards

    /// Everything sent has been answered, as far as it is whole.
    mutating func isAnswered() -> Bool {
        if hasBeenRefused { return true }
        if case .greeting = phase { return false }
        if case .foreign = phase { return true }
        dropUnanswered()
        if hasAskedToEnd { return false }
        // In the middle of a pipeline the reply waits for its Sync or Flush (`Session.keepsReply`).
        let pieces: [FrontendMessageType] = [.parse, .bind, .describe, .execute, .close]
        return questions.allSatisfy { question in pieces.contains { $0.rawValue == question.type } }
    }

    /// The server has closed the connection.
    mutating func wasClosed() {
        if case .foreign = phase { return }
        guard !mayBeCutOff else { return }
        require(stream.isEmpty, "a message is sent whole or not at all")
        require(hasBeenRefused || hasAskedToEnd, "a session does not end without a word")
        if !hasBeenRefused {
            dropUnanswered()
            require(questions.isEmpty, "what was asked before the end is answered: \(description)")
        }
        phase = .over
    }

    /// What is not answered, for a person to read.
    var description: String {
        "questions \(questions.map { Character(Unicode.Scalar($0.type)) }) \(phase) errors \(errors) status \(status)"
    }
}
