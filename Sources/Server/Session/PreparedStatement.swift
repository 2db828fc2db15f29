import PostgresWire

/// A statement made by Parse or PREPARE.
final class PreparedStatement {
    let query: Query
    /// The query whose rows and parameters are meant: the one inside DECLARE, else `query`.
    let prepared: Query
    private(set) var analysis: Analysis?
    /// By number from 0: what its values are taken for.
    private(set) var parameters: [ParameterType]
    /// The same of `Analysis.parameterCasts`.
    private var casts: [ParameterType]
    private let source: ParameterSource
    /// What it was kept under, if anything: see `NamedStatements.has`.
    var name: String?
    /// Its columns were announced to the client, so they may not change.
    var isDescribed = false
    /// The columns of a portal of it were announced. pgjdbc describes the first and knows from then on.
    var hasDescribedPortal = false
    /// The setting of result_typing by which its columns were announced.
    private(set) var announcedTyping: Typing.Results?
    /// The types that were announced, where the rows of a portal had a say in them.
    private(set) var announcedTypes: [TypeOID]?
    /// What the columns of FETCH, EXECUTE or a question to the catalogs were told as, which depends on more than the statement.
    var toldTypes: [TypeOID]?
    /// The EXECUTE that calls this statement. What is announced for the call is noted there too, as long as the client keeps it.
    private weak var caller: PreparedStatement?
    private(set) var isCalled = false
    /// The client was told its parameters' types, and writes its values accordingly.
    var hasToldParameters = false

    init(query: Query, analysis: Analysis?, _ source: ParameterSource) {
        self.query = query
        prepared = query.prepared
        self.analysis = analysis
        self.source = source
        (parameters, casts) = source.parameters(analysis, of: prepared)
    }

    /// - Parameter allowsUntyped: its values will bring types of their own.
    /// - Throws: `.ambiguousParameter` and `.cannotCoerce`, as PostgreSQL does; `.featureNotSupported`.
    convenience init(
        query: Query, analysis: Analysis?, given: [TypeOID], typing: Typing, allowsUntyped: Bool = false
    ) throws(WireError) {
        if let analysis {
            try ParameterType.requireOneType(given, analysis)
            try ParameterType.requireCasts(given, analysis)
        }
        self.init(query: query, analysis: analysis, ParameterSource(given: given, typing: typing, allowsUntyped: allowsUntyped))
    }

    /// A statement without parameters that SQLite never sees.
    init(_ query: Query) {
        self.query = query
        prepared = query
        (parameters, casts) = ([], [])
        source = ParameterSource(given: [], typing: Typing())
    }

    /// The statement that an EXECUTE with these literals calls.
    ///
    /// - Parameter caller: the EXECUTE, where a client may have been told of its columns before.
    func called(with literals: [TypeOID], typing: Typing, by caller: PreparedStatement?) -> PreparedStatement {
        var source = source
        (source.literals, source.typing) = (literals, typing)
        let call = PreparedStatement(query: query, analysis: analysis, source)
        guard let caller else { return call }
        (call.caller, call.isCalled) = (caller, true)
        (call.isDescribed, call.announcedTyping) = (caller.isDescribed, caller.announcedTyping)
        (call.announcedTypes, call.toldTypes) = (caller.announcedTypes, caller.toldTypes)
        if call.isDescribed { call.requireIntegers() }
        return call
    }

    /// Its text, its parameters, which may be 65,535 where the text is `SELECT ?65535`, and what is known of it.
    var keptBytes: Int { query.keptBytes + parameterBytes }
    var parameterBytes: Int { (parameters.count + casts.count) * MemoryLayout<ParameterType>.stride }

    /// What the values are taken for that are bound to it.
    @inline(__always)
    func parameter(_ slot: ParameterSlot) -> ParameterType {
        if let cast = slot.cast { return casts[Int(cast)] }
        return parameters[slot.number - 1]
    }

    /// As far as the client or the text said.
    var givenTypes: [TypeOID] { parameters.map { $0.isGiven ? $0.type : .unspecified } }

    /// The same columns and parameters as another schema knows them. What the client was told may not change.
    ///
    /// - Parameter isDescribed: its portal's columns were announced.
    func adopt(_ fresh: Analysis, isDescribed: Bool) throws(WireError) {
        let found = source.parameters(fresh, of: prepared)
        if hasToldParameters, found.numbered.map(\.type) != parameters.map(\.type) {
            throw Self.staleParameters
        }
        if isDescribed || areColumnsTold, let analysis, !analysis.announcesSame(as: fresh) { throw Self.stale() }
        (parameters, casts) = found
        analysis = fresh
        if self.isDescribed { requireIntegers() }
    }

    func announce(_ typing: Typing.Results) {
        (isDescribed, announcedTyping, announcedTypes) = (true, typing, nil)
        requireIntegers()
    }

    func announceOfPortal(_ typing: Typing.Results) {
        hasDescribedPortal = true
        announcedTyping = typing
        caller?.announcedTyping = typing
    }

    /// The types that the rows of a portal gave its columns.
    func announceOfPortal(_ types: [TypeOID]) {
        announcedTypes = types
        if isCalled { toldTypes = types }
        guard let caller else { return }
        (caller.announcedTypes, caller.toldTypes) = (types, types)
    }

    /// The types that a portal's columns must have when the portal itself was not described. If both its statement and an earlier portal
    /// were described, its rows must fit both, because nobody knows by which of them the client reads.
    var typesToKeep: [TypeOID]? { toldTypes ?? (isDescribed ? announcedTypes : nil) }

    /// A result computed from bigint parameters was announced as bigint. SQLite would take '1.5' for such a parameter, and then the result
    /// would be no bigint. So a parameter's text must be an integer, as in PostgreSQL (22P02).
    private func requireIntegers() {
        guard announcedTyping != .text else { return }
        for column in analysis?.columns ?? [] where column.type == .open {
            guard let assumed = column.assumedOfIntegers, assumed.type == .int8, assumed.holds(of: self) else { continue }
            for slot in assumed.parameters where !parameter(slot).isGiven && parameter(slot).rule == .number {
                parameters[slot.number - 1].rule = .typed
            }
        }
    }

    var areColumnsTold: Bool { isDescribed || hasDescribedPortal }

    /// Its columns as they turned out to be when it ran, which the client has not been told.
    func take(_ fresh: Analysis) { analysis = fresh }

    static var staleParameters: WireError { stale("A parameter's type would be another one than the client was told.") }

    static func stale(_ detail: String? = nil) -> WireError {
        var error = WireError(
            state: .featureNotSupported, message: "cached plan must not change result type", detail: detail,
            hint: "The table's definition has changed: prepare the statement again.")
        // By this asyncpg knows that preparing again will help.
        error.routine = "RevalidateCachedQuery"
        return error
    }
}

/// What decides the types of a statement's parameters beside the schema.
struct ParameterSource {
    /// By Parse or PREPARE.
    var given: [TypeOID]
    var typing: Typing
    /// Its values will bring types of their own.
    var allowsUntyped = false
    /// Of EXECUTE's arguments.
    var literals: [TypeOID]?

    func parameters(_ analysis: Analysis?, of query: Query) -> (numbered: [ParameterType], casts: [ParameterType]) {
        let given = self.given(analysis)
        var numbered = ParameterType.list(given, analysis, typing, allowsUntyped: allowsUntyped || literals != nil)
        var casts = ParameterType.casts(given, analysis)
        guard let analysis else { return (numbered, casts) }
        /// By place, as `Analysis.inferredTypes` has them.
        func typeOfOtherOrder(_ place: Int) -> TypeOID? {
            let count = analysis.parameterTypes.count
            if place >= count { return casts[place - count].typeOfOtherOrder(cast: analysis.parameterCasts[place - count].type) }
            return numbered[place].typeOfOtherOrder(cast: analysis.cast(of: place + 1))
        }
        guard analysis.inferredTypes.indices.contains(where: { typeOfOtherOrder($0) != nil }) else { return (numbered, casts) }
        let places = analysis.places(isNumbered: query.numbered != nil)
        for place in OrderedParameters.places(query.numbered?.text.bytes ?? query.text.bytes, places) {
            guard let type = typeOfOtherOrder(place) else { continue }
            let count = analysis.parameterTypes.count
            if place >= count { casts[place - count].rule = .unordered(type) } else { numbered[place].rule = .unordered(type) }
        }
        return (numbered, casts)
    }

    /// By Parse or PREPARE, or else as EXECUTE's arguments are. Where PREPARE gave none, a number is one; a string is what its place makes of
    /// it, as any literal of PostgreSQL's, or else a text.
    private func given(_ analysis: Analysis?) -> [TypeOID] {
        guard let literals else { return given }
        let prepared = ParameterType.list(given, analysis, typing, allowsUntyped: allowsUntyped)
        return zip(prepared, literals).map { parameter, literal in
            if parameter.isGiven { return parameter.type }
            return literal == .text ? .unspecified : literal
        }
    }
}
