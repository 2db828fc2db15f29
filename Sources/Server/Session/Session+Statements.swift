import Pool
import PostgresWire
import SQLite

/// The statements a session answers by itself: transactions, settings, cursors, and what drivers ask unprompted.
extension Session {
    /// How a statement was called: as a simple query, or by Execute with what Parse and Bind said.
    struct Invocation {
        var parameters: BoundParameters?
        var parameterTypes: [TypeOID] = []
        /// What Describe has told of the parameters, if it was asked.
        var toldParameters: [TypeOID]?
        /// And of the columns.
        var toldTypes: [TypeOID]?
        /// The result formats Bind asked for; nil in a simple query.
        var formats: [Format]?
        /// Its rows are to be announced.
        var describes = false
    }

    /// Runs one of them; nil when it is done.
    func run(_ query: Query, _ invocation: Invocation) throws(WireError) -> Wait? {
        let wait = try answer(query, invocation)
        if wait == nil { countOwn(query.kind) }
        return wait
    }

    private func answer(_ query: Query, _ invocation: Invocation) throws(WireError) -> Wait? {
        switch query.kind {
        case .empty:
            out.emptyQueryResponse()
            return nil
        case .sqlite:
            return nil
        case .transaction(let statement):
            return try run(statement, tag: query.head.tag)
        case .chatter(let chatter):
            try answer(chatter, formats: invocation.formats ?? [], describes: invocation.describes)
            return nil
        case .session(let statement):
            return try run(statement, query, invocation)
        case .catalog(.success(let statement)):
            return try run(statement, query, invocation)
        case .catalog(.failure(let refusal)):
            throw refusedCatalog(query, refusal)
        case .copy(let statement):
            return try run(statement, query)
        case .console(let statement):
            return try run(statement, invocation)
        }
    }

    private func run(
        _ statement: SessionStatement, _ query: Query, _ invocation: Invocation
    ) throws(WireError) -> Wait? {
        let (formats, describes) = (invocation.formats ?? [], invocation.describes)
        switch statement {
        case .show(let name):
            return try show(name, formats, describes)
        case .showAll:
            showAll(formats, describes)
            return nil
        case .fetch(let fetch):
            return try self.fetch(fetch, invocation)
        case .declare(let cursor):
            return try declare(cursor, query, invocation)
        case .prepare(let name, let types, _):
            return try prepare(name, types, query)
        case .execute(let name, let arguments):
            return try execute(name, arguments, query, invocation)
        default:
            try runSetting(statement)
            complete(Self.tag(of: statement) ?? query.head.tag)
            return nil
        }
    }

    /// Where PostgreSQL's tag says more than the verb.
    private static func tag(of statement: SessionStatement) -> StaticString? {
        switch statement {
        case .deallocate(nil): "DEALLOCATE ALL"
        case .close(nil): "CLOSE CURSOR ALL"
        case .discard(.all): "DISCARD ALL"
        case .discard(.plans): "DISCARD PLANS"
        case .discard(.sequences): "DISCARD SEQUENCES"
        case .discard(.temporary): "DISCARD TEMP"
        default: nil
        }
    }

    private func runSetting(_ statement: SessionStatement) throws(WireError) {
        switch statement {
        case .set(let scope, let name, let values):
            try set(name, values, isLocal: scope == .local)
        case .setTransaction(let modes):
            try setTransaction(modes)
        case .setTransactionSnapshot:
            throw WireError(state: .featureNotSupported, message: "snapshots cannot be imported")
        case .setSessionCharacteristics(let modes):
            try change { settings throws(WireError) in
                if let isolation = modes.isolation { settings.defaultIsolation = isolation }
                if let readOnly = modes.readOnly { settings.defaultReadOnly = readOnly }
            }
        case .setConstraints:
            throw WireError(
                state: .featureNotSupported, message: "SET CONSTRAINTS is not available",
                hint: "A foreign key declared DEFERRABLE INITIALLY DEFERRED is checked at COMMIT.")
        case .reset(let name):
            try requireSessionSetting(name)
            try change { settings throws(WireError) in try settings.reset(name, from: defaults) }
            report(name)
        case .resetAll:
            try change { settings throws(WireError) in settings = defaults }
            Settings.reported.forEach(report)
        case .discard(let what):
            try discard(what)
        case .deallocate(let name):
            try deallocate(name)
        case .close(let name):
            if let name {
                _ = try portal(name)
                closePortal(name)
            } else {
                for name in state.portals.keys { closePortal(name) }
            }
        case .unlisten:
            break
        case .listen, .notify:
            throw WireError(state: .featureNotSupported, message: "LISTEN and NOTIFY are not available")
        default:
            break
        }
    }

    // MARK: Settings

    /// - Parameter isInStatement: a function sets it in the middle of a statement, perhaps for each of a million rows. The
    ///   client hears of it when the statement is over.
    func set(_ name: String, _ values: [String]?, isLocal: Bool, isInStatement: Bool = false) throws(WireError) {
        if name == "transaction_isolation" || name == "transaction_read_only" {
            return try setTransactionMode(name, values?.joined(separator: " ") ?? "")
        }
        try requireSessionSetting(name)
        if name == "session_authorization" || name == "role" {
            guard values == nil || values == ["none"] || values == ["default"] || values == [userName] else {
                throw WireError(state: .insufficientPrivilege, message: "permission denied to set \(name)")
            }
            return
        }
        if isLocal && !state.transaction.isExplicit {
            if !isInStatement {
                out.notice(
                    WireError(
                        severity: .warning, state: .noActiveSQLTransaction,
                        message: "SET LOCAL can only be used in transaction blocks"))
            }
            return
        }
        if let values {
            try change(isLocal: isLocal) { settings throws(WireError) in
                var changed = settings
                try changed.set(name, values)
                try access.limits.check(changed)
                settings = changed
            }
        } else {
            try change(isLocal: isLocal) { settings throws(WireError) in try settings.reset(name, from: defaults) }
        }
        if isInStatement { noteToReport(name) } else { report(name) }
    }

    /// Those that are reported are few.
    private func noteToReport(_ name: String) {
        let name = name.lowercased()
        guard Settings.reported.contains(where: { $0.lowercased() == name }), !settingsToReport.contains(name) else { return }
        settingsToReport.append(name)
    }

    func reportSettingsOfStatement() {
        for name in settingsToReport { report(name) }
        settingsToReport.removeAll()
    }

    /// Changes the settings, and what they will be after COMMIT unless the change is for this transaction only.
    private func change(
        isLocal: Bool = false, _ body: (inout Settings) throws(WireError) -> Void
    ) throws(WireError) {
        try body(&state.settings)
        if !isLocal, var kept = state.transaction.settingsToKeep {
            try body(&kept)
            state.transaction.settingsToKeep = kept
        }
    }

    private func setTransactionMode(_ name: String, _ value: String) throws(WireError) {
        var modes = TransactionModes()
        if name == "transaction_read_only" {
            modes.readOnly = try Settings.boolean(name, value)
        } else if let level = IsolationLevel(name: value) {
            modes.isolation = level
        } else {
            throw WireError(
                state: .invalidParameterValue, message: "invalid value for parameter \"\(name)\": \"\(value)\"")
        }
        try setTransaction(modes)
    }

    /// What a BEGIN inside the block asks for, too.
    func setTransaction(_ modes: TransactionModes) throws(WireError) {
        guard state.transaction.isExplicit else {
            return out.notice(
                WireError(
                    severity: .warning, state: .noActiveSQLTransaction,
                    message: "SET TRANSACTION can only be used in transaction blocks"))
        }
        if modes.readOnly == false { try requireWriterRole(to: "set the transaction's mode to read-write") }
        let hasBegun = readerIndex != nil || writerMode != .none
        if hasBegun, let isolation = modes.isolation, isolation != state.transaction.isolation {
            throw WireError(
                state: .activeSQLTransaction, message: "SET TRANSACTION ISOLATION LEVEL must be called before any query")
        }
        if hasBegun, state.transaction.isReadOnly, modes.readOnly == false {
            throw WireError(state: .activeSQLTransaction, message: "transaction read-write mode must be set before any query")
        }
        if let isolation = modes.isolation { state.transaction.isolation = isolation }
        if let readOnly = modes.readOnly { state.transaction.isReadOnly = readOnly }
        let pins =
            state.transaction.isReadOnly || state.transaction.isolation == .repeatableRead
            || state.transaction.isolation == .serializable
        // One that is there stays: BEGIN DEFERRED keeps its snapshot whatever the level.
        state.transaction.pinsSnapshot = (pins || hasBegun && state.transaction.pinsSnapshot) && writerMode == .none
        releaseReaderIfUnused()
    }

    /// Clients are told when a setting changes that they may depend on.
    func report(_ name: String) {
        guard let reported = Settings.reported.first(where: { $0.lowercased() == name.lowercased() }),
            let value = state.settings.value(reported)
        else { return }
        out.parameterStatus(reported, value)
    }

    private func discard(_ what: SessionStatement.Discarded) throws(WireError) {
        guard what == .all else {
            if what == .plans { state.unnamedStatement = nil }
            return
        }
        guard !state.transaction.isExplicit else {
            throw WireError(
                state: .activeSQLTransaction, message: "DISCARD ALL cannot run inside a transaction block")
        }
        closePortals()
        closeUnnamed()
        state.statements.removeAll()
        state.settings = defaults
        Settings.reported.forEach(report)
    }

    private func deallocate(_ name: String?) throws(WireError) {
        guard let name else { return state.statements.removeAll() }
        guard state.statements.remove(name) else {
            throw WireError(
                state: .invalidSQLStatementName, message: "prepared statement \"\(name)\" does not exist")
        }
    }

    private func show(_ name: String, _ formats: [Format], _ describes: Bool) throws(WireError) -> Wait? {
        guard let value = shown(name) ?? loggingSetting(name) else { throw Settings.unknown(name) }
        answer([name], [[value]], tag: "SHOW", formats, describes)
        return nil
    }

    private func shown(_ name: String) -> String? {
        switch name.lowercased() {
        case "transaction_isolation", "transaction isolation level":
            return (state.transaction.isExplicit ? state.transaction.isolation : state.settings.defaultIsolation).name
        case "transaction_read_only":
            let isReadOnly =
                state.transaction.isExplicit ? state.transaction.isReadOnly : state.settings.defaultReadOnly
            return isReadOnly || role == .reader ? "on" : "off"
        case "session_authorization":
            return userName
        default:
            return state.settings.value(name)
        }
    }

    private func showAll(_ formats: [Format], _ describes: Bool) {
        let rows =
            (state.settings.names + ["transaction_isolation", "transaction_read_only"]).map { [$0, shown($0) ?? "", ""] }
            + eventLog.configuration.shown.map { [$0.name, $0.value, ""] }
        answer(["name", "setting", "description"], rows, tag: "SHOW", formats, describes)
    }
}
