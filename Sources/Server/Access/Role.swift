/// What a session may do. Later ones may do all that earlier ones may.
package enum Role: String, CaseIterable, Comparable, Sendable {
    /// Reads the database; looks in the console with SHOW.
    case reader
    /// Writes, too.
    case writer
    /// Commands in the console, too.
    case admin

    package static func < (one: Role, other: Role) -> Bool { one.rank < other.rank }

    private var rank: Int {
        switch self {
        case .reader: 0
        case .writer: 1
        case .admin: 2
        }
    }
}
