import PostgresWire

extension ParameterType {
    /// The parameters of a statement, by number from 0. First what the client said in Parse, then what stands in the
    /// text (`$1::int8`), then what the program says, then the setting `untyped_parameters`.
    static func list(
        _ given: [TypeOID], _ analysis: Analysis?, _ typing: Typing, allowsUntyped: Bool
    ) -> [ParameterType] {
        let inText = analysis?.parameterTypes ?? []
        let count = Swift.max(inText.count, given.count)
        guard count > 0 else { return [] }
        var result: [ParameterType] = []
        result.reserveCapacity(count)
        for index in 0..<count {
            let inferred = index < inText.count ? analysis?.inferredTypes[index] ?? .text : .text
            if let type = Self.given(index, given) {
                let cast = index < inText.count ? analysis?.cast(of: index + 1) ?? .unspecified : .unspecified
                result.append(explicit(type, inferred, cast: cast))
            } else if index < inText.count, inText[index] != .unspecified {
                result.append(ParameterType(type: inText[index], rule: rule(inText[index], inferred), isGiven: true))
            } else if inferred.isDetermined {
                result.append(inferred.announced(typing))
            } else {
                result.append(undetermined(allowsUntyped ? .text : typing.untypedParameters))
            }
        }
        return result
    }

    /// The same of the places with a cast where others of that parameter have none: `INSERT … VALUES ($1, $1::date)` means both the value
    /// and what the cast makes of it.
    static func casts(_ given: [TypeOID], _ analysis: Analysis?) -> [ParameterType] {
        guard let analysis, !analysis.parameterCasts.isEmpty else { return [] }
        return zip(analysis.parameterCasts, analysis.inferredTypes.dropFirst(analysis.parameterTypes.count)).map { cast, inferred in
            if let type = Self.given(cast.number - 1, given) { return explicit(type, inferred, cast: cast.type) }
            return ParameterType(type: cast.type, rule: rule(cast.type, inferred), isGiven: true)
        }
    }

    /// What the client gives no type has that which the text says, and is not cast to another.
    static func requireOneType(_ given: [TypeOID], _ analysis: Analysis) throws(WireError) {
        for cast in analysis.parameterCasts where Self.given(cast.number - 1, given) == nil {
            guard cast.type != analysis.parameterTypes[cast.number - 1] else { continue }
            throw WireError(
                state: .ambiguousParameter, message: "parameter $\(cast.number) is given two types",
                hint: "Use a parameter of its own for each.")
        }
    }

    /// What the client says must be something that the statement can cast to what it says.
    ///
    /// - Throws: `.cannotCoerce`, as PostgreSQL does; `.featureNotSupported`.
    static func requireCasts(_ given: [TypeOID], _ analysis: Analysis) throws(WireError) {
        guard !given.isEmpty else { return }
        for number in 1...given.count where number <= analysis.parameterTypes.count {
            let cast = analysis.cast(of: number)
            guard cast != .unspecified, let type = Self.given(number - 1, given) else { continue }
            if let refusal = TypeCast.refusal(of: number, from: type, to: cast) { throw refusal }
        }
        for cast in analysis.parameterCasts {
            guard let type = Self.given(cast.number - 1, given) else { continue }
            if let refusal = TypeCast.refusal(of: cast.number, from: type, to: cast.type) { throw refusal }
        }
    }

    /// nil: the client has not said it.
    private static func given(_ index: Int, _ given: [TypeOID]) -> TypeOID? {
        guard index < given.count, given[index] != .unspecified, given[index] != .unknown else { return nil }
        return given[index]
    }

    /// The client's word counts. But what it calls a text where only a number can be right would be compared without
    /// a word and never be equal; PostgreSQL has no such operator. Who writes `$1::text` means it.
    ///
    /// - Parameter cast: what stands behind it there.
    private static func explicit(_ type: TypeOID, _ inferred: ParameterType, cast: TypeOID) -> ParameterType {
        let isText = type.isCharacters
        if isText, cast.isCharacters { return ParameterType(type: type, rule: .typed, isGiven: true) }
        if isText, cast != .unspecified {
            var rule = rule(cast, inferred)
            if rule == .typed { rule = .textAs(cast) }
            if case .momentAs(_, let column) = rule { rule = .momentAs(cast: cast, column: column) }
            return ParameterType(type: type, rule: rule, isGiven: true)
        }
        // Of an integer SQLite's CAST would leave more than true and false.
        if cast == .bool, type == .int2 || type == .int4 || type == .int8 { return ParameterType(type: type, rule: .truth, isGiven: true) }
        if type == .jsonb, cast.isNumber { return ParameterType(type: type, rule: cast == .bool ? .textAs(cast) : .number, isGiven: true) }
        // What is a text to the client would be a number to the affinity of a column declared as UUID, if it has digits only.
        if isText, inferred.isForUUID { return ParameterType(type: type, rule: .uuid, isGiven: true) }
        let rule = isText && inferred.rule == .number && !inferred.isOnlyCalculated ? .number : rule(type, inferred, cast: cast)
        return ParameterType(type: type, rule: rule, isGiven: true)
    }

    private static func rule(_ type: TypeOID, _ inferred: ParameterType, cast: TypeOID = .unspecified) -> TextRule {
        let isCounted = inferred.rule == .number || inferred.rule == .numberIfPossible
        if isCounted, PostgresSpelling.isNeverCounted(type) { return .calculated(type) }
        if inferred.isCastToNumber, PostgresSpelling.isMoment(type) || type == .uuid { return .calculated(type) }
        if inferred.meetsNumbers, PostgresSpelling.isMoment(type) || type == .uuid { return .mismatched(type) }
        if type == .json || type == .jsonb, inferred.type == .json || inferred.type == .jsonb { return .json }
        return moment(type, inferred, cast: cast) ?? (isNumber(type, inferred) ? .number : .typed)
    }

    /// Texts of different length would be compared: '2024-01-02' is less than '2024-01-02 00:00:00', which to PostgreSQL is the same
    /// moment, for it converts the date.
    private static func moment(_ type: TypeOID, _ inferred: ParameterType, cast: TypeOID) -> TextRule? {
        guard type == .date || type == .timestamp || type == .timestamptz || (type == .timetz && cast == .time) else { return nil }
        let cast = MomentText.types.contains(cast) && cast != type ? cast : .unspecified
        let value = cast == .unspecified ? type : cast
        let isOfColumn = inferred.rule == .verbatim && MomentText.types.contains(inferred.type)
        let column = isOfColumn && inferred.type != value && inferred.type != .time && value != .time ? inferred.type : .unspecified
        return cast == .unspecified && column == .unspecified ? nil : .momentAs(cast: cast, column: column)
    }

    /// Only among texts, and bytes, does a decimal with too many digits for a double become the text that has them all. Where nothing
    /// converts it every number would be less than that; elsewhere SQLite would make a double of it, which is not always the one next to
    /// it: 0.00000000000000000000000002463 would not be found where a client has stored the real 2.463E-26.
    private static func isNumber(_ type: TypeOID, _ inferred: ParameterType) -> Bool {
        type == .numeric && inferred.type != .text && inferred.type != .bytea
    }

    /// With results announced by what SQLite stores, so are parameters: dates are text. A decimal is no loss.
    private func announced(_ typing: Typing) -> ParameterType {
        if rule == .array {
            guard let element = type.element, element.isStoredAsText, typing.results != .declared else { return self }
            return ParameterType(type: .textArray, rule: .array)
        }
        var result = type.isStoredAsText && typing.results != .declared ? .text : self
        if rule == .verbatim, MomentText.types.contains(type) { result.rule = .moment(type) }
        if isForUUID { result.rule = .uuid }
        return result
    }

    /// It goes into a column declared UUID, as it comes.
    private var isForUUID: Bool { rule == .uuid || (rule == .verbatim && type == .uuid) }

    /// PostgreSQL refuses the statement. Here the error waits for a value that is not NULL, which has no class to
    /// be wrong about: drivers send NULL without a type.
    private static func undetermined(_ setting: Typing.UntypedParameters) -> ParameterType {
        switch setting {
        case .text: .text
        case .number: ParameterType(type: .numeric, rule: .numberIfPossible)
        case .error: .undetermined
        }
    }

    init(type: TypeOID, rule: TextRule, isGiven: Bool) { (self.type, self.rule, self.isGiven) = (type, rule, isGiven) }
}
