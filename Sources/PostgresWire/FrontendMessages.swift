// The messages of the simple and the extended query, without Bind. Each is a view into the body it was read from and
// is valid only as long as that is. https://www.postgresql.org/docs/current/protocol-message-formats.html

/// Query ('Q').
public struct QueryMessage {
    /// "The query string itself", without its NUL: any number of statements. Whether it is UTF-8 is for the caller to check, as in all of
    /// these messages.
    public let sql: UnsafeRawBufferPointer

    /// Reads the body: what follows the length.
    ///
    /// - Throws: 08P01 when the string has no NUL, or something follows it.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        sql = try reader.cString()
        try reader.finish()
    }
}

/// Parse ('P').
public struct ParseMessage {
    /// The prepared statement to create; empty for the unnamed one.
    public let name: UnsafeRawBufferPointer
    /// "The query string to be parsed", without its NUL. That it is one statement at most is for the caller to see to.
    public let sql: UnsafeRawBufferPointer
    /// "Note that this is not an indication of the number of parameters that might appear in the query string, only the
    /// number that the frontend wants to prespecify types for." Zero leaves a type unspecified.
    public let parameterTypes: [TypeOID]

    /// Reads the body: what follows the length.
    ///
    /// - Throws: 08P01 when something is missing or left over.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        name = try reader.cString()
        sql = try reader.cString()
        let count = try reader.count()
        let oids = try reader.bytes(4 * count)
        try reader.finish()
        // The empty array is a constant of the standard library: no allocation.
        parameterTypes =
            count == 0
            ? []
            : (0..<count).map { index in
                TypeOID(UInt32(bigEndian: oids.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)))
            }
    }
}

/// What Describe and Close are about.
public enum ObjectKind: UInt8, Sendable {
    case statement = 0x53
    case portal = 0x50

    fileprivate init(_ byte: UInt8, in message: StaticString) throws(WireError) {
        guard let kind = ObjectKind(rawValue: byte) else {
            throw .protocolViolation("invalid \(message) message subtype \(byte)")
        }
        self = kind
    }
}

/// Describe ('D').
public struct DescribeMessage {
    /// What the name is of.
    public let kind: ObjectKind
    /// Of the statement or portal; empty for the unnamed one.
    public let name: UnsafeRawBufferPointer

    /// Reads the body: what follows the length.
    ///
    /// - Throws: 08P01 when the kind is neither S nor P, or something is missing or left over.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        kind = try ObjectKind(reader.byte(), in: "DESCRIBE")
        name = try reader.cString()
        try reader.finish()
    }
}

/// Close ('C').
public struct CloseMessage {
    /// What the name is of.
    public let kind: ObjectKind
    /// Of the statement or portal, which need not exist; empty for the unnamed one.
    public let name: UnsafeRawBufferPointer

    /// Reads the body: what follows the length.
    ///
    /// - Throws: 08P01 when the kind is neither S nor P, or something is missing or left over.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        kind = try ObjectKind(reader.byte(), in: "CLOSE")
        name = try reader.cString()
        try reader.finish()
    }
}

/// Execute ('E').
public struct ExecuteMessage {
    /// "The name of the portal to execute"; empty for the unnamed one.
    public let portal: UnsafeRawBufferPointer
    /// "Maximum number of rows to return, if portal contains a query that returns rows (ignored otherwise). Zero
    /// denotes no limit". PostgreSQL takes a negative number for no limit too.
    public let maxRows: Int

    /// Reads the body: what follows the length.
    ///
    /// - Throws: 08P01 when something is missing or left over.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        portal = try reader.cString()
        maxRows = try reader.int32()
        try reader.finish()
    }
}

/// CopyFail ('f').
public struct CopyFailMessage {
    /// "An error message to report as the cause of failure", without its NUL.
    public let reason: UnsafeRawBufferPointer

    /// Reads the body: what follows the length.
    ///
    /// - Throws: 08P01 when the string has no NUL, or something follows it.
    public init(body: UnsafeRawBufferPointer) throws(WireError) {
        var reader = MessageReader(body)
        reason = try reader.cString()
        try reader.finish()
    }
}
