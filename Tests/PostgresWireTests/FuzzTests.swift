import TestSupport
import Testing

@testable import PostgresWire

/// Nothing here may trap; what the decoders answer matters less. All of it is the same on every run.
@Suite struct FuzzTests {
    @Test func everySingleByteCorruption() {
        for valid in validMessages {
            for index in valid.indices {
                var bytes = valid
                for value in UInt8.min...UInt8.max {
                    bytes[index] = value
                    walk(bytes)
                }
            }
        }
    }

    @Test func everyLengthWordReplaced() {
        for valid in validMessages where valid.count >= 4 {
            for index in 0...valid.count - 4 {
                for length in [-1, -2, 0, 3, 4, Int(Int32.min), Int(Int32.max), valid.count, valid.count - 5, valid.count - 6] {
                    var bytes = valid
                    bytes.replaceSubrange(index..<index + 4, with: Part.i32(length).bytes)
                    walk(bytes)
                }
            }
        }
    }

    @Test func randomBytes() {
        var generator = SeededGenerator(state: 4)
        let types = Array("QPBFdSHDCEXcfp".utf8)
        for round in 0..<30_000 {
            // Small values are frequent, so that counts and lengths are sometimes plausible.
            let bytes = (0..<Int(generator.next() % 48)).map { _ in
                let random = generator.next()
                return random & 0x300 == 0 ? UInt8(truncatingIfNeeded: random) : UInt8(truncatingIfNeeded: random & 3)
            }
            let type = types[round % types.count]
            withRaw(bytes) { buffer in
                _ = decode(type: type, buffer)
                _ = FrameDecoder.nextStartup(in: buffer, at: round % 3)
                _ = TextCodec.parseInt(buffer)
                _ = TextCodec.parseDouble(buffer)
                _ = TextCodec.parseBool(buffer)
                _ = TextCodec.parseBytea(buffer)
                _ = TextCodec.isValidUTF8(buffer)
            }
            walk(body(.i8(type), .i32(bytes.count + 4), .raw(bytes)))
            let packet = body(.i32(bytes.count + 8), .i32(0x30000 | round & 3), .raw(bytes))
            if case .startup(let message, _) = withRaw(packet, { FrameDecoder.nextStartup(in: $0, at: 0) }) {
                _ = try? message.optionSettings()
            }
        }
    }

    @Test func corruptedStartupPackets() {
        let valid = startup(minor: 2, [("user", "ann"), ("options", #"-c a=b --c=d\ "#), ("_pq_.x", "")])
        for index in valid.indices {
            var bytes = valid
            for value in UInt8.min...UInt8.max {
                bytes[index] = value
                if case .startup(let message, let next) = withRaw(bytes, { FrameDecoder.nextStartup(in: $0, at: 0) }) {
                    #expect(next <= bytes.count)
                    _ = try? message.optionSettings()
                }
            }
        }
    }

    /// Cuts the input into messages as a session does, and decodes each.
    private func walk(_ bytes: [UInt8]) {
        withRaw(bytes) { buffer in
            var position = 0
            while case .message(let type, let body, let next) = FrameDecoder.next(
                in: buffer, at: position, maximumBodyLength: 1 << 20)
            {
                guard next > position, next <= buffer.count, body.upperBound == next else {
                    Issue.record("a frame beyond the buffer")
                    return
                }
                _ = decode(type: type.rawValue, UnsafeRawBufferPointer(rebasing: buffer[body]))
                position = next
            }
        }
    }
}
