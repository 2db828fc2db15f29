import Testing

@testable import PostgresWire

@Suite struct NamesTests {
    @Test func sqlStates() {
        #expect(SQLState.uniqueViolation.code == "23505")
        #expect(SQLState.protocolViolation == "08P01")
        #expect("\(SQLState.transactionTimeout)" == "25P04")
        #expect(SQLState("XX001") == .dataCorrupted)
        for wrong in ["", "2350", "235050", "2350é", "2350a", "2350\0"] { #expect(SQLState(wrong) == nil) }
    }

    @Test(
        arguments: [
            ("int", TypeOID.int4), ("INT8", .int8), ("BigInt", .int8), ("smallint", .int2), ("real", .float4),
            ("double precision", .float8), ("varchar", .varchar), ("character varying", .varchar), ("boolean", .bool),
            ("bytea", .bytea), ("numeric", .numeric), ("decimal", .numeric), ("json", .json), ("uuid", .uuid), ("date", .date),
            ("timestamptz", .timestamptz), ("timestamp with time zone", .timestamptz), ("text", .text), ("nosuch", nil), ("", nil),
        ] as [(String, TypeOID?)])
    func typeNames(_ name: String, _ expected: TypeOID?) {
        #expect(TypeOID(sqlName: name) == expected)
    }

    @Test func namesRoundTrip() {
        for oid in UInt32(0)...5000 {
            let type = TypeOID(rawValue: oid)
            if type.sqlName != "???" { #expect(TypeOID(sqlName: type.sqlName) == type) }
        }
        #expect(TypeOID.int8.sqlName == "bigint")
        #expect(TypeOID(rawValue: 99_999).sqlName == "???")
    }

    @Test func sizes() {
        #expect(
            [TypeOID.bool, .int2, .int4, .int8, .float4, .float8, .text, .uuid, .name, .unknown].map(\.size)
                == [1, 2, 4, 8, 4, 8, -1, 16, 64, -2])
    }
}
