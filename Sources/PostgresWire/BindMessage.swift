/// Bind ('B'): values for a statement's parameters, and the formats wanted for its result.
///
/// The whole body is checked once, in `init`; reading afterwards walks it without a check and without memory of its
/// own. A view into the body, valid only as long as that is.
public struct BindMessage {
    /// The portal to create; empty for the unnamed one.
    public let portal: UnsafeRawBufferPointer
    /// The prepared statement to take; empty for the unnamed one.
    public let statement: UnsafeRawBufferPointer
    /// "The number of parameter values that follow": up to 65,535, for PostgreSQL takes the Int16 for unsigned.
    public let parameterCount: Int
    /// How many result formats were sent: 0, 1, or as many as the result has columns, which only the caller knows:
    /// "bind message has %d result formats but query has %d columns" is for it to say.
    public let resultFormatCount: Int

    @usableFromInline let parameterFormats: FormatCodes
    @usableFromInline let values: UnsafeRawBufferPointer
    @usableFromInline let resultFormats: FormatCodes

    /// Checks the body, which is what follows the length.
    ///
    /// - Throws: 08P01 when something is missing or left over, or there are neither 0 nor 1 nor as many parameter formats as parameters;
    ///   22023 for a format code that is neither 0 nor 1.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        portal = try reader.cString()
        statement = try reader.cString()
        parameterFormats = try FormatCodes(&reader)
        parameterCount = try reader.count()
        guard parameterFormats.count <= 1 || parameterFormats.count == parameterCount else {
            throw .protocolViolation(
                "bind message has \(parameterFormats.count) parameter formats but \(parameterCount) parameters")
        }
        let begin = reader.mark
        for _ in 0..<parameterCount {
            let length = try reader.int32()
            if length != -1 { _ = try reader.bytes(length) }
        }
        values = reader.since(begin)
        resultFormats = try FormatCodes(&reader)
        resultFormatCount = resultFormats.count
        try reader.finish()
    }

    /// The format wanted for a column of the result.
    @inlinable public func resultFormat(column: Int) -> Format {
        resultFormats[column]
    }

    /// The parameters in order: `for parameter in bind.parameters`.
    @inlinable public var parameters: BindParameters {
        BindParameters(count: parameterCount, formats: parameterFormats, values: values)
    }
}

/// One value of a Bind message.
public struct BindParameter {
    /// By the message's list of format codes; text when that does not say.
    public let format: Format
    /// Nil for NULL; not nil, though perhaps empty, and then with an address all the same, for everything else.
    public let bytes: UnsafeRawBufferPointer?

    @inlinable init(format: Format, bytes: UnsafeRawBufferPointer?) {
        self.format = format
        self.bytes = bytes
    }
}

/// A walk over the values of a Bind message, which has checked them.
public struct BindParameters: Sequence, IteratorProtocol {
    @usableFromInline let count: Int
    @usableFromInline let formats: FormatCodes
    @usableFromInline let values: UnsafeRawBufferPointer
    @usableFromInline var index = 0
    @usableFromInline var position = 0

    @inlinable init(count: Int, formats: FormatCodes, values: UnsafeRawBufferPointer) {
        self.count = count
        self.formats = formats
        self.values = values
    }

    @inlinable public mutating func next() -> BindParameter? {
        guard index < count else { return nil }
        let format = formats[index]
        let length = Int(Int32(bigEndian: values.loadUnaligned(fromByteOffset: position, as: Int32.self)))
        index += 1
        position += 4
        guard length >= 0 else { return BindParameter(format: format, bytes: nil) }
        defer { position += length }
        return BindParameter(
            format: format, bytes: UnsafeRawBufferPointer(rebasing: values[position..<position + length]))
    }
}
