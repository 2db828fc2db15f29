import CSQLite

/// For how many rows a statement's INSTEAD OF triggers have run.
///
/// "Changes to a view that are intercepted by INSTEAD OF triggers are not counted" by changes()
/// (https://www.sqlite.org/c3ref/changes.html), but PostgreSQL counts those rows in the command tag, and drivers read that: an ORM whose
/// UPDATE says 0 takes the row for gone. SQLite tells of each run of a trigger by "an SQL comment that indicates the invocation of a
/// trigger" (https://www.sqlite.org/c3ref/c_trace.html), and the first that a statement on a view runs is one for its first row.
final class TriggerRuns {
    private(set) var count: Int64 = 0
    /// The first trigger's comment, with its final NUL.
    private var first: [CChar] = []
    private var isRegistered = false

    /// A statement that writes begins.
    @inline(__always)
    func begin(on connection: OpaquePointer) {
        count = 0
        if !isRegistered { register(on: connection) }
    }

    /// From the first write on: a connection that only reads is not asked to tell.
    private func register(on connection: OpaquePointer) {
        isRegistered = true
        sqlite3_trace_v2(
            connection, UInt32(SQLITE_TRACE_STMT),
            { _, context, _, said in
                guard let context, let text = said?.assumingMemoryBound(to: CChar.self) else { return 0 }
                if text[0] == 0x2D, text[1] == 0x2D { Unmanaged<TriggerRuns>.fromOpaque(context).takeUnretainedValue().note(text) }
                return 0
            },
            // The connection owns its counters, these among them, and outlives every call.
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// A comment before a client's statement comes here, too: it is none of a trigger, or is compared with one in vain.
    private func note(_ comment: UnsafePointer<CChar>) {
        var comment = comment
        // Beside another statement under way it is a comment in a comment.
        while Self.begins(comment, with: "-- -- ") { comment += 3 }
        guard Self.begins(comment, with: Self.beginning) else { return }
        if count == 0 {
            first.removeAll(keepingCapacity: true)
            first.append(contentsOf: UnsafeBufferPointer(start: comment, count: strlen(comment) + 1))
        } else if strcmp(comment, first) != 0 {
            return
        }
        count += 1
    }

    private static let beginning: StaticString = "-- TRIGGER "

    private static func begins(_ text: UnsafePointer<CChar>, with beginning: StaticString) -> Bool {
        strncmp(text, UnsafeRawPointer(beginning.utf8Start).assumingMemoryBound(to: CChar.self), beginning.utf8CodeUnitCount) == 0
    }

    /// How many rows they were, if it is a view's.
    func rowsOfView(on connection: Connection) -> Int64 {
        let name = String(
            decoding: first.dropFirst(Self.beginning.utf8CodeUnitCount).dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        let found = try? connection.prepareInternal(
            """
            SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name COLLATE NOCASE IN (
                SELECT tbl_name FROM main.sqlite_schema WHERE type = 'trigger' AND name = \(SQLQuoting.literal(name)))
            """)
        return (try? found?.step()) == .row ? count : 0
    }
}
