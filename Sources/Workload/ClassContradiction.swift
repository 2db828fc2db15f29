extension ClientClass {
    /// What of a class means nothing beside the rest of it: a key that changes nothing would make the figures those of something
    /// else than was asked for. The command line sets the same keys as the file.
    ///
    /// - Parameter isGiven: whether a key was, whatever its value.
    func contradiction(isGiven: (String) -> Bool) -> (key: String, message: String)? {
        if isOpenLoop, thinkMilliseconds > 0 {
            return ("think_ms", "think_ms is for a class without rate, whose clients wait for nobody")
        }
        if isIdle, let key = Self.keysOfActiveClasses.first(where: isGiven) {
            return (key, "a class that is idle only connects, and has no \(key)")
        }
        if isolation != nil, !begins { return ("isolation", "isolation is what BEGIN asks for, and no transaction has one") }
        if messages == .query, holds { return ("messages", "a transaction that holds cannot be one query") }
        return nil
    }

    private static let keysOfActiveClasses = ["rate", "think_ms", "isolation", "messages", "connect", "read_bytes_per_s"]

    private var begins: Bool { transactions.contains { $0.statements.contains { $0.kind == .begin } } }

    private var holds: Bool { transactions.contains { $0.steps.contains { if case .hold = $0 { true } else { false } } } }
}
