import PostgresWire

/// SET, RESET, SHOW and DISCARD.
extension Session {
    /// - Parameter isInStatement: a function sets it in the middle of a statement, perhaps for each of a million rows. The
    ///   client hears of it when the statement is over.
    func set(_ name: String, _ values: [String]?, isLocal: Bool, isInStatement: Bool = false) throws(WireError) {
        let name = name.lowercased()
        if name == "transaction_isolation" || name == "transaction_read_only" {
            return try setTransactionMode(name, values?.joined(separator: " ") ?? "")
        }
        try requireSessionSetting(name)
        if try isOfUser(name, values) { return }
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

    /// SET LOCAL is for what else its message does. Where it comes alone somebody expects more.
    func warnOfLocalAlone() {
        guard !state.transaction.isExplicit, isAloneInMessage else { return }
        out.notice(
            WireError(
                severity: .warning, state: .noActiveSQLTransaction, message: "SET LOCAL can only be used in transaction blocks"))
    }

    /// Whether it is the user's name that is set. There is no other that a session may have.
    func isOfUser(_ name: String, _ values: [String]?) throws(WireError) -> Bool {
        guard name == "session_authorization" || name == "role" else { return false }
        guard values == nil || values == ["none"] || values == ["default"] || values == [userName] else {
            throw WireError(state: .insufficientPrivilege, message: "permission denied to set \(name)")
        }
        return true
    }

    /// Those that are reported are few.
    func noteToReport(_ name: String) {
        let name = name.lowercased()
        guard Settings.reported.contains(where: { $0.lowercased() == name }), !running.settingsToReport.contains(name) else { return }
        running.settingsToReport.append(name)
    }

    func reportSettingsOfStatement() {
        for name in running.settingsToReport { report(name) }
        running.settingsToReport.removeAll()
    }

    /// Clients are told when a setting changes that they may depend on.
    func report(_ name: String) {
        guard let reported = Settings.reported.first(where: { $0.lowercased() == name.lowercased() }),
            let value = state.settings.value(reported)
        else { return }
        out.parameterStatus(reported, value)
        marks.settings = out.end
    }

    func discard(_ what: SessionStatement.Discarded) throws(WireError) {
        guard what == .all else {
            if what == .plans { state.unnamedStatement = nil }
            return
        }
        guard !state.transaction.isExplicit, isAloneInMessage else {
            throw WireError(
                state: .activeSQLTransaction, message: "DISCARD ALL cannot run inside a transaction block")
        }
        closePortals(but: .none)
        closeUnnamed()
        state.statements.removeAll()
        // What its client was told has happened stays so, whatever else of its pipeline fails.
        state.transaction.settings = TransactionSettings()
        goBack(to: defaults)
    }

    func deallocate(_ name: String?) throws(WireError) {
        guard let name else { return state.statements.removeAll() }
        guard state.statements.remove(name) else { throw .noPreparedStatement(name) }
    }

    func show(_ name: String, _ formats: [Format], _ describes: Bool) throws(WireError) {
        guard let value = shown(name) ?? loggingSetting(name) else { throw Settings.unknown(name) }
        answer([Setting.spelled(name)], [[value]], tag: "SHOW", formats, describes)
    }

    func shown(_ name: String) -> String? {
        switch name.lowercased() {
        case "transaction_isolation", "transaction isolation level":
            return isolation.name
        case "transaction_read_only":
            return isReadOnly || role == .reader ? "on" : "off"
        case "session_authorization":
            return userName
        default:
            return state.settings.value(name)
        }
    }

    func showAll(_ formats: [Format], _ describes: Bool) {
        let rows =
            (state.settings.names + ["transaction_isolation", "transaction_read_only"]).map { [$0, shown($0) ?? "", ""] }
            + eventLog.configuration.shown.map { [$0.name, $0.value, ""] }
        answer(["name", "setting", "description"], rows, tag: "SHOW", formats, describes)
    }

    /// What SHOW says of a setting of the log; nil for any other.
    func loggingSetting(_ name: String) -> String? {
        let name = name.lowercased()
        guard name.hasPrefix("log_") else { return nil }
        return server.eventLog.configuration.shown.first { $0.name == name }?.value
    }

    func requireSessionSetting(_ name: String) throws(WireError) {
        guard loggingSetting(name) != nil else { return }
        throw WireError(
            state: .cantChangeRuntimeParam, message: "parameter \"\(name)\" cannot be changed in a session",
            hint: "It is a setting of the daemon's configuration.")
    }
}
