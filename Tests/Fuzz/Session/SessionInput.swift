/// One input of the session target: what several clients do, one step after the other.
///
/// The first byte chooses the configuration. Each step begins with a byte: two bits for the client, three for what it
/// does, three for how. `send` and `post` are followed by two bytes of length and so many bytes of a client's stream,
/// which may begin and end anywhere in a message.
struct SessionInput {
    var configuration: UInt8 = 0
    var steps: [Step] = []

    struct Step {
        var client: Int
        var action: Action
        /// 0 to 7.
        var choice: UInt8 = 0
        var bytes: [UInt8] = []
    }

    enum Action: UInt8, CaseIterable {
        /// Sends bytes, and the server handles what it can.
        case send
        /// Sends bytes that the server finds only when something else happens.
        case post
        /// Closes its socket.
        case hangUp
        /// Stops reading (0), reads again (1), or says that nothing more will come (2).
        case reading
        /// Asks for the cancel of what another client does; odd choices have a wrong key.
        case cancel
        /// Time passes: 10 ms times ten to the power of the choice.
        case wait
        /// Connects, if it is not connected: see `Greeting`.
        case connect
        /// The server handles one event and no more.
        case oneEvent
    }

    static let clients = 4
    private static let mostSteps = 64

    init() {}

    init(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        configuration = reader.byte()
        while !reader.rest.isEmpty, steps.count < Self.mostSteps {
            let head = reader.byte()
            var step = Step(
                client: Int(head & 3), action: Action(rawValue: head >> 2 & 7) ?? .send, choice: head >> 5)
            if step.hasBytes {
                let length = Int(reader.byte()) << 8 | Int(reader.byte())
                step.bytes = Array(reader.bytes(length))
            }
            steps.append(step)
        }
    }

    var encoded: [UInt8] {
        var result = [configuration]
        for step in steps {
            result.append(UInt8(step.client) | step.action.rawValue << 2 | step.choice << 5)
            if step.hasBytes {
                let bytes = step.bytes.prefix(0xFFFF)
                result += [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
            }
        }
        return result
    }
}

extension SessionInput.Step {
    var hasBytes: Bool { action == .send || action == .post }
}
