import POSIX
import Pool
import SQLite

/// A private database in memory that holds the catalogs for one state of the served schema.
///
/// Nothing of it is ever in the user's file, and no client's ordinary statement meets it.
final class CatalogConnection: Sendable {
    let pooled: PooledConnection
    let version: CatalogConnections.Version?

    /// How many rows are inserted between two looks at whether to go on: some milliseconds of them.
    private static let rowsBetweenLooks = 1_000

    /// - Parameter mustStop: asked now and then while it is filled; a schema may have a million columns.
    init(
        _ schema: ServedSchema?, version: CatalogConnections.Version?, mustStop: () -> Bool = { false }
    ) throws(SQLiteError) {
        self.version = version
        var settings = ConnectionSettings()
        // Its tables are the daemon's own; what a client can do with them is read.
        settings.trustedSchema = true
        settings.cacheSizeKibibytes = 2_000
        settings.attachesNothing = true
        let connection = try Connection(path: ":memory:", mode: .readWrite, settings: settings)
        var limits = PoolLimits()
        limits.statementsPerConnection = CatalogLimits.statementsPerConnection
        pooled = PooledConnection(connection: connection, limits: limits, counters: PoolCounters())
        var contents = schema.map { CatalogContents($0, mustStop: mustStop) }
        if contents?.isStopped == true { throw .interrupted }
        let rows = contents?.takeRows()
        // PostgreSQL's LIKE tells case apart, also with ESCAPE. It replaces the functions, so it comes before ours.
        try connection.executeInternal("PRAGMA case_sensitive_like = 1")
        CatalogFunctions.register(on: connection, contents ?? CatalogContents(ServedSchema()))
        try connection.executeInternal(Self.definitions)
        if let rows { try Self.insert(rows, connection, mustStop) }
        try connection.executeInternal("PRAGMA query_only = 1")
    }

    private static let definitions: String = {
        var sql = ""
        for table in CatalogTables.columns where !CatalogViews.sql.contains("VIEW \(table.table) ") {
            let columns = table.columns.map { column in
                "\"\(column.name)\" \(CatalogTables.declaration(of: column.type))\(standard(column))"
            }
            sql += "CREATE TABLE \(table.table) (\(columns.joined(separator: ", ")));\n"
        }
        return sql + CatalogViews.sql
            + """
            CREATE INDEX pg_attribute_relid ON pg_attribute (attrelid, attnum);
            CREATE INDEX pg_constraint_indid ON pg_constraint (conindid);
            CREATE INDEX pg_class_oid ON pg_class (oid);
            CREATE INDEX pg_type_oid ON pg_type (oid);
            """
    }()

    /// What a column holds that a row does not name: false, none, or nothing at all.
    private static func standard(_ column: (name: String, type: String)) -> String {
        switch column.type {
        case "bool", "oid", "int2", "int4", "int8", "float4": " DEFAULT 0"
        default: ""
        }
    }

    /// Names and definitions are clients' texts, so they are bound and never part of a statement.
    private static func insert(
        _ rows: [(table: String, row: CatalogRow)], _ connection: Connection, _ mustStop: () -> Bool
    ) throws(SQLiteError) {
        // By table, for each set of columns that its rows name: tables' rows have one, or as many as there are kinds of keys.
        var inserts: [String: [(columns: CatalogRow, statement: Statement)]] = [:]
        try connection.executeInternal("BEGIN")
        for (number, (table, row)) in rows.enumerated() {
            if number % rowsBetweenLooks == 0, mustStop() { throw SQLiteError.interrupted }
            let statement: Statement
            if let known = inserts[table]?.first(where: { $0.columns.hasColumns(of: row) }) {
                statement = known.statement
            } else {
                statement = try connection.prepareInternal(insert(of: row, into: table))
                inserts[table, default: []].append((row, statement))
            }
            for (index, field) in row.fields.enumerated() {
                switch field.value {
                case .int(let number): try statement.bind(Int64(number), at: index + 1)
                case .text(let text): try statement.bindText(copying: text, at: index + 1)
                case .null: try statement.bindNull(index + 1)
                }
            }
            _ = try statement.step()
            statement.reset()
        }
        try connection.executeInternal("COMMIT")
    }

    private static func insert(of row: CatalogRow, into table: String) -> String {
        let names = row.fields.map(\.column).joined(separator: ",")
        return "INSERT INTO \(table) (\(names)) VALUES (\(row.fields.map { _ in "?" }.joined(separator: ",")))"
    }
}

/// The private connections that are not in use.
final class CatalogConnections: Sendable {
    /// A state of the served schema: SQLite's own count of its changes, and which of those with that number it is.
    typealias Version = String

    private let idle = Locked<[CatalogConnection]>([])

    /// One to prepare statements on, whatever it holds: the columns of catalogs are always the same.
    func takeAny() throws(SQLiteError) -> CatalogConnection {
        if let found = idle.withLock({ $0.popLast() }) { return found }
        return try CatalogConnection(nil, version: nil)
    }

    func take(version: Version) -> CatalogConnection? {
        idle.withLock { connections in
            guard let index = connections.firstIndex(where: { $0.version == version }) else { return nil }
            return connections.remove(at: index)
        }
    }

    /// Older ones go first: of a schema that is no more nobody will ask.
    func giveBack(_ connection: CatalogConnection) {
        var dropped: CatalogConnection?
        idle.withLock { connections in
            connections.append(connection)
            if connections.count > CatalogLimits.idleConnections { dropped = connections.removeFirst() }
        }
        // Closed here, with no lock held.
        _ = dropped
    }
}
