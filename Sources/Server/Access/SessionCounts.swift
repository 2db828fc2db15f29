/// How many sessions each rule has let in that are still there.
///
/// By the rule's name, so that rules that are replaced while the daemon runs go on counting where they stay the same.
struct SessionCounts: Sendable {
    private var counts: [String: Int] = [:]

    /// False: there are as many as may be.
    mutating func add(_ name: String, atMost maximum: Int) -> Bool {
        let count = counts[name, default: 0]
        guard count < maximum else { return false }
        counts[name] = count + 1
        return true
    }

    mutating func remove(_ name: String) {
        guard let count = counts[name] else { return }
        counts[name] = count > 1 ? count - 1 : nil
    }
}
