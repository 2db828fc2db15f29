import PostgresWire

/// Settings that end with their transaction, or that it takes back as it fails.
extension Session {
    /// Changes the settings, and what they will be after COMMIT unless the change is for this transaction only.
    func change(
        isLocal: Bool = false, _ body: (inout Settings) throws(WireError) -> Void
    ) throws(WireError) {
        try noteSettings()
        if isLocal {
            let before = state.settings
            try body(&state.settings)
            if state.transaction.settings.toKeep == nil { state.transaction.settings.toKeep = HeldSettings(before) }
        } else {
            try body(&state.settings)
            guard var kept = state.transaction.settings.toKeep?.settings else { return }
            try body(&kept)
            state.transaction.settings.toKeep = HeldSettings(kept)
        }
    }

    /// RESET ALL.
    func resetAllSettings() throws(WireError) {
        try noteSettings()
        state.transaction.settings.toKeep = nil
        goBack(to: defaults)
    }

    /// Before a setting changes. A Query message, and a pipeline up to its Sync, are one transaction where there is no block.
    private func noteSettings() throws(WireError) {
        let isNoted = state.transaction.settings.before != nil
        guard !isNoted || state.transaction.savepoints.last.map({ $0.settingsBefore == nil }) ?? false else { return }
        let held = HeldSettings(state.settings, toKeep: state.transaction.settings.toKeep)
        guard heldSettingsBytes + held.bytes <= SessionLimits.heldSettingsBytes else {
            throw WireError(state: .programLimitExceeded, message: "the savepoints of this transaction hold too many settings")
        }
        if !isNoted { state.transaction.settings.before = held }
        // Those before one that has a note have one, too.
        for index in state.transaction.savepoints.indices.reversed() {
            guard state.transaction.savepoints[index].settingsBefore == nil else { break }
            state.transaction.savepoints[index].settingsBefore = held
        }
    }

    /// What savepoints hold. Neighbours may hold the same.
    private var heldSettingsBytes: Int {
        var bytes = 0
        var last: HeldSettings?
        for savepoint in state.transaction.savepoints {
            guard let held = savepoint.settingsBefore, held !== last else { continue }
            (bytes, last) = (bytes + held.bytes, held)
        }
        return bytes
    }

    /// A transaction ends well.
    func keepSettings() {
        guard let before = state.transaction.settings.before else { return }
        // The group's commit is yet to come.
        if writerMode == .group { member.settingsBefore = before }
        let kept = state.transaction.settings.toKeep
        state.transaction.settings = TransactionSettings()
        if let kept { goBack(to: kept.settings) }
    }

    /// A transaction has failed, or ROLLBACK has ended it.
    func takeSettingsBack() {
        guard let before = state.transaction.settings.before else { return }
        state.transaction.settings = TransactionSettings()
        goBack(to: before.settings)
    }

    /// ROLLBACK TO this savepoint, or an error behind it.
    func takeSettingsBack(toSavepoint index: Int) {
        guard let before = state.transaction.savepoints[index].settingsBefore else { return }
        state.transaction.savepoints[index].settingsBefore = nil
        state.transaction.settings.toKeep = before.toKeep
        goBack(to: before.settings)
    }

    /// These settings hold again, and the client hears of those that PostgreSQL reports: "ParameterStatus messages will be generated
    /// whenever the active value changes for any of the parameters",
    /// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-ASYNC
    func goBack(to settings: Settings) {
        // Not whether they are equal: text that is may be composed in two ways.
        let before = Settings.reported.map { state.settings.value($0).map(ExactName.init) }
        state.settings = settings
        for (name, value) in zip(Settings.reported, before) where state.settings.value(name).map(ExactName.init) != value {
            running.settingsToReport.removeAll { $0 == name.lowercased() }
            report(name)
        }
    }
}
