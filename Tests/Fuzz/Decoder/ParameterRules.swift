@testable import PostgresWire
@testable import SQLite
@testable import Server

/// A parameter's value on its way from a Bind message to SQLite.
enum ParameterRules {
    private static let connection: Connection = {
        do { return try Connection(path: ":memory:", mode: .readWrite, settings: ConnectionSettings()) } catch {
            fatalError("\(error)")
        }
    }()

    private static let types: [TypeOID] = [
        .unspecified, .int2, .int4, .int8, .oid, .float4, .float8, .bool, .bytea, .numeric, .text, .varchar, .bpchar,
        .name, .unknown, .json, .jsonb, .date, .time, .timestamp, .timestamptz, .interval, .uuid, .int4Array, .textArray,
        .numericArray, .uuidArray, TypeOID(4_000_000_000),
    ]

    static func check(_ input: UnsafeRawBufferPointer) {
        var reader = InputReader(input)
        let type = types[Int(reader.byte()) % types.count]
        let choice = reader.byte()
        let isBinary = choice & 1 != 0
        let value = reader.rest
        do {
            let statement = try connection.prepareInternal("SELECT ?1")
            try withParameter(value, isBinary: isBinary) { parameters in
                let slot = ParameterSlot(index: 1, number: 1)
                let parameter = ParameterType(type: type, rule: choice & 2 != 0 ? .number : .typed)
                try ParameterBinder.bind(slot, parameter, parameters, to: statement)
                guard try statement.step() == .row else { return require(false, "a SELECT without FROM has a row") }
                if choice & 2 == 0 { check(statement, type, isBinary, value) }
            }
        } catch let error as WireError {
            require(error.severity == .error, "a bad value does not end the session")
            require(![.internalError, .undefinedParameter].contains(error.state), "SQLite refuses to bind a value only for its length")
        } catch {
            require((error as? SQLiteError)?.code == 18, "SQLite refuses a value only for its length")
        }
    }

    private static func withParameter(
        _ value: UnsafeRawBufferPointer, isBinary: Bool, _ body: (BoundParameters) throws -> Void
    ) throws {
        var bind = FrontendWriter()
        bind.bytes = [0, 0]
        bind.int16(1)
        bind.int16(isBinary ? 1 : 0)
        bind.int16(1)
        bind.int32(value.count)
        bind.bytes += value
        bind.int16(0)
        let parameters = BoundParameters()
        try bind.bytes.withUnsafeBytes { parameters.load(try BindMessage(body: $0)) }
        try body(parameters)
    }

    /// What SQLite has is what was sent.
    private static func check(_ statement: Statement, _ type: TypeOID, _ isBinary: Bool, _ value: UnsafeRawBufferPointer) {
        let found = statement.storageClass(0)
        switch type {
        case .int2, .int4, .int8, .oid, .bool:
            require(found == .integer, "an integer is bound as one")
            if type == .int8 {
                let sent = isBinary ? BinaryCodec.int64(value) : TextCodec.parseInt(value)
                require(statement.integer(0) == sent, "an integer arrives as it was sent")
            }
        case .float4, .float8:
            require(found == .real, "a double is bound as one")
        case .bytea where isBinary:
            require(found == .blob && statement.blob(0).elementsEqual(value), "bytes arrive as they were sent")
        case .text, .varchar, .json:
            require(found == .text && statement.text(0).elementsEqual(value), "a text arrives as it was sent")
        default: break
        }
    }
}
