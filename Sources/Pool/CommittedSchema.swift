import SQLite
import Synchronization

/// Which schema something was found in: the file's schema cookie, "an integer that is incremented whenever the database schema
/// changes" (https://www.sqlite.org/fileformat2.html#schema_cookie), or a draft's own number, which is negative.
///
/// What is not committed cannot go by the cookie: after a rollback it comes again with another schema.
package typealias SchemaVersion = Int

/// The newest committed schema that a connection of the pool has met.
///
/// It says what to look up before there is a connection, and may be late when another process has changed the schema. What a
/// statement runs in, its connection knows (`PooledConnection.schemaVersion`).
package final class CommittedSchema: Sendable {
    /// Nothing is ever found in this one.
    static let unknown = SchemaVersion.min

    @usableFromInline let newest = Atomic<SchemaVersion>(CommittedSchema.unknown)
    private let drafts = Atomic<Int>(0)
    /// How often the database was opened anew, perhaps without its last commits.
    private let era = Atomic<Int>(0)
    var currentEra: Int { era.load(ordering: .relaxed) }

    @inlinable @inline(__always)
    package var version: SchemaVersion { newest.load(ordering: .acquiring) }

    /// Of a committed schema; the statement stands on the row of `PRAGMA schema_version`.
    func version(pinnedBy pin: Statement) -> SchemaVersion {
        era.load(ordering: .relaxed) << 32 | Int(UInt32(truncatingIfNeeded: pin.integer(0)))
    }

    /// A number that no other schema has.
    func draft() -> SchemaVersion { -1 - drafts.wrappingAdd(1, ordering: .relaxed).oldValue }

    static func isDraft(_ version: SchemaVersion) -> Bool { version < 0 }

    /// Somebody who keeps others from committing has seen this one.
    func become(_ version: SchemaVersion) {
        if newest.load(ordering: .relaxed) != version { newest.store(version, ordering: .releasing) }
    }

    /// A reader has seen this one.
    ///
    /// - Parameter known: what was the newest before its snapshot began. If it still is, nobody has seen a newer one since; else
    ///   whoever has a snapshot that is still the newest is right.
    func wasSeen(_ version: SchemaVersion, since known: SchemaVersion, isNewest: () -> Bool) {
        var known = known
        while known != version {
            let (isDone, found) = newest.compareExchange(expected: known, desired: version, ordering: .acquiringAndReleasing)
            guard !isDone, isNewest() else { return }
            known = found
        }
    }

    /// The database is opened anew: of what was committed last, some may be lost, and its numbers come again.
    func forget() {
        era.wrappingAdd(1, ordering: .relaxed)
        newest.store(Self.unknown, ordering: .releasing)
    }
}
