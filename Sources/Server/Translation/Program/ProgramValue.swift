import PostgresWire

/// What may be in a register: which storage classes for certain, which type in all likelihood, and which parameters.
///
/// Values only ever grow (`join`), which is what ends the search for all that can flow where.
struct ProgramValue: Equatable, Sendable {
    /// Storage classes as a set.
    struct Classes: OptionSet, Sendable {
        let rawValue: UInt8
        static let null = Classes(rawValue: 1), integer = Classes(rawValue: 2), real = Classes(rawValue: 4)
        static let text = Classes(rawValue: 8), blob = Classes(rawValue: 16)
        static let any: Classes = [.null, .integer, .real, .text, .blob]
    }

    /// Where values come from, as far as it tells booleans from numbers.
    struct Origins: OptionSet, Sendable {
        let rawValue: UInt8
        /// 0 or 1: as a number, or of a comparison.
        static let digit = Origins(rawValue: 1)
        /// A column declared BOOLEAN.
        static let boolean = Origins(rawValue: 2)
        static let other = Origins(rawValue: 4)
    }

    /// The type it has if the database holds what its columns' declarations say.
    enum Likely: Equatable, Sendable {
        case nothing
        case type(TypeOID)
        case unknown

        func joined(_ other: Likely) -> Likely {
            switch (self, other) {
            case (.nothing, let type), (let type, .nothing): return type
            case (.type(let a), .type(let b)) where a == b: return self
            case (.type(.bool), .type(.int8)), (.type(.int8), .type(.bool)): return .type(.int8)
            case (.type(let a), .type(let b)) where a.isNumber && b.isNumber: return .type(.numeric)
            case (.type(let a), .type(let b)) where a.isStoredAsText && b.isStoredAsText: return .type(.text)
            default: return .unknown
            }
        }

        /// Only of what is declared alike.
        func joinedExactly(_ other: Likely) -> Likely {
            switch (self, other) {
            case (.nothing, let type), (let type, .nothing): type
            case _ where self == other: self
            default: .unknown
            }
        }
    }

    /// Of what is no parameter.
    var classes: Classes = []
    var likely = Likely.nothing
    /// What all the columns that it may come from are declared as, as long as it comes from columns only.
    var declared = Likely.nothing
    var origins: Origins = []
    /// SQLite's indexes of the parameters whose value may be here, in order.
    var parameters: [Int] = []
    /// What number these are, as far as that is known.
    var parameterType = Likely.nothing
    /// The parameters whose types decide which number it is: what `$1 + $2` makes is calculated of these.
    var operands: [Int] = []
    /// A column's affinity has been applied: the class in which a parameter was sent matters no more.
    var isConverted = false
    /// A column of the row that is written has got it as its own: whatever comes of it from here on is that column's.
    var isOfRow = false
    /// Of a record: its fields.
    var fields: [ProgramValue] = []

    init() {}
    init(_ classes: Classes, _ type: TypeOID?) {
        self.classes = classes
        likely = type.map { .type($0) } ?? .unknown
        (declared, origins) = (.unknown, .other)
    }
    init(declared type: TypeOID?) {
        self.init(.any, type)
        (declared, origins) = (likely, type == .bool ? .boolean : .other)
    }
    init(parameter: Int, type: TypeOID?) {
        (parameters, declared, origins) = ([parameter], .unknown, .other)
        parameterType = type.map { .type($0) } ?? .nothing
    }

    static let null: ProgramValue = {
        var value = ProgramValue()
        value.classes = .null
        return value
    }()
    static let integer = ProgramValue(.integer, .int8)
    static let integerOrNull = ProgramValue([.integer, .null], .int8)
    static let boolean: ProgramValue = {
        var value = integerOrNull
        value.origins = .digit
        return value
    }()
    static let unknown = ProgramValue(.any, nil)

    var type: TypeOID? {
        if case .type(let type) = likely { return type }
        return nil
    }

    /// Columns declared BOOLEAN, or what is to stand in for their values.
    var isOfBooleans: Bool { origins.contains(.boolean) && !origins.contains(.other) }

    /// Nothing but parameters, and NULL, can be here.
    var isParameterOnly: Bool { !parameters.isEmpty && classes.subtracting(.null).isEmpty }

    /// What it is to be calculated with.
    var counted: Likely { isConverted ? likely : likely.joined(parameterType) }

    /// All parameters that have a say in its type.
    var deciding: [Int] { isConverted || parameters.isEmpty ? operands : Self.merged(parameters, operands) }
}

extension TypeOID {
    var isNumber: Bool { [.int2, .int4, .int8, .float4, .float8, .numeric, .bool, .oid].contains(self) }
    /// What a value of this type is sent back as; nil where it may be of several classes.
    var stored: TypeOID? {
        switch self {
        case .int2, .int4, .int8, .oid: .int8
        case .bool: .bool
        case .float4, .float8: .float8
        case .bytea: .bytea
        default: nil
        }
    }
    /// A text, under one of the names that PostgreSQL has for it.
    var isCharacters: Bool { self == .text || self == .varchar || self == .bpchar }
    /// SQLite has no class of its own for it, and what is stored is text.
    var isStoredAsText: Bool {
        [.text, .varchar, .bpchar, .name, .date, .time, .timestamp, .timestamptz, .uuid, .json, .jsonb, .interval]
            .contains(self)
    }
}
