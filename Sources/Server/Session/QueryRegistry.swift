import POSIX
import Pool
import PostgresWire

/// The texts in use, so that a text sent again finds what is known of it and every connection's prepared statement.
///
/// Two generations: a text asked for is in the young one; when that is full, of texts or of bytes, it becomes the old one, and what
/// was not asked for since is forgotten.
final class QueryRegistry: Sendable {
    private struct Generations {
        var young: [Int: Query] = [:]
        var old: [Int: Query] = [:]
        /// Of the young one, as far as each takes more than `rememberedSmallBytes`.
        var bytes = 0

        mutating func turnOver() {
            old = young
            young = [:]
            bytes = 0
        }
    }

    private let generations = Locked(Generations())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var count: Int { generations.withLock { $0.young.count + $0.old.count } }

    func query(_ sql: UnsafeRawBufferPointer, _ likeEscape: LikePatterns.Escape = .none) throws(WireError) -> Query {
        guard sql.count <= SessionLimits.rememberedTextBytes else { return try Query(sql, likeEscape: likeEscape) }
        // Seeded per process, so nobody can make texts collide on purpose; a chance collision is a miss.
        var hasher = Hasher()
        hasher.combine(bytes: sql)
        if case .backslash = likeEscape { hasher.combine(likeEscape) }
        let key = hasher.finalize()
        if let found = find(key), found.likeEscape == likeEscape, found.sent.bytes.elementsEqual(sql) { return found }
        let query = try Query(sql, likeEscape: likeEscape)
        generations.withLock { insert(query, key, &$0) }
        count(query.keptBytes)
        return query
    }

    private func find(_ key: Int) -> Query? {
        let (found, isMoved) = generations.withLock { generations -> (Query?, Bool) in
            if let found = generations.young[key] { return (found, false) }
            guard let found = generations.old.removeValue(forKey: key) else { return (nil, false) }
            insert(found, key, &generations)
            return (found, true)
        }
        if isMoved, let found { count(found.keptBytes) }
        return found
    }

    private func insert(_ query: Query, _ key: Int, _ generations: inout Generations) {
        if generations.young.count >= limit { generations.turnOver() }
        generations.young[key] = query
    }

    /// More is known of a text than before, and it may take much more.
    func wasAnalysed(_ query: Query) {
        let isRemembered = query.sent.bytes.count <= SessionLimits.rememberedTextBytes
        guard isRemembered, let bytes = query.analysis?.keptBytes else { return }
        count(bytes)
    }

    private func count(_ bytes: Int) {
        guard bytes > SessionLimits.rememberedSmallBytes else { return }
        generations.withLock { generations in
            generations.bytes += bytes
            if generations.bytes > SessionLimits.rememberedBytes { generations.turnOver() }
        }
    }
}
