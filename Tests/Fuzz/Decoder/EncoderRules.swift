@testable import PostgresWire

/// The output buffer beside a model of it, and messages read again as a client reads them.
enum EncoderRules {
    static func check(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        if reader.byte() & 1 == 0 { checkBuffer(&reader) } else { checkMessages(&reader) }
    }

    /// Bytes go in at the end and out at the front; marks keep their meaning.
    private static func checkBuffer(_ reader: inout InputReader) {
        let out = OutputBuffer()
        var model: [UInt8] = []
        var first = 0
        while !reader.rest.isEmpty {
            switch reader.byte() % 8 {
            case 0:
                let bytes = reader.bytes(Int(reader.byte()))
                out.append(bytes)
                model += bytes
            case 1:
                let count = min(model.count, Int(reader.byte()) * 8)
                out.consume(count)
                model.removeFirst(count)
                first += count
            case 2:
                let kept = min(model.count, Int(reader.byte()) * 8)
                out.truncate(toEnd: first + kept)
                model.removeLast(model.count - kept)
            case 3 where model.count >= 4:
                let place = Int(reader.byte()) % (model.count - 3)
                let value = Int32(truncatingIfNeeded: reader.integer())
                out.patch32(value, atEnd: first + place)
                withUnsafeBytes(of: value.bigEndian) { model.replaceSubrange(place..<place + 4, with: $0) }
            case 4:
                let text = reader.bytes(Int(reader.byte()))
                let mark = out.beginMessage(UInt8(ascii: "d"))
                out.append(text)
                require(out.endMessage(mark), "a short message fits")
                var message = FrontendWriter()
                message.byte(UInt8(ascii: "d"))
                message.int32(text.count + 4)
                model += message.bytes + text
            case 5: out.releaseMemory(above: Int(reader.byte()))
            case 6:
                let value = Int64(bitPattern: reader.integer())
                out.appendDecimal(value)
                model += Array("\(value)".utf8)
            default:
                let bytes = [UInt8](repeating: reader.byte(), count: Int(reader.byte()) * 16)
                bytes.withUnsafeBytes { out.append($0) }
                model += bytes
            }
            require(out.readable.elementsEqual(model), "what was written and not taken is there")
            require(out.start == first && out.end == first + model.count && out.count == model.count, "positions go on")
        }
        require(!out.hasHole, "there was memory")
    }

    private static func checkMessages(_ reader: inout InputReader) {
        let out = OutputBuffer()
        var kinds = ""
        while !reader.rest.isEmpty, kinds.utf8.count < 64 {
            let text = String(decoding: reader.bytes(Int(reader.byte()) % 32), as: UTF8.self)
            switch reader.byte() % 8 {
            case 0:
                out.error(
                    WireError(
                        state: .syntaxError, message: text, detail: text, hint: text,
                        position: Int(truncatingIfNeeded: reader.integer() >> 1), schema: text, table: text, column: text,
                        constraint: text))
                kinds += "E"
            case 1:
                out.parameterStatus(text, text)
                kinds += "S"
            case 2:
                out.commandComplete(text)
                kinds += "C"
            case 3:
                out.negotiateProtocolVersion(newestMinor: 2, unsupported: [text, text])
                kinds += "v"
            case 4: kinds += describeAndSendRow(text, &reader, out)
            case 5:
                out.commandComplete("INSERT 0", count: Int64(bitPattern: reader.integer()))
                kinds += "C"
            case 6:
                out.parameterDescription([.int8, .text])
                kinds += "t"
            default:
                out.notice(WireError(severity: .notice, state: .successfulCompletion, message: text))
                kinds += "N"
            }
        }
        var stream = BackendStream()
        stream.receive(Array(out.readable))
        var read = ""
        while let message = stream.next() {
            message.check()
            read.append(message.type)
        }
        require(read == kinds && stream.isEmpty, "messages written are read as the same: \(kinds) \(read)")
    }

    private static func describeAndSendRow(_ name: String, _ reader: inout InputReader, _ out: OutputBuffer) -> String {
        let columns = Int(reader.byte()) % 8
        var positions: [Int] = []
        out.rowDescription(
            (0..<columns).map { FieldDescription(name: name, type: $0 % 2 == 0 ? .int8 : .text) }, oidPositions: &positions)
        require(positions.count == columns, "every column has a place for its type")
        if let position = positions.last { out.patchType(.float8, at: position) }
        let mark = out.beginDataRow(columns: columns)
        for column in 0..<columns {
            switch reader.byte() % 6 {
            case 0: out.fieldNull()
            case 1: out.fieldText(reader.bytes(column * 3))
            case 2: out.fieldIntegerText(Int64(bitPattern: reader.integer()))
            case 3: out.fieldDoubleText(Double(bitPattern: reader.integer()))
            case 4: out.fieldByteaText(reader.bytes(column * 3))
            default: out.fieldBoolBinary(true)
            }
        }
        require(out.endDataRow(mark), "a short row fits")
        return "TD"
    }
}
