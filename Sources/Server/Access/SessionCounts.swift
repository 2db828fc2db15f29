/// How many sessions each rule has let in that are still there, and how many connections have yet to start.
///
/// By the rule's name, so that rules that are replaced while the daemon runs go on counting where they stay the same.
struct SessionCounts: Sendable {
    /// Whom a connection is counted with that has not started.
    enum Group: Hashable, Sendable {
        /// The rule that will decide about it, and may let it in.
        case rule(String)
        /// All whom no rule lets in.
        case strangers
    }

    private var started: [String: Int] = [:]
    private var starting: [Group: Int] = [:]
    /// Of all rules.
    private(set) var sessions = 0

    /// A connection comes. False: its group has as many as may be.
    mutating func arrive(_ group: Group, atMost maximum: Int) -> Bool {
        let count = starting[group, default: 0]
        var sessions = 0
        if case .rule(let name) = group { sessions = started[name, default: 0] }
        guard count + sessions < maximum else { return false }
        starting[group] = count + 1
        return true
    }

    /// It has gone, or started.
    mutating func departed(_ group: Group) {
        guard let count = starting[group] else { return }
        starting[group] = count > 1 ? count - 1 : nil
    }

    /// It starts. False: there are as many sessions of that rule as may be.
    mutating func add(_ name: String, atMost maximum: Int) -> Bool {
        let count = started[name, default: 0]
        guard count < maximum else { return false }
        started[name] = count + 1
        sessions += 1
        return true
    }

    mutating func remove(_ name: String) {
        guard let count = started[name] else { return }
        started[name] = count > 1 ? count - 1 : nil
        sessions -= 1
    }
}
