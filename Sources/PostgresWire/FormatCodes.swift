/// A list of format codes inside a Bind message. "This can be zero to indicate that there are no parameters or that the
/// parameters all use the default format (text); or one, in which case the specified format code is applied to all
/// parameters; or it can equal the actual number of parameters",
/// https://www.postgresql.org/docs/current/protocol-message-formats.html
@usableFromInline
struct FormatCodes {
    @usableFromInline let count: Int
    @usableFromInline let codes: UnsafeRawBufferPointer

    /// Reads the list and checks every code: "Each must presently be zero (text) or one (binary)."
    init(_ reader: inout MessageReader) throws(WireError) {
        count = try reader.count()
        codes = try reader.bytes(2 * count)
        for index in 0..<count {
            let code = Self.code(at: index, in: codes)
            guard Format(rawValue: code) != nil else {
                throw WireError(state: .invalidParameterValue, message: "unsupported format code: \(code)")
            }
        }
    }

    /// The format of the value at `index`: text when the list does not say.
    @inlinable subscript(index: Int) -> Format {
        let place = count == 1 ? 0 : index
        guard place >= 0, place < count else { return .text }
        return Self.code(at: place, in: codes) == 1 ? .binary : .text
    }

    @inlinable @inline(__always)
    static func code(at index: Int, in codes: UnsafeRawBufferPointer) -> Int16 {
        Int16(bigEndian: codes.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self))
    }
}

extension [Format] {
    /// The format of a value at `index` by such a list: text when the list does not say.
    @inlinable public func format(at index: Int) -> Format {
        if count == 1 { return self[0] }
        return index < count ? self[index] : .text
    }
}
