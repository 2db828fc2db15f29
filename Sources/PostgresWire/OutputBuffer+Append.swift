import Glibc

// The primitives that messages are made of. An Intn is "an n-bit integer in network byte order (most significant byte
// first)", https://www.postgresql.org/docs/current/protocol-message-types.html
extension OutputBuffer {
    /// Byte1. Where there is no room, this and those below append nothing: then `endMessage` answers false, and outside of a message
    /// `hasHole` is true.
    @inlinable public func append(_ byte: UInt8) {
        guard let place = claim(1) else { return }
        place.storeBytes(of: byte, as: UInt8.self)
    }

    /// Int16: two bytes.
    @inlinable public func append16(_ value: Int16) {
        guard let place = claim(2) else { return }
        place.storeBytes(of: value.bigEndian, as: Int16.self)
    }

    /// Int32: four bytes.
    @inlinable public func append32(_ value: Int32) {
        guard let place = claim(4) else { return }
        place.storeBytes(of: value.bigEndian, as: Int32.self)
    }

    /// Eight bytes, such as the bits of a float8.
    @inlinable public func append64(_ value: UInt64) {
        guard let place = claim(8) else { return }
        place.storeBytes(of: value.bigEndian, as: UInt64.self)
    }

    /// Byte*n*: the bytes alone, without a length.
    @inlinable public func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty, let place = claim(bytes.count) else { return }
        place.copyMemory(from: source, byteCount: bytes.count)
    }

    /// The text's UTF-8, without a NUL.
    @inlinable public func append(_ text: StaticString) {
        text.withUTF8Buffer { append(UnsafeRawBufferPointer($0)) }
    }

    /// The same of a text that is made at run time. A NUL inside stays: `appendCString` is for fields that end with one.
    @inlinable public func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Appends the text and one NUL. "A null-terminated string": a NUL inside would end it early and shift every
    /// field behind it, so the text is cut there.
    public func appendCString(_ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            var bytes = UnsafeRawBufferPointer(utf8)
            if let base = bytes.baseAddress, let nul = memchr(base, 0, bytes.count) {
                bytes = UnsafeRawBufferPointer(start: base, count: UnsafeRawPointer(nul) - base)
            }
            append(bytes)
        }
        append(0 as UInt8)
    }

    /// Overwrites four bytes that have not been sent yet.
    @inlinable public func patch32(_ value: Int32, atEnd position: Int) {
        precondition(position >= start && position <= end - 4, "patching what is not in the buffer")
        guard let storage else { return }
        (storage + (position - shift)).storeBytes(of: value.bigEndian, as: Int32.self)
    }

    /// Begins a message and returns its mark, for `endMessage` or, to take it back, `truncate(toEnd:)`.
    @inlinable public func beginMessage(_ type: UInt8) -> Int {
        let mark = end
        openMessage = mark
        overflowed = false
        guard let place = claim(5) else { return mark }
        place.storeBytes(of: type, as: UInt8.self)
        return mark
    }

    /// Writes the message's length, which counts itself but not the type byte. When the message is too long it
    /// is taken back entirely, and the answer is false.
    @inlinable public func endMessage(_ mark: Int) -> Bool {
        let length = end - mark - 1
        openMessage = -1
        if overflowed || length > Self.maximumMessageLength {
            truncate(toEnd: mark)
            return false
        }
        patch32(Int32(truncatingIfNeeded: length), atEnd: mark + 1)
        return true
    }
}
