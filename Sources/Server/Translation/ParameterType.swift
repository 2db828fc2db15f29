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
        /// The client says that it is another kind of moment, or a text, than the statement's own cast says, which then cuts; then as the same
        /// moment of the column it meets, if it is one. Either may be unspecified.
        case momentAs(cast: TypeOID, column: TypeOID)
        /// As it came, for a column declared as UUID: unless SQLite would take its digits for a number.
        case uuid
        /// JSON by the client's word, for a column declared so: of a number that stands alone its affinity makes one.
        case json
        /// JSON, or an array as PostgreSQL writes it: psycopg sends lists of strings without a type.
        case array
        /// It must be a number, integer or real, because nothing would convert it.
        case number
        /// Of this type, of which the client says that it is text: `$1::boolean` is a cast then.
        case textAs(TypeOID)
        /// An integer by the client's word, which the statement casts to a boolean: whether it is not 0.
        case truth
        /// A number if it looks like one, for `untyped_parameters = number`.
        case numberIfPossible
        /// Nothing says what it is: an error, unless it is NULL.
        case none
        /// The client or the statement says that it is a date, JSON or something else that is no number, and SQLite would calculate with it:
        /// an error, unless it is NULL.
        case calculated(TypeOID)
        /// Either says that it is a date, a time, an interval or a UUID, and it meets a column of numbers: an error, unless it is NULL.
        case mismatched(TypeOID)
        /// The client or the statement says that it is an interval or jsonb, and SQLite would order its text: an error, unless it is NULL.
        case unordered(TypeOID)
    }

    var type: TypeOID
    var rule: TextRule
    /// In one byte: a statement may have 65,535 parameters.
    private var properties: Properties = []

    private struct Properties: OptionSet {
        let rawValue: UInt8
        static let isGiven = Properties(rawValue: 1), meetsNumbers = Properties(rawValue: 2)
        static let isOnlyCalculated = Properties(rawValue: 4), isCastToNumber = Properties(rawValue: 8)

        subscript(_ one: Properties) -> Bool {
            get { contains(one) }
            set { if newValue { insert(one) } else { remove(one) } }
        }
    }

    /// The client or the statement's text has said so.
    var isGiven: Bool {
        get { properties[.isGiven] }
        set { properties[.isGiven] = newValue }
    }
    /// It is compared with, or stored in, a column that is declared to hold integers or reals.
    var meetsNumbers: Bool {
        get { properties[.meetsNumbers] }
        set { properties[.meetsNumbers] = newValue }
    }
    /// It is a number for what is calculated with it, or beside a number that is returned: SQLite takes a text there, too. It is not
    /// compared with one.
    var isOnlyCalculated: Bool {
        get { properties[.isOnlyCalculated] }
        set { properties[.isOnlyCalculated] = newValue }
    }
    /// A CAST of SQLite's makes a number of it.
    var isCastToNumber: Bool {
        get { properties[.isCastToNumber] }
        set { properties[.isCastToNumber] = newValue }
    }

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
            hint: NumericCoercion.hint(forArithmeticWith: type))
    }

    /// PostgreSQL has no such operator or cast. To SQLite every number is less than every text.
    static func mismatched(_ number: Int, _ type: TypeOID) -> WireError {
        WireError(
            state: .datatypeMismatch, message: "parameter $\(number) is of type \(type.sqlName), but it meets a column of numbers",
            hint: "unixepoch(x) and julianday(x) are a date's numbers; for dates declare the column DATE or TIMESTAMP, for UUIDs UUID.")
    }

    /// PostgreSQL orders these by what they are. As texts '10' is less than '9', and 'P10D' than 'P2D'.
    static func unordered(_ number: Int, _ type: TypeOID) -> WireError {
        WireError(
            state: .featureNotSupported, message: "parameter $\(number) is of type \(type.sqlName), and SQLite would order it as a text",
            hint: hintForOrder(of: type))
    }

    static func hintForOrder(of type: TypeOID) -> String {
        type == .interval
            ? "Store a duration as a number of seconds. The days between two dates are julianday(x) - julianday(y)."
            : "Compare what JSON holds as a value: j ->> 'key' > 9."
    }

    /// What it is said to be in a place, if the texts of that type have another order than its values.
    ///
    /// - Parameter cast: what stands behind it there.
    func typeOfOtherOrder(cast: TypeOID) -> TypeOID? {
        guard isGiven, takesValues else { return nil }
        // Nothing makes PostgreSQL's text of it.
        let isText = cast.isCharacters && !type.isCharacters
        let there = isText || cast == .unspecified ? type : cast
        return Self.hasOtherOrder(there) ? there : nil
    }

    static func hasOtherOrder(_ type: TypeOID) -> Bool { type == .interval || type == .jsonb }

    /// What a value is when it is bound: what the statement's own cast makes of what the client says.
    var boundType: TypeOID {
        switch rule {
        case .textAs(let cast): cast
        case .truth: .bool
        case .momentAs(let cast, _): cast == .unspecified ? type : cast
        default: type
        }
    }

    var isDetermined: Bool { type != .unspecified }
    /// Others than NULL. A comparison of rules would compare what they carry, too, for every value in binary.
    var takesValues: Bool {
        switch rule {
        case .none, .calculated, .mismatched, .unordered: false
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
