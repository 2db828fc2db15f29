import PostgresWire

/// The verdict on a parameter that nobody has given a type, from what a statement's program does with it.
extension ParameterType {
    /// Undetermined where it does different things that no one value can be right for.
    init(_ uses: [ParameterUses.Use]) {
        let asked = Asked(uses)
        self = Self.verdict(uses, asked)
        meetsNumbers = asked.conversions.contains { $0.type == .int8 || $0.type == .float8 }
        isCastToNumber = uses.contains { $0.casts.contains(where: \.isNumber) }
        isOnlyCalculated = rule == .number && !uses.contains(where: \.isCompared)
    }

    /// What all uses together ask of a value.
    private struct Asked {
        /// What it is to be where nothing converts it.
        var needs: [TypeOID]
        /// What columns convert it to.
        var conversions: [ParameterUses.Conversion]
        /// The same as one value; nil: no column converts it.
        var converted: ParameterType?
        let isStored: Bool
        let isTextual: Bool

        init(_ uses: [ParameterUses.Use]) {
            let isStored = uses.contains(where: \.isStored)
            // How a value is returned does not decide how it is to be stored.
            needs = uses.flatMap { isStored ? $0.needs : $0.needs + $0.resultNeeds }
            conversions = uses.flatMap(\.conversions)
            if uses.contains(where: \.isStoredAsBytes) {
                // What takes a text, as length() does, takes bytes as well, and no affinity converts those.
                needs.removeAll(where: \.isStoredAsText)
                conversions.removeAll { $0.type == .bytea }
            }
            if uses.contains(where: \.isNumber), !needs.contains(where: \.isNumber) { needs.append(.numeric) }
            isTextual = uses.contains(where: \.isTextual)
            if isTextual, needs.isEmpty, conversions.isEmpty { needs = [.text] }
            converted = ParameterType.converted(conversions)
            if uses.contains(where: \.isDigit) { needs.append(converted?.type == .bool ? .bool : .int8) }
            self.isStored = isStored
        }
    }

    private static func verdict(_ uses: [ParameterUses.Use], _ asked: Asked) -> ParameterType {
        switch united(asked.needs) {
        case .disagreeing: .undetermined
        case .one(let type): needed(type, uses, asked)
        case .none: unneeded(uses, asked)
        }
    }

    /// Where it is needed as one type.
    private static func needed(_ type: TypeOID, _ uses: [ParameterUses.Use], _ asked: Asked) -> ParameterType {
        if asked.isStored, type.isNumber {
            // '007' would be stored as 7. What is calculated with is a number if it looks like one: SQLite reads a text
            // that is none, too.
            return uses.contains(where: \.isCounted) ? ParameterType(type: .numeric, rule: .numberIfPossible) : .undetermined
        }
        guard let converted = asked.converted else { return ParameterType(needed: type) }
        // Bytes and what a column makes of a text are different values, as PostgreSQL says of it, too (42P08).
        if type == .bytea { return .undetermined }
        // So are a text and what a BOOLEAN column makes of it: `nullif($1, '')` would be stored there as the text.
        if type.isStoredAsText, converted.type == .bool { return .undetermined }
        var result = ParameterType(needed: type)
        result.meet(converted, where: type, isText: asked.conversions.contains { $0.affinity == .text })
        return result
    }

    /// Where nothing needs it as one type: casts and columns say what it is, or nobody.
    private static func unneeded(_ uses: [ParameterUses.Use], _ asked: Asked) -> ParameterType {
        let casts = united(uses.flatMap(\.casts))
        if case .one(let type) = casts, asked.conversions.isEmpty {
            return ParameterType(type: type, rule: type == .bytea ? .typed : .verbatim)
        }
        if var converted = asked.converted {
            // Stored where nothing converts it, too, '007' would be 7 there.
            let isCounted = converted.type.isNumber && converted.type != .bool
            if asked.isStored, isCounted { return .undetermined }
            // Somewhere else its class counts, so it must arrive as what it is.
            if isCounted, asked.isTextual || uses.contains(where: { $0.isSensitive || $0.isReused }) { converted.rule = .number }
            return converted
        }
        guard casts != .disagreeing, !uses.contains(where: \.isSensitive) else { return .undetermined }
        // As in PostgreSQL, a parameter of which nothing is asked but to be given back is text.
        return uses.contains { $0.isResult || $0.isIndifferent } ? .text : .undetermined
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

    /// What several types come to.
    private enum United: Equatable {
        /// There are none.
        case none
        case one(TypeOID)
        /// No value is of all of them.
        case disagreeing
    }

    /// The one type that all are: numbers go together, and what is stored as text is; nothing else does.
    private static func united(_ types: [TypeOID]) -> United {
        guard var result = types.first else { return .none }
        for type in types.dropFirst() where type != result {
            if type.isStoredAsText, result.isStoredAsText {
                result = .text
                continue
            }
            guard type.isNumber, result.isNumber else { return .disagreeing }
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
        return .one(result)
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
