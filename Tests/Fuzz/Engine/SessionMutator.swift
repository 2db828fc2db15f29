import Glibc

/// Mutates sessions as what they are: steps of clients, with messages in them whose lengths are right.
///
/// libFuzzer's own mutations know bytes; most of what they make of a session ends at the first message's length. Here
/// they are let loose inside a message, whose length is then written anew, and on all bytes only now and then.
/// https://github.com/google/fuzzing/blob/master/docs/structure-aware-fuzzing.md
struct SessionMutator {
    private var generator: SeededGenerator

    init(seed: UInt32) { generator = SeededGenerator(state: UInt64(seed)) }

    private mutating func below(_ limit: Int) -> Int { generator.below(limit) }

    mutating func mutate(_ input: inout SessionInput) {
        for _ in 0...below(3) { mutateOnce(&input) }
    }

    private mutating func mutateOnce(_ input: inout SessionInput) {
        guard !input.steps.isEmpty else { return insertStep(&input) }
        let index = below(input.steps.count)
        switch below(20) {
        case 0: input.configuration ^= 1 << UInt8(below(5))
        case 1...2: insertStep(&input)
        case 3: input.steps.remove(at: index)
        case 4: input.steps.swapAt(index, below(input.steps.count))
        case 5: input.steps.insert(input.steps[index], at: below(input.steps.count + 1))
        case 6: input.steps[index].client = below(SessionInput.clients)
        case 7: input.steps[index].choice = UInt8(below(8))
        case 8: input.steps[index].action = input.steps[index].action == .send ? .post : .send
        case 9: split(&input, index)
        default: if input.steps[index].hasBytes { mutateBytes(&input.steps[index].bytes) }
        }
    }

    private mutating func insertStep(_ input: inout SessionInput) {
        var step = SessionInput.Step(
            client: below(SessionInput.clients), action: SessionInput.Action.allCases[below(8)], choice: UInt8(below(8)))
        if below(3) > 0 { step.action = .send }
        if step.hasBytes { step.bytes = Phrases.pick(&generator) }
        input.steps.insert(step, at: below(input.steps.count + 1))
    }

    /// What came at once comes in two pieces.
    private mutating func split(_ input: inout SessionInput, _ index: Int) {
        let bytes = input.steps[index].bytes
        guard bytes.count > 1 else { return }
        let place = 1 + below(bytes.count - 1)
        var rest = input.steps[index]
        input.steps[index].bytes = Array(bytes[..<place])
        rest.bytes = Array(bytes[place...])
        input.steps.insert(rest, at: index + 1 + below(input.steps.count - index))
    }

    // MARK: A stream of messages

    private mutating func mutateBytes(_ bytes: inout [UInt8]) {
        var messages = Self.messages(bytes)
        guard !messages.isEmpty, below(12) > 0 else { return letLoose(&bytes) }
        let index = below(messages.count)
        switch below(10) {
        case 0: messages.remove(at: index)
        case 1: messages.swapAt(index, below(messages.count))
        case 2: messages.insert(messages[index], at: below(messages.count + 1))
        case 3...4: messages.insert(Phrases.pick(&generator), at: below(messages.count + 1))
        default: mutateMessage(&messages[index])
        }
        bytes = Array(messages.joined())
    }

    private mutating func letLoose(_ bytes: inout [UInt8]) {
        let count = bytes.count
        bytes += [UInt8](repeating: 0, count: 64)
        let length = bytes.withUnsafeMutableBufferPointer { LLVMFuzzerMutate($0.baseAddress, count, $0.count) }
        bytes.removeLast(bytes.count - length)
    }

    /// The body is libFuzzer's to change; the length is made right, nearly always.
    private mutating func mutateMessage(_ message: inout [UInt8]) {
        guard message.count >= 5 else { return letLoose(&message) }
        var body = Array(message[5...])
        switch (message[0], below(3)) {
        case (UInt8(ascii: "Q"), 0): body = Phrases.statement(&generator) + [0]
        case (UInt8(ascii: "Q"), 1): body = body.dropLast() + Array("; ".utf8) + Phrases.statement(&generator) + [0]
        case (UInt8(ascii: "P"), 0): body = [0] + Phrases.statement(&generator) + [0, 0, 0]
        default: letLoose(&body)
        }
        let length = below(40) == 0 ? below(1 << 16) : body.count + 4
        message[1...] = [UInt8(length >> 24 & 0xFF), UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)] + body
    }

    /// Whole messages, and last what is none.
    private static func messages(_ bytes: [UInt8]) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var position = 0
        while bytes.count - position >= 5 {
            let length = bytes[(position + 1)..<(position + 5)].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 4, length < bytes.count - position else { break }
            messages.append(Array(bytes[position...(position + length)]))
            position += length + 1
        }
        if position < bytes.count { messages.append(Array(bytes[position...])) }
        return messages
    }
}

// MARK: What libFuzzer calls

@_cdecl("LLVMFuzzerCustomMutator")
public func customMutator(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ limit: Int, _ seed: UInt32) -> Int {
    if seed % 16 == 0 { return LLVMFuzzerMutate(data, size, limit) }
    var input = SessionInput(UnsafeRawBufferPointer(start: data, count: size))
    var mutator = SessionMutator(seed: seed)
    mutator.mutate(&input)
    return store(input.encoded, data, limit)
}

/// Steps of one session, then steps of another; or turn by turn.
@_cdecl("LLVMFuzzerCustomCrossOver")
public func customCrossOver(
    _ first: UnsafePointer<UInt8>, _ firstSize: Int, _ second: UnsafePointer<UInt8>, _ secondSize: Int,
    _ out: UnsafeMutablePointer<UInt8>, _ limit: Int, _ seed: UInt32
) -> Int {
    var generator = SeededGenerator(state: UInt64(seed))
    var result = SessionInput(UnsafeRawBufferPointer(start: first, count: firstSize))
    let other = SessionInput(UnsafeRawBufferPointer(start: second, count: secondSize)).steps
    if generator.next() & 1 == 0 {
        let place = Int(generator.next() % UInt64(result.steps.count + 1))
        result.steps.insert(contentsOf: other, at: place)
    } else {
        for (index, step) in other.enumerated() {
            result.steps.insert(step, at: min(result.steps.count, 2 * index + 1))
        }
    }
    return store(result.encoded, out, limit)
}

private func store(_ bytes: [UInt8], _ out: UnsafeMutablePointer<UInt8>, _ limit: Int) -> Int {
    let count = min(bytes.count, limit)
    bytes.withUnsafeBufferPointer { if let base = $0.baseAddress { memcpy(out, base, count) } }
    return count
}
