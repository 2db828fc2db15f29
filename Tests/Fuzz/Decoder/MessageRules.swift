@testable import PostgresWire

/// The messages of a started session: cut, decoded, and written again.
enum MessageRules {
    private static let maximumBodyLength = 1 << 20

    static func check(_ bytes: UnsafeRawBufferPointer) {
        let whole = cut(bytes, arrivesInPieces: false)
        require(whole == cut(bytes, arrivesInPieces: true), "messages do not depend on how their bytes arrive")
        for message in whole.messages {
            onExactCopy(UnsafeRawBufferPointer(rebasing: bytes[message.body])) { decode(message.type, $0) }
        }
    }

    struct Message: Equatable {
        var type: UInt8
        var body: Range<Int>
    }

    struct Cut: Equatable {
        var messages: [Message] = []
        var end = 0
        /// Why nothing beyond `end` can be read, or nil: it has not arrived.
        var refusal: String?
    }

    /// Cuts a stream as a session does; in pieces: trying again after each byte.
    static func cut(_ bytes: UnsafeRawBufferPointer, arrivesInPieces: Bool) -> Cut {
        var cut = Cut()
        for arrived in stride(from: arrivesInPieces ? 0 : bytes.count, through: bytes.count, by: 1) {
            let sofar = UnsafeRawBufferPointer(rebasing: bytes[..<arrived])
            frames: while true {
                switch FrameDecoder.next(in: sofar, at: cut.end, maximumBodyLength: maximumBodyLength) {
                case .incomplete:
                    break frames
                case .invalid(let error):
                    require(error.severity == .fatal, "a stream that cannot be read on ends the session")
                    cut.refusal = error.message + (error.detail ?? "")
                    return cut
                case .message(let type, let body, let next):
                    require(
                        body.lowerBound == cut.end + 5 && body.upperBound == next && next <= arrived,
                        "a message lies within what has arrived")
                    cut.messages.append(Message(type: type.rawValue, body: body))
                    cut.end = next
                }
            }
        }
        return cut
    }

    /// What is accepted says everything its bytes say: written again it is the same.
    static func decode(_ type: UInt8, _ body: UnsafeRawBufferPointer) {
        var written = FrontendWriter()
        do throws(WireError) {
            switch type {
            case UInt8(ascii: "Q"): written.string(try QueryMessage(body: body).sql)
            case UInt8(ascii: "P"):
                let parse = try ParseMessage(body: body)
                written.string(parse.name)
                written.string(parse.sql)
                written.int16(parse.parameterTypes.count)
                for type in parse.parameterTypes { written.int32(Int(type.rawValue)) }
            case UInt8(ascii: "B"): write(try BindMessage(body: body), &written)
            case UInt8(ascii: "D"):
                let describe = try DescribeMessage(body: body)
                written.byte(describe.kind.rawValue)
                written.string(describe.name)
            case UInt8(ascii: "C"):
                let close = try CloseMessage(body: body)
                written.byte(close.kind.rawValue)
                written.string(close.name)
            case UInt8(ascii: "E"):
                let execute = try ExecuteMessage(body: body)
                written.string(execute.portal)
                written.int32(execute.maxRows)
            case UInt8(ascii: "f"): written.string(try CopyFailMessage(body: body).reason)
            default: return
            }
        } catch {
            require(error.severity == .error, "a bad message whose end is known does not end the session")
            return
        }
        require(written.bytes.elementsEqual(body), "a message written again is the same message")
    }

    private static func write(_ bind: BindMessage, _ written: inout FrontendWriter) {
        written.string(bind.portal)
        written.string(bind.statement)
        written.formats(bind.parameterFormats)
        written.int16(bind.parameterCount)
        var count = 0
        for parameter in bind.parameters {
            require(parameter.format == bind.parameterFormats[count], "a parameter has its own format")
            count += 1
            written.int32(parameter.bytes?.count ?? -1)
            if let bytes = parameter.bytes { written.bytes += bytes }
        }
        require(count == bind.parameterCount, "there are as many parameters as were announced")
        written.formats(bind.resultFormats)
        for column in -1...bind.resultFormatCount { _ = bind.resultFormat(column: column) }
    }
}
