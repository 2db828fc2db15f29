import PostgresWire

/// Small results the session makes by itself.
extension Session {
    func answer(_ chatter: ChatterQuery, formats: [Format], describes: Bool) throws(WireError) {
        let answers = try chatter.items.map { item throws(WireError) in try value(of: item.question) }
        answer(
            chatter.columns, [answers.map(\.0)], tag: "SELECT", formats, describes, types: answers.map(\.1), countsRows: true)
    }

    private func value(of question: ChatterQuery.Question) throws(WireError) -> (String?, TypeOID) {
        switch question {
        case .version: return (ServerVersion.sentence, .text)
        case .currentSchema: return ("main", .text)
        case .currentDatabase: return (isConsole ? Server.consoleName : server.configuration.databaseName, .text)
        case .backendPID: return (String(processID), .int4)
        case .isInRecovery: return (role == .reader ? "t" : "f", .bool)
        case .advisoryUnlockAll: return ("", .text)
        case .currentUser, .sessionUser: return (userName, .text)
        case .setConfig(let name, let value, let isLocal):
            try set(name, [value], isLocal: isLocal)
            return (state.settings.value(name) ?? value, .text)
        case .currentSetting(let name, let missingOK):
            if let value = shown(name) ?? loggingSetting(name) { return (value, .text) }
            guard missingOK else { throw Settings.unknown(name) }
            return (nil, .text)
        }
    }

    /// What Describe says of a statement the session answers by itself; what may be otherwise when it is executed, it remembers.
    func describeOwn(_ statement: PreparedStatement, formats: [Format]) {
        statement.toldTypes = nil
        switch statement.query.kind {
        case .chatter(let chatter):
            describe(chatter.columns, formats, chatter.items.map { type(of: $0.question) })
        case .catalog:
            guard let analysis = statement.query.analysis else { return out.noData() }
            let encoder = CatalogEncoder(analysis, formats: formats, allText: state.settings.typing.results == .text)
            statement.toldTypes = encoder.types
            encoder.describe(to: out)
        case .session(.show(let name)): describe([Setting.spelled(name)], formats)
        case .console(.show(let topic)): ConsoleTable.describe(topic, formats: formats, to: out)
        case .session(.showAll): describe(["name", "setting", "description"], formats)
        case .session(.fetch(let fetch)):
            guard !fetch.isMove, let portal = state.portals[ExactName(fetch.name)], portal.isCursor, let analysis = portal.analysis else {
                return out.noData()
            }
            portal.changeFormats(formats)
            if !portal.isDescribed {
                portal.encoder = makeEncoder(analysis, portal.format, firstRow(of: portal), portal.statement)
                portal.isDescribed = true
            }
            statement.toldTypes = portal.encoder.columns.map(\.type)
            out.rowDescription(Analysis.fields(analysis.columns, portal.encoder))
        case .session(.execute(let name, let arguments)):
            // Its rows will be those of this call: what its arguments are has a say in their types.
            guard let called = try? call(of: name, arguments, statement.query).statement, let analysis = called.analysis,
                !analysis.columns.isEmpty
            else { return out.noData() }
            let encoder = makeEncoder(analysis, formats.format(at:), nil, called)
            statement.announce(state.settings.typing.results)
            statement.toldTypes = encoder.columns.map(\.type)
            out.rowDescription(Analysis.fields(analysis.columns, encoder))
        default: out.noData()
        }
    }

    /// The type alone: describing a statement must not do what it does.
    private func type(of question: ChatterQuery.Question) -> TypeOID {
        switch question {
        case .backendPID: .int4
        case .isInRecovery: .bool
        default: .text
        }
    }

    /// - Parameter types: one for each column; empty: all are text.
    private func describe(_ columns: [String], _ formats: [Format], _ types: [TypeOID] = []) {
        out.rowDescription(
            columns.enumerated().map { index, name in
                FieldDescription(
                    name: name, tableOID: 0, attributeNumber: 0, type: types.isEmpty ? .text : types[index], typeModifier: -1,
                    format: formats.format(at: index))
            })
    }

    func answer(
        _ columns: [String], _ rows: [[String?]], tag: StaticString, _ formats: [Format], _ describes: Bool,
        types: [TypeOID] = [], countsRows: Bool = false
    ) {
        if describes { describe(columns, formats, types) }
        for row in rows {
            let mark = out.beginDataRow(columns: row.count)
            for (index, value) in row.enumerated() {
                append(value, types.isEmpty ? .text : types[index], formats.format(at: index))
            }
            _ = out.endDataRow(mark)
        }
        noteReplyToCommit()
        if countsRows { out.commandComplete(tag, count: Int64(rows.count)) } else { out.commandComplete(tag) }
    }

    private func append(_ value: String?, _ type: TypeOID, _ format: Format) {
        guard let value else { return out.fieldNull() }
        switch (type, format) {
        case (.int4, .binary): out.fieldBinary(Int32(value) ?? 0)
        case (.bool, .binary): out.fieldBoolBinary(value == "t")
        default:
            var copy = value
            copy.withUTF8 { out.fieldText(UnsafeRawBufferPointer($0)) }
        }
    }
}
