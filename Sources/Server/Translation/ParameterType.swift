import PostgresWire

/// What a parameter is that the client gave no type: what it is announced as, and what a text sent for it becomes.
struct ParameterType: Equatable, Sendable {
    enum TextRule: Sendable, Equatable {
        /// As the type's input function reads it.
        case typed
        /// As it came: SQLite's affinity converts it as it does any literal.
        case verbatim
        /// As it came, for a column declared as a date or time: unless PostgreSQL's drivers alone spell it so.
        case moment(TypeOID)
        /// As it came, for a column declared as UUID: unless SQLite would take its digits for a number.
        case uuid
        /// JSON by the client's word, for a column declared so: of a number that stands alone its affinity makes one.
        case json
        /// JSON, or an array as PostgreSQL writes it: psycopg sends lists of strings without a type.
        case array
        /// It must be a number, integer or real, because nothing would convert it.
        case number
        /// A boolean, of which the client says that it is text: `$1::boolean` is a cast then.
        case boolean
        /// A number if it looks like one, for `untyped_parameters = number`.
        case numberIfPossible
        /// Nothing says what it is: an error, unless it is NULL.
        case none
        /// The client says that it is a date, a time or an interval, and SQLite would calculate with it: an error, unless it is NULL.
        case calculated
        /// The client says that it is a date, a time, an interval or a UUID, and it meets a column of numbers: an error, unless it is NULL.
        case mismatched
    }

    var type: TypeOID
    var rule: TextRule
    /// The client or the statement's text has said so.
    var isGiven = false
    /// It is compared with, or stored in, a column that is declared to hold integers or reals.
    var meetsNumbers = false
    /// It is a number for what is calculated with it, or beside a number that is returned: SQLite takes a text there, too. It is not
    /// compared with one.
    var isOnlyCalculated = false

    static let undetermined = ParameterType(type: .unspecified, rule: .none)
    static let text = ParameterType(type: .text, rule: .verbatim)
    static func indeterminate(_ number: Int) -> WireError {
        WireError(
            state: .indeterminateDatatype, message: "could not determine data type of parameter $\(number)",
            detail: "SQLite tells a number from a text where it stands, and nothing there says which is meant.",
            hint: "Write $\(number)::int8 or $\(number)::text, or SET untyped_parameters = text.")
    }

    /// PostgreSQL calculates with these. To SQLite a text is a number as far as it looks like one: '2024-05-06' - 'P1D' is 2024.
    static func calculated(_ number: Int, _ type: TypeOID) -> WireError {
        WireError(
            state: .featureNotSupported,
            message: "parameter $\(number) is of type \(type.sqlName), and SQLite calculates with numbers only",
            hint: "Write datetime(x, '-1 day') for x - interval '1 day', and julianday(x) - julianday(y) for the days between two.")
    }

    /// PostgreSQL has no such operator or cast. To SQLite every number is less than every text.
    static func mismatched(_ number: Int, _ type: TypeOID) -> WireError {
        WireError(
            state: .datatypeMismatch, message: "parameter $\(number) is of type \(type.sqlName), but it meets a column of numbers",
            hint: "unixepoch(x) and julianday(x) are a date's numbers; for dates declare the column DATE or TIMESTAMP, for UUIDs UUID.")
    }

    var isDetermined: Bool { type != .unspecified }
    /// Others than NULL. A comparison of rules would compare what they carry, too, for every value in binary.
    var takesValues: Bool {
        switch rule {
        case .none, .calculated, .mismatched: false
        default: true
        }
    }

    init(type: TypeOID, rule: TextRule) { (self.type, self.rule) = (type, rule) }

    /// The array whose elements are this; nil where JSON has no such elements, or nothing says what they are.
    var asElement: ParameterType? {
        switch type {
        case .int8, .float8, .numeric, .bool, .text, .date, .time, .timestamp, .timestamptz, .uuid:
            type.array.map { ParameterType(type: $0, rule: .array) }
        default: nil
        }
    }

    /// What a value must be where nothing converts it.
    init(needed type: TypeOID) {
        switch type {
        case .int2, .int4, .int8, .float4, .float8, .numeric: self.init(type: type, rule: .number)
        case .bool, .bytea: self.init(type: type, rule: .typed)
        default: self = type.isStoredAsText ? ParameterType(type: type, rule: .verbatim) : .text
        }
    }
}

extension ParameterType {
    /// The verdict on one parameter, from all that the program does with it; undetermined where it does different
    /// things that no one value can be right for.
    init(_ uses: [ParameterUses.Use]) {
        self = .undetermined
        let casts = Self.united(uses.flatMap(\.casts))
        let isStored = uses.contains(where: \.isStored)
        // How a value is returned does not decide how it is to be stored.
        var needs = uses.flatMap { isStored ? $0.needs : $0.needs + $0.resultNeeds }
        var conversions = uses.flatMap(\.conversions)
        if uses.contains(where: \.isStoredAsBytes) {
            // What takes a text, as length() does, takes bytes as well, and no affinity converts those.
            needs.removeAll(where: \.isStoredAsText)
            conversions.removeAll { $0.type == .bytea }
        }
        if uses.contains(where: \.isNumber), !needs.contains(where: \.isNumber) { needs.append(.numeric) }
        let isTextual = uses.contains(where: \.isTextual)
        if isTextual, needs.isEmpty, conversions.isEmpty { needs = [.text] }
        defer {
            meetsNumbers = conversions.contains { $0.type == .int8 || $0.type == .float8 }
            isOnlyCalculated = rule == .number && !uses.contains(where: \.isCompared)
        }
        let converted = Self.converted(conversions)
        if uses.contains(where: \.isDigit) { needs.append(converted?.type == .bool ? .bool : .int8) }
        guard let need = Self.united(needs) else { return }
        if let type = need, isStored, type.isNumber {
            // '007' would be stored as 7. What is calculated with is a number if it looks like one: SQLite reads a text
            // that is none, too.
            if uses.contains(where: \.isCounted) { self.init(type: .numeric, rule: .numberIfPossible) }
            return
        }
        // Bytes and what a column makes of a text are different values, as PostgreSQL says of it, too (42P08).
        if need == .bytea, converted != nil { return }
        // So are a text and what a BOOLEAN column makes of it: `nullif($1, '')` would be stored there as the text.
        if let need, need.isStoredAsText, converted?.type == .bool { return }
        if let type = need {
            self = Self(needed: type)
            if let converted { meet(converted, where: type, isText: conversions.contains { $0.affinity == .text }) }
            return
        }
        if let cast = casts ?? nil, conversions.isEmpty {
            self.init(type: cast, rule: cast == .bytea ? .typed : .verbatim)
            return
        }
        if let converted {
            // Stored where nothing converts it, too, '007' would be 7 there.
            let isCounted = converted.type.isNumber && converted.type != .bool
            if isStored, isCounted { return }
            self = converted
            // Somewhere else its class counts, so it must arrive as what it is.
            if isTextual || uses.contains(where: { $0.isSensitive || $0.isReused }), isCounted { rule = .number }
            return
        }
        guard !uses.contains(where: \.isSensitive), casts != nil else { return }
        // As in PostgreSQL, a parameter of which nothing is asked but to be given back is text.
        if uses.contains(where: { $0.isResult || $0.isIndifferent }) { self = .text }
    }

    /// It is needed as one type, and what SQLite would convert anyway takes part, unless it is of another kind.
    ///
    /// - Parameter isText: a column of text converts it.
    private mutating func meet(_ converted: ParameterType, where type: TypeOID, isText: Bool) {
        if type.isStoredAsText, converted.type != type {
            self = .text
            // Of `nullif($1, '')` SQLite would make a number in a column declared UUID, too.
            if converted.type == .uuid { rule = .uuid }
        }
        if type.isNumber, converted.type.isStoredAsText, isText {
            self = .undetermined
        } else if converted.type.isNumber, type.isNumber, type != .bool || converted.type != .bool {
            self.type = converted.type == .bool ? .int8 : converted.type
            rule = .number
        }
    }

    /// The one type that all are: numbers go together, and what is stored as text is; nothing else does. nil when there is
    /// none; .some(nil) for none given.
    private static func united(_ types: [TypeOID]) -> TypeOID?? {
        guard var result = types.first else { return .some(nil) }
        for type in types.dropFirst() where type != result {
            if type.isStoredAsText, result.isStoredAsText {
                result = .text
                continue
            }
            guard type.isNumber, result.isNumber else { return nil }
            // What is counted with a real is a real; what is also a boolean is a number.
            let pair = [type, result]
            if let other = pair.first(where: { $0 != .bool }), pair.contains(.bool) {
                result = other
            } else if pair.contains(.float8), pair.contains(.numeric) {
                result = .float8
            } else {
                result = .numeric
            }
        }
        return .some(result)
    }

    /// Columns disagree about what they are, but each converts: a number of any kind serves those of numbers, and text all.
    private static func converted(_ conversions: [ParameterUses.Conversion]) -> ParameterType? {
        guard !conversions.isEmpty else { return nil }
        var types = conversions.compactMap { conversion in conversion.type ?? conversion.affinity.type }
        let areNumbers = types.allSatisfy { $0.isNumber && $0 != .bool }
        if areNumbers, let first = types.first, types.contains(where: { $0 != first }) {
            return ParameterType(type: .numeric, rule: .verbatim)
        }
        // NUMERIC is what a comparison's letter says of a boolean, too: the column's declaration says more.
        if types.contains(where: { $0 != .numeric }) { types.removeAll { $0 == .numeric } }
        if conversions.contains(where: { $0.type == .numeric }), types.isEmpty { types = [.numeric] }
        guard let first = types.first else { return .text }
        guard types.allSatisfy({ $0 == first }) else { return .text }
        return ParameterType(type: first, rule: first == .bool || first == .bytea ? .typed : .verbatim)
    }
}

extension Affinity {
    /// What its column is when its declaration says no more. NUMERIC takes dates as well as numbers.
    fileprivate var type: TypeOID? {
        switch self {
        case .integer: .int8
        case .real: .float8
        case .text: .text
        default: nil
        }
    }
}
