import PostgresWire

/// Whether a value that the client says is of one type can be cast to another: `$1::date` of an interval.
///
/// As PostgreSQL has it in pg_cast (https://www.postgresql.org/docs/current/catalog-pg-cast.html), but for integers of any size where it
/// has a cast for one size. Who is bound as something else than both means has a wrong answer without a word.
enum TypeCast {
    case possible
    /// PostgreSQL has no such cast either.
    case none
    /// PostgreSQL has it, and Walpool does not.
    case missing

    init(from type: TypeOID, to target: TypeOID) {
        switch (type.element, target.element) {
        case (nil, nil): self = Self.between(Kind(type), Kind(target))
        case (let element?, let other?): self = Self(from: element, to: other)
        // A list and what is none: only as a text are they each other.
        case (_, nil): self = Kind(target) == .text || Kind(target) == .other ? .possible : .none
        case (nil, _): self = Kind(type) == .text || Kind(type) == .other ? .possible : .none
        }
    }

    private enum Kind {
        case integer, real, objectID, boolean, text, date, timestamp, timestamptz, time, timetz, interval, uuid, bytes, json, jsonb
        /// Of which nothing is known here.
        case other

        init(_ type: TypeOID) {
            self =
                switch type {
                case .int2, .int4, .int8: .integer
                case .float4, .float8, .numeric: .real
                case .oid: .objectID
                case .bool: .boolean
                case .date: .date
                case .timestamp: .timestamp
                case .timestamptz: .timestamptz
                case .time: .time
                case .timetz: .timetz
                case .interval: .interval
                case .uuid: .uuid
                case .bytea: .bytes
                case .json: .json
                case .jsonb: .jsonb
                case _ where type.isCharacters: .text
                default: .other
                }
        }
    }

    private static func between(_ kind: Kind, _ target: Kind) -> TypeCast {
        switch (kind, target) {
        case _ where kind == target: .possible
        case (.text, _), (_, .text), (.other, _), (_, .other): .possible
        case (.integer, .real), (.real, .integer), (.integer, .objectID), (.objectID, .integer): .possible
        case (.integer, .boolean), (.boolean, .integer): .possible
        case (.date, .timestamp), (.date, .timestamptz), (.timestamp, .date), (.timestamptz, .date), (.timestamp, .timestamptz),
            (.timestamptz, .timestamp), (.timestamp, .time), (.timestamptz, .time), (.timetz, .time):
            .possible
        case (.json, .jsonb), (.jsonb, .json), (.jsonb, .integer), (.jsonb, .real), (.jsonb, .boolean): .possible
        case (.time, .interval), (.interval, .time), (.time, .timetz), (.timestamptz, .timetz): .missing
        default: .none
        }
    }

    /// nil: it is possible.
    static func refusal(of number: Int, from type: TypeOID, to target: TypeOID) -> WireError? {
        switch TypeCast(from: type, to: target) {
        case .possible: nil
        case .none:
            WireError(
                state: .cannotCoerce, message: "cannot cast type \(type.sqlName) to \(target.sqlName)",
                detail: "The client has sent parameter $\(number) as \(type.sqlName).")
        case .missing:
            WireError(
                state: .featureNotSupported, message: "parameter $\(number) of type \(type.sqlName) is not cast to \(target.sqlName)",
                hint: "Send it as a text, which is read as \(target.sqlName).")
        }
    }
}
