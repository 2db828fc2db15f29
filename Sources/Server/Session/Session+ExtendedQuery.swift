import PostgresWire

/// The extended query protocol: Parse, Bind, Describe, Execute, Close.
/// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
extension Session {
    func parse(_ message: ParseMessage) throws(WireError) -> Wait? {
        try requireLength(ofText: message.sql)
        try ParameterBinder.requireText(message.sql, "the query")
        try ForeignQuotes.checkComments(message.sql)
        try requireValidName(message.name)
        let name = String(decoding: message.name, as: UTF8.self)
        guard let sql = Self.onlyStatement(message.sql) else {
            throw WireError(
                state: .syntaxError, message: "cannot insert multiple commands into a prepared statement")
        }
        // The unnamed statement goes even when the new one turns out to be wrong.
        if name.isEmpty {
            state.unnamedStatement = nil
        } else {
            try requireNewStatement(name)
        }
        try beginStatement()
        let query = try parsedQuery(sql)
        try requireUsableTransaction(for: query)
        var wait: Wait?
        let analysis = try analysisIfNeeded(of: query, &wait)
        if let wait { return wait }
        let statement = try PreparedStatement(
            query: query, analysis: analysis, given: message.parameterTypes,
            typing: state.settings.typing)
        if name.isEmpty { state.unnamedStatement = statement } else { try keep(statement, name) }
        finishStatement()
        out.parseComplete()
        return nil
    }

    /// Without the space and the `;` behind it.
    func requireLength(ofText sql: UnsafeRawBufferPointer) throws(WireError) {
        var end = sql.count
        while end > 0, isSpace(sql[end - 1]) || sql[end - 1] == UInt8(ascii: ";") { end -= 1 }
        try requireLength(of: end)
    }

    /// nil: there are several.
    ///
    /// The position of an error counts from where the client's text began, white space included; but a `;` before the statement would
    /// hide its first word, by which it is told what it is.
    static func onlyStatement(_ sql: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var splitter = StatementSplitter(sql)
        let range = splitter.next() ?? 0..<0
        guard splitter.next() == nil else { return nil }
        let hasEmpty = SQLLexer(UnsafeRawBufferPointer(rebasing: sql[..<range.lowerBound])).contains { $0.kind == .semicolon }
        return UnsafeRawBufferPointer(rebasing: sql[(hasEmpty ? range.lowerBound : 0)..<range.upperBound])
    }

    private func analysisIfNeeded(of query: Query, _ wait: inout Wait?) throws(WireError) -> Analysis? {
        switch query.kind {
        case .sqlite: return try analysis(of: query, &wait)
        case .catalog(.success(let statement)): return try analysisOfCatalog(query, statement, &wait)
        case .catalog(.failure(let refusal)): throw refusedCatalog(query, refusal)
        case .session(.declare): return try query.inner.flatMap { query throws(WireError) in try analysis(of: query, &wait) }
        case .session(.prepare):
            // Its parameters are PREPARE's and not Parse's: this is for errors.
            if let inner = query.inner { _ = try analysis(of: inner, &wait) }
            return nil
        default: return nil
        }
    }

    func bind(_ message: BindMessage) throws(WireError) {
        try requireValidName(message.portal)
        let statement = try statement(named: message.statement)
        try requireUsableTransaction(for: statement.query)
        guard message.parameterCount == statement.parameters.count else {
            let name = String(decoding: message.statement, as: UTF8.self)
            throw WireError(
                state: .protocolViolation,
                message: "bind message supplies \(message.parameterCount) parameters, but prepared statement "
                    + "\"\(name)\" requires \(statement.parameters.count)")
        }
        let portal = try newPortal(message.portal, for: statement)
        portal.parameters.load(message)
        if !portal.name.isEmpty { try requireRoom(for: portal) }
        try takeFormats(message, portal)
        out.bindComplete()
    }

    /// Two names that differ must not become one by being repaired.
    @inline(__always)
    private func requireValidName(_ name: UnsafeRawBufferPointer) throws(WireError) {
        if !name.isEmpty { try ParameterBinder.requireText(name, "a name") }
    }

    private func takeFormats(_ message: BindMessage, _ portal: Portal) throws(WireError) {
        let count = message.resultFormatCount
        guard count > 0 else { return }
        let columns = portal.statement.analysis?.columns.count ?? 0
        guard count == 1 || count == columns || columns == 0 else {
            throw WireError(
                state: .protocolViolation,
                message: "bind message has \(count) result formats but query has \(columns) columns")
        }
        if count == 1 && message.resultFormat(column: 0) == .text { return }
        for column in 0..<count { portal.resultFormats.append(message.resultFormat(column: column)) }
    }

    func execute(_ message: ExecuteMessage) throws(WireError) -> Wait? {
        let portal = try portal(named: message.portal)
        let query = portal.statement.query
        try requireUsableTransaction(for: query)
        try beginStatement()
        let wait: Wait?
        if case .sqlite = query.kind {
            portal.takeBackFormats()
            wait = try runToEnd(portal, maxRows: message.maxRows, describes: false)
        } else {
            wait = try executeOwn(portal, query, maxRows: message.maxRows)
        }
        // A COPY FROM has only begun.
        if wait == nil, !isCopyingIn { finishStatement() }
        return wait
    }

    func describe(_ message: DescribeMessage) throws(WireError) -> Wait? {
        switch message.kind {
        case .statement:
            let statement = try statement(named: message.name)
            try requireUsableTransaction(for: statement.query)
            if let wait = try renewAnalysis(of: statement) { return wait }
            if let unknown = statement.parameters.firstIndex(where: { $0.rule == .none }) {
                throw ParameterType.indeterminate(unknown + 1)
            }
            out.parameterDescription(statement.parameters.map(\.type))
            statement.hasToldParameters = true
            try describeResult(of: statement)
            return nil
        case .portal:
            let portal = try portal(named: message.name)
            try requireUsableTransaction(for: portal.statement.query)
            return try describe(portal)
        }
    }

    private func describeResult(of statement: PreparedStatement) throws(WireError) {
        if case .sqlite = statement.query.kind, let analysis = statement.analysis {
            guard !analysis.columns.isEmpty else { return out.noData() }
            statement.announce(state.settings.typing.results)
            out.rowDescription(Analysis.fields(analysis.columns, makeEncoder(analysis, { _ in .text }, nil, statement)))
            return
        }
        describeOwn(statement, formats: [])
    }

    private func describe(_ portal: Portal) throws(WireError) -> Wait? {
        try becomeCalled(portal)
        guard case .sqlite = portal.statement.query.kind else {
            if case .session(.fetch(let fetch)) = portal.statement.query.kind, !fetch.isMove,
                let cursor = state.portals[ExactName(fetch.name)],
                cursor.isCursor
            {
                // As for any query, the first row decides what open columns are.
                try beginStatement()
                if let wait = try start(cursor) { return wait }
                countPause(of: cursor)
                finishStatement()
            }
            describeOwn(portal.statement, formats: portal.resultFormats)
            return nil
        }
        portal.takeBackFormats()
        if portal.isFresh, let wait = try renewAnalysis(of: portal.statement) { return wait }
        guard let analysis = portal.analysis, !analysis.columns.isEmpty else {
            out.noData()
            return nil
        }
        // The first row decides an open column's type, and it is sent next anyway. A writing statement is not run for
        // a description.
        if analysis.isRead, !portal.isDescribed, analysis.columns.contains(where: { $0.type == .open }) {
            try beginStatement()
            if let wait = try start(portal) { return wait }
            countPause(of: portal)
            finishStatement()
        }
        describeColumns(of: portal, again: true)
        portal.statement.announceOfPortal(state.settings.typing.results)
        // Without a text that is the same for every run, some are open; and what EXECUTE calls may be another statement the next time.
        if analysis.textDescription == nil || portal.statement.isCalled { portal.announce() }
        return nil
    }

    func closeObject(_ message: CloseMessage) throws(WireError) {
        let name = String(decoding: message.name, as: UTF8.self)
        switch message.kind {
        case .statement:
            if name.isEmpty { state.unnamedStatement = nil } else { state.statements.remove(name) }
        case .portal:
            closePortal(name)
        }
        out.closeComplete()
    }
}
