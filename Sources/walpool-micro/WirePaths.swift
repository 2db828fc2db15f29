import PostgresWire

/// Messages in, messages out.
extension MicroPath {
    static let wire = [
        MicroPath("decode-execution", 50_000, "cut and read Bind (one int8, one text), Execute and Sync") { count in
            var input = preparedExecution
            var sum = 0
            for number in 0..<count {
                // Another value each time, or the compiler might decode once.
                input[valueOffset] = UInt8(truncatingIfNeeded: number)
                sum &+= try input.withUnsafeBytes { try decodeBatch($0) }
            }
            return sum
        },
        MicroPath("encode-row-integer", 50_000, "a DataRow of one int8 in text") { count in
            encodeRows(count) { $0.fieldIntegerText(Int64(truncatingIfNeeded: $1 &* 0x9E37_79B9) & 0xF_FFFF) }
        },
        MicroPath("encode-row-text", 50_000, "a DataRow of one text of 20 bytes") { count in
            let text = Array("twenty bytes of text".utf8)
            return text.withUnsafeBytes { text in encodeRows(count) { out, _ in out.fieldText(text) } }
        },
        MicroPath("encode-row-float", 50_000, "a DataRow of one float8 in text, 16 or 17 digits") { count in
            encodeRows(count) { $0.fieldDoubleText(Double($1) / 7) }
        },
        MicroPath("encode-row-float-binary", 50_000, "a DataRow of one float8 in binary") { count in
            encodeRows(count) { $0.fieldBinary(Double($1) / 7) }
        },
        MicroPath("encode-row-description", 50_000, "a RowDescription of int8, text and float8") { count in
            let fields = [
                FieldDescription(name: "id", type: .int8), FieldDescription(name: "name", type: .text),
                FieldDescription(name: "seconds", type: .float8),
            ]
            let out = OutputBuffer()
            return encode(count, into: out) { _ in out.rowDescription(fields) }
        },
    ]

    /// What a driver sends to run a prepared statement once more: `SELECT … WHERE a = $1 AND b = $2`.
    private static let preparedExecution: [UInt8] = {
        let bind: [UInt8] =
            [0] + Array("S_1".utf8) + [0]
            + [0, 1, 0, 0]  // every parameter in text
            + [0, 2, 0, 0, 0, 5] + Array("12345".utf8) + [0, 0, 0, 20] + Array("twenty bytes of text".utf8)
            + [0, 1, 0, 0]  // every column in text
        return message("B", bind) + message("E", [0, 0, 0, 0, 0]) + message("S", [])
    }()

    /// The first digit of the first parameter.
    private static let valueOffset = 5 + 5 + 4 + 2 + 4

    private static func message(_ type: Unicode.Scalar, _ body: [UInt8]) -> [UInt8] {
        [UInt8(ascii: type), 0, 0, 0, UInt8(body.count + 4)] + body
    }

    /// As a session takes its input apart.
    @inline(never)
    private static func decodeBatch(_ input: UnsafeRawBufferPointer) throws(WireError) -> Int {
        var position = 0
        var sum = 0
        while case .message(let type, let range, let next) = FrameDecoder.next(
            in: input, at: position, maximumBodyLength: 1 << 26)
        {
            let body = UnsafeRawBufferPointer(rebasing: input[range])
            switch type {
            case .bind:
                let bind = try BindMessage(body: body)
                for parameter in bind.parameters { sum &+= Int(parameter.bytes?.first ?? 0) }
                sum &+= bind.resultFormatCount &+ Int(bind.resultFormat(column: 0).rawValue)
            case .execute:
                sum &+= try ExecuteMessage(body: body).maxRows
            default:
                sum &+= 1
            }
            position = next
        }
        return sum
    }

    private static func encodeRows(_ count: Int, _ field: (OutputBuffer, Int) -> Void) -> Int {
        let out = OutputBuffer()
        return encode(count, into: out) { number in
            let mark = out.beginDataRow(columns: 1)
            field(out, number)
            _ = out.endDataRow(mark)
        }
    }

    /// Empties the buffer whenever a session would send it.
    private static func encode(_ count: Int, into out: OutputBuffer, _ message: (Int) -> Void) -> Int {
        var bytes = 0
        for number in 0..<count {
            message(number)
            if out.count >= 32 << 10 {
                bytes &+= out.count
                out.consume(out.count)
            }
        }
        return bytes &+ out.count
    }
}
