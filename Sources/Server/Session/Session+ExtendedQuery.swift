import PostgresWire
import Pool

/// The extended query protocol: Parse, Bind, Describe, Execute, Close.
/// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
extension Session {
    func parse(_ message: ParseMessage) throws(WireError) -> Wait? {
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
        let statement = PreparedStatement(
            query: query, analysis: analysis, given: message.parameterTypes,
            typing: state.settings.typing)
        if name.isEmpty { state.unnamedStatement = statement } else { try keep(statement, name) }
        finishStatement()
        out.parseComplete()
        return nil
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

    func requireNewStatement(_ name: String) throws(WireError) {
        guard state.statements[name] == nil else {
            throw WireError(
                state: .duplicatePreparedStatement, message: "prepared statement \"\(name)\" already exists")
        }
        guard state.statements.count < SessionLimits.preparedStatements else {
            throw WireError(
                state: .programLimitExceeded, message: "too many prepared statements in this session",
                hint: "DEALLOCATE those that are not needed any more.")
        }
        try requireShort(name)
    }

    /// Under its name, if there is room for it.
    func keep(_ statement: PreparedStatement, _ name: String) throws(WireError) {
        let taken = statement.keptBytes
        guard taken <= SessionLimits.smallBytes || state.statements.bytes + taken <= SessionLimits.keptBytes else {
            throw Self.statementsTooLarge
        }
        state.statements.keep(statement, name)
    }

    /// What is known of a statement may have grown with its tables, until there is no more room for it under its name.
    func requireRoom(forGrown statement: PreparedStatement) throws(WireError) {
        guard statement.keptBytes > SessionLimits.smallBytes else { return }
        guard let name = state.statements.recount(statement) else {
            if let portal = state.portals.values.first(where: { $0.statement === statement }) { try requireRoom(for: portal) }
            return
        }
        guard state.statements.bytes > SessionLimits.keptBytes else { return }
        state.statements.remove(name)
        throw Self.statementsTooLarge
    }

    private static let statementsTooLarge = WireError(
        state: .programLimitExceeded, message: "the prepared statements of this session are too large",
        hint: "DEALLOCATE those that are not needed any more.")

    func requireShort(_ name: String) throws(WireError) {
        guard name.utf8.count <= SessionLimits.nameBytes else {
            throw WireError(
                state: .programLimitExceeded, message: "a name is too long",
                detail: "It has \(name.utf8.count) bytes; \(SessionLimits.nameBytes) are the limit.")
        }
    }

    @inline(__always)
    func statement(named name: UnsafeRawBufferPointer) throws(WireError) -> PreparedStatement {
        if name.isEmpty {
            if let statement = state.unnamedStatement { return statement }
            throw WireError(
                state: .invalidSQLStatementName, message: "unnamed prepared statement does not exist")
        }
        if let statement = state.statements.named(name) { return statement }
        throw WireError(
            state: .invalidSQLStatementName,
            message: "prepared statement \"\(String(decoding: name, as: UTF8.self))\" does not exist")
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

    private func newPortal(
        _ name: UnsafeRawBufferPointer, for statement: PreparedStatement
    ) throws(WireError) -> Portal {
        guard !name.isEmpty else { return newUnnamedPortal(for: statement) }
        let text = String(decoding: name, as: UTF8.self)
        try requireNewPortal(text)
        let portal = Portal(name: text, statement: statement)
        portal.savepointDepth = state.transaction.savepoints.count
        state.portals[text] = portal
        return portal
    }

    /// The unnamed portal's object is used again, except in a group: one that is run again needs it as it was.
    private func newUnnamedPortal(for statement: PreparedStatement) -> Portal {
        if let portal = state.unnamedPortal {
            finish(portal)
            if writerMode != .group {
                portal.reuse(for: statement)
                return portal
            }
        }
        let portal = Portal(name: "", statement: statement)
        state.unnamedPortal = portal
        return portal
    }

    func requireNewPortal(_ name: String) throws(WireError) {
        guard state.portals[name] == nil else {
            throw WireError(state: .duplicateCursor, message: "cursor \"\(name)\" already exists")
        }
        guard state.portals.count < SessionLimits.portals else {
            throw WireError(state: .programLimitExceeded, message: "too many open portals in this session")
        }
        try requireShort(name)
    }

    /// A portal that has just got its values, or of whose statement more is known.
    func requireRoom(for portal: Portal) throws(WireError) {
        guard portal.parameters.byteCount + bytesOfStatement(portal) > SessionLimits.smallBytes else { return }
        guard portalBytes <= SessionLimits.keptBytes else {
            closePortal(portal.name)
            throw WireError(
                state: .programLimitExceeded, message: "the portals of this session are too large",
                detail: "Their parameters count, and the statements that only they have.",
                hint: "Close portals that are not needed any more.")
        }
    }

    private var portalBytes: Int {
        // Several may be of one statement, and several statements, as EXECUTE makes one for each call, of one text.
        var counted: Set<ObjectIdentifier> = []
        return state.portals.values.reduce(0) { sum, portal in
            let (bytes, statement) = (sum + portal.parameters.byteCount, portal.statement)
            guard !state.statements.has(statement) else { return bytes }
            let ofText = counted.insert(ObjectIdentifier(portal.query)).inserted ? portal.query.keptBytes : 0
            return bytes + ofText + (counted.insert(ObjectIdentifier(statement)).inserted ? statement.parameterBytes : 0)
        }
    }

    /// A named statement is counted under its name.
    private func bytesOfStatement(_ portal: Portal) -> Int {
        state.statements.has(portal.statement) ? 0 : portal.statement.keptBytes
    }

    @inline(__always)
    func portal(named name: UnsafeRawBufferPointer) throws(WireError) -> Portal {
        if name.isEmpty {
            if let portal = state.unnamedPortal, !portal.isClosed { return portal }
            throw WireError(state: .invalidCursorName, message: "portal \"\" does not exist")
        }
        return try portal(String(decoding: name, as: UTF8.self))
    }

    func portal(_ name: String) throws(WireError) -> Portal {
        if let portal = state.portals[name] { return portal }
        throw WireError(state: .invalidCursorName, message: "portal \"\(name)\" does not exist")
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
            out.rowDescription(Analysis.fields(analysis.columns, makeEncoder(analysis, { _ in .text }, nil, statement.parameters)))
            return
        }
        describeOwn(statement, formats: [])
    }

    private func describe(_ portal: Portal) throws(WireError) -> Wait? {
        try becomeCalled(portal)
        guard case .sqlite = portal.statement.query.kind else {
            if case .session(.fetch(let fetch)) = portal.statement.query.kind, !fetch.isMove, let cursor = state.portals[fetch.name],
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

    func closePortal(_ name: String) {
        guard let portal = name.isEmpty ? state.unnamedPortal : state.portals[name] else { return }
        finish(portal)
        portal.isClosed = true
        if !name.isEmpty { state.portals[name] = nil }
    }

    /// Ends the portals opened after a savepoint.
    func closePortals(deeperThan depth: Int) {
        closePortal("")
        finish(simplePortal)
        for (name, portal) in state.portals {
            // One that failed in the middle of an Execute or FETCH has sent rows that it would count again.
            let hasFailed = portal.rowsOfExecute > 0 || portal.run.map { $0.hasRow && !$0.lease.statement.isRunning } ?? false
            if portal.savepointDepth > depth || hasFailed { closePortal(name) }
        }
    }

    func closeUnnamed() {
        closePortal("")
        state.unnamedStatement = nil
    }

    /// Ends every portal; at the end of a transaction none survives.
    @inline(__always)
    func closePortals() {
        if let portal = state.unnamedPortal {
            finish(portal)
            portal.isClosed = true
        }
        finish(simplePortal)
        if !state.portals.isEmpty {
            for portal in state.portals.values { finish(portal) }
            state.portals.removeAll()
        }
    }
}
