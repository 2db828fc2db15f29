import Pool
import PostgresWire
import SQLite

/// What the columns of a result are: said to the client, and kept to.
extension Session {
    /// - Parameter statement: knows what its parameters are, for columns that give one back before there is a row.
    func makeEncoder(
        _ analysis: Analysis, _ format: (Int) -> Format, _ firstRow: ((Int) -> StorageClass)?, _ statement: PreparedStatement? = nil
    ) -> RowEncoder {
        var encoder = Analysis.encoder(analysis.columns, formats: format, openTypes: firstRow)
        for (index, column) in analysis.columns.enumerated() where column.type == .open {
            guard let statement else { continue }
            if firstRow == nil, let assumed = column.assumedOfIntegers, assumed.holds(of: statement) {
                encoder.columns[index].type = assumed.type
            }
            if firstRow == nil, let type = Self.type(ofGiven: column.others, statement) { encoder.columns[index].type = type }
            guard let parameter = column.parameter.map(statement.parameter), let type = parameter.boundType.stored else { continue }
            // Whatever the client sends for these is bound as one, and could not be sent back as a text, or not as a truth.
            guard parameter.isGiven || type == .bytea || type == .bool else { continue }
            // The integer in the first row does not tell a boolean.
            if firstRow == nil || type == .bool || firstRow?(index) == .null { encoder.columns[index].type = type }
            if type == .bool { (encoder.columns[index].isOpen, encoder.columns[index].isUndecided) = (false, false) }
        }
        if state.settings.typing.results == .declared {
            for (index, column) in analysis.columns.enumerated() {
                guard let own = column.ownType, DeclaredValue.isKnown(own) else { continue }
                encoder.columns[index].type = own
                encoder.columns[index].isDeclared = true
                (encoder.columns[index].isOpen, encoder.columns[index].isUndecided) = (false, false)
            }
        }
        if state.settings.typing.results == .text {
            encoder.isAllText = true
            for index in encoder.columns.indices {
                encoder.columns[index].type = .text
                encoder.columns[index].isOpen = false
            }
        }
        return encoder
    }

    /// What a column is announced as that may give one of these back beside a number: the number can be sent as a text, and the text as
    /// nothing else. nil: none of them is said to be anything but a number.
    private static func type(ofGiven slots: [ParameterSlot], _ statement: PreparedStatement) -> TypeOID? {
        let types = slots.map(statement.parameter).filter(\.isGiven).map(\.boundType)
        if types.contains(where: \.isStoredAsText) { return .text }
        return types.contains(.bytea) ? .bytea : nil
    }

    /// The client decodes rows by the types it was told: they are refused if `result_typing` has changed since.
    @inline(__always)
    func requireAnnouncedTyping(of portal: Portal) throws(WireError) {
        guard !portal.isDescribed, let typing = portal.statement.announcedTyping, typing != state.settings.typing.results else { return }
        throw PreparedStatement.stale("result_typing was another one when its columns were announced.")
    }

    /// - Parameter told: what a FETCH was announced as, of which the cursor knows nothing.
    @inline(__always)
    func ensureEncoder(of portal: Portal, told: [TypeOID]? = nil) throws(WireError) {
        guard !portal.isDescribed, let analysis = portal.analysis, !analysis.columns.isEmpty else { return }
        let statement = portal.statement
        if portal.resultFormats.isEmpty, analysis.textDescription != nil, state.settings.typing.results == .stored {
            portal.encoder = analysis.textEncoder
        } else if statement.isDescribed {
            // Describe(statement) announced what is assumed without a row.
            portal.encoder = makeEncoder(analysis, portal.format, nil, statement)
        } else {
            portal.encoder = makeEncoder(analysis, portal.format, firstRow(of: portal), statement)
            if let announced = told ?? statement.announcedTypes, announced.count == portal.encoder.columns.count {
                portal.keepsAnnouncedTypes = portal.encoder.keep(announced)
            }
        }
        if let told = told ?? statement.typesToKeep { try requireTold(told, of: portal) }
        portal.isDescribed = true
    }

    /// Announces the columns, unless that was done for this run already.
    ///
    /// - Parameter again: the client asks, so it is told, however often.
    @inline(__always)
    func describeColumns(of portal: Portal, again: Bool = false) {
        guard again || !portal.isDescribed, let analysis = portal.analysis, !analysis.columns.isEmpty
        else { return }
        if portal.resultFormats.isEmpty, let description = analysis.textDescription,
            state.settings.typing.results == .stored
        {
            portal.encoder = analysis.textEncoder
            portal.isDescribed = true
            description.withUnsafeBytes { out.append($0) }
            return
        }
        if !portal.isDescribed { portal.encoder = makeEncoder(analysis, portal.format, firstRow(of: portal), portal.statement) }
        portal.isDescribed = true
        var positions: [Int] = []
        out.rowDescription(Analysis.fields(analysis.columns, portal.encoder), oidPositions: &positions)
        // A client that has sent a Describe may read by its answer whatever comes later, as psycopg reads each FETCH: this one says the
        // same, and no row may change it. A client that only FETCHes is told each time anew.
        for (index, position) in positions.enumerated() { portal.encoder.columns[index].typePosition = portal.announces ? -1 : position }
    }

    func firstRow(of portal: Portal) -> ((Int) -> StorageClass)? {
        if let kept = portal.kept, kept.hasRow { return { kept.storageClass($0) } }
        guard let run = portal.run, run.hasRow else { return nil }
        let statement = run.lease.statement
        return { statement.storageClass($0) }
    }
}
