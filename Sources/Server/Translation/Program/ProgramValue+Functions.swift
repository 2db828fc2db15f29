import PostgresWire

extension ProgramValue {
    /// Of `+`, `-`, `*`, `/` and `%`: integers stay integers unless they overflow. A NULL, and a parameter, is taken
    /// for what it is counted with.
    static func arithmetic(_ left: ProgramValue, _ right: ProgramValue) -> ProgramValue {
        var result = ProgramValue([.integer, .real, .null], nil)
        result.likely = likelyNumber(left, right)
        result.operands = merged(left.deciding, right.deciding)
        return result
    }

    private static func likelyNumber(_ left: ProgramValue, _ right: ProgramValue) -> Likely {
        func likely(_ value: ProgramValue) -> Likely {
            switch value.counted {
            case .nothing: .nothing
            case .type(.bool): .type(.int8)
            case .type(let type): .type(type.isNumber ? type : .numeric)
            case .unknown: .type(.numeric)
            }
        }
        let both = likely(left).joined(likely(right))
        if both == .nothing { return left.parameters.isEmpty && right.parameters.isEmpty ? .nothing : .type(.numeric) }
        return likely(left) == .type(.float8) || likely(right) == .type(.float8) ? .type(.float8) : both
    }

    static func one(of values: [ProgramValue]) -> ProgramValue {
        values.dropFirst().reduce(into: values.first ?? .unknown) { $0.join($1) }
    }

    /// SQLite's scalar functions: what they return by name, or by their first argument.
    static func result(ofFunction name: String, _ arguments: [ProgramValue]) -> ProgramValue {
        switch name {
        case "like", "glob", "starts_with": return .boolean
        case "abs": return arguments.first.map { arithmetic($0, $0) } ?? ProgramValue([.integer, .real, .null], nil)
        case "substr", "substring": return part(of: arguments.first)
        case "nullif":
            // It is the first argument, where it is anything.
            var result = arguments.first ?? .unknown
            result.classes.insert(.null)
            return result
        case "date_trunc": return truncated(arguments.last)
        case "date":
            var result = ProgramValue([.text, .null], .text)
            result.declared = .type(.date)
            return result
        case "greatest" where !arguments.isEmpty: return one(of: arguments)
        default: return ExpressionClass(function: name).map(ProgramValue.init) ?? .unknown
        }
    }

    /// Of a date PostgreSQL makes a moment with a time zone.
    private static func truncated(_ moment: ProgramValue?) -> ProgramValue {
        var result = ProgramValue([.text, .null], .text)
        switch moment?.declared {
        case .type(.date), .type(.timestamptz): result.declared = .type(.timestamptz)
        case .type(.timestamp): result.declared = .type(.timestamp)
        default: break
        }
        return result
    }

    /// "If X is a string then characters indices refer to actual UTF-8 characters. If X is a BLOB then the indices refer to bytes"
    /// (https://www.sqlite.org/lang_corefunc.html#substr), and so is what it gives.
    private static func part(of value: ProgramValue?) -> ProgramValue {
        guard let value else { return .unknown }
        var result = ProgramValue([.text, .blob, .null], .text)
        if value.likely.joined(value.parameterType) == .type(.bytea) { result.likely = .type(.bytea) }
        guard value.parameters.isEmpty else { return result }
        if value.classes.subtracting(.null) == .blob { result.classes.remove(.text) }
        if !value.classes.contains(.blob) { result.classes.remove(.blob) }
        return result
    }

    static func result(ofAggregate name: String, _ argument: ProgramValue?) -> ProgramValue {
        switch name {
        case "sum": return argument.map { arithmetic($0, $0) } ?? ProgramValue([.integer, .real, .null], nil)
        case "min", "max", "first_value", "last_value", "nth_value", "lag", "lead":
            var result = withoutParameters(argument)
            result.classes.insert(.null)
            return result
        default: return ExpressionClass(function: name).map(ProgramValue.init) ?? .unknown
        }
    }

    /// What an accumulator gives at the end; it may never have seen a row.
    func finished(_ name: String) -> ProgramValue {
        switch name {
        case "count", "row_number", "rank", "dense_rank", "ntile": return .integer
        case "total": return ProgramValue(.real, .float8)
        default:
            var result = self
            result.classes.insert(.null)
            return result
        }
    }

    private static func withoutParameters(_ value: ProgramValue?) -> ProgramValue {
        guard let value, !value.isConverted, value.isParameterOnly else { return value ?? .unknown }
        var result = ProgramValue.unknown
        result.operands = value.deciding
        if value.parameterType == .type(.int8) { result.likely = .type(.int8) }
        return result
    }

    private init(_ expression: ExpressionClass) {
        switch expression {
        case .null: self = .null
        case .int8, .bool: self = .integerOrNull
        case .float8: self.init([.real, .null], .float8)
        case .numeric: self.init([.integer, .real, .null], .numeric)
        case .text: self.init([.text, .null], .text)
        case .bytea: self.init([.blob, .null], .bytea)
        case .textOrBytes: self.init([.text, .blob, .null], .text)
        case .perhapsBoolean: self = .unknown
        }
    }
}
