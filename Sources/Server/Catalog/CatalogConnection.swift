import Pool
import SQLite

/// A private database in memory that holds the catalogs for one state of the served schema.
///
/// Nothing of it is ever in the user's file, and no client's ordinary statement meets it.
final class CatalogConnection: Sendable {
    let pooled: PooledConnection
    let version: CatalogConnections.Version?

    /// Statements that clients ask catalogs again and again.
    private static let statementLimit = 64

    init(_ schema: ServedSchema?, version: CatalogConnections.Version?) throws(SQLiteError) {
        self.version = version
        var settings = ConnectionSettings()
        // Its tables are the daemon's own; what a client can do with them is read.
        settings.trustedSchema = true
        settings.cacheSizeKibibytes = 2_000
        let connection = try Connection(path: ":memory:", mode: .readWrite, settings: settings)
        var limits = PoolLimits()
        limits.statementsPerConnection = Self.statementLimit
        pooled = PooledConnection(connection: connection, limits: limits, counters: PoolCounters())
        let contents = schema.map { CatalogContents($0) }
        CatalogFunctions.register(on: connection, contents ?? CatalogContents(ServedSchema()))
        try connection.executeInternal(Self.definitions)
        if let contents { for sql in Self.insertions(contents.rows) { try connection.executeInternal(sql) } }
        // PostgreSQL's LIKE tells case apart.
        try connection.executeInternal("PRAGMA case_sensitive_like = 1; PRAGMA query_only = 1")
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

    /// One statement for each row: SQLite parses hundreds of thousands of them in a second.
    private static func insertions(_ rows: [(table: String, values: [String: CatalogValue])]) -> [String] {
        let batches = stride(from: 0, to: rows.count, by: 500).map { rows[$0..<min($0 + 500, rows.count)] }
        return batches.map { batch in
            var sql = "BEGIN;"
            for row in batch {
                let values = row.values.map { (name: $0.key, value: $0.value) }
                sql += "INSERT INTO \(row.table) (\(values.map(\.name).joined(separator: ","))) VALUES ("
                sql += values.map { entry in
                    switch entry.value {
                    case .int(let number): String(number)
                    case .text(let text): CatalogSyntax.quoted(text, with: "'")
                    case .null: "NULL"
                    }
                }.joined(separator: ",") + ");"
            }
            return sql + "COMMIT"
        }
    }
}

/// The private connections that are not in use.
final class CatalogConnections: Sendable {
    /// A state of the served schema: SQLite's own count of its changes.
    typealias Version = String

    /// Each holds the whole catalog; who asks while these are in use gets one that is thrown away afterwards.
    private static let limit = 2
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
            if connections.count > Self.limit { dropped = connections.removeFirst() }
        }
        // Closed here, with no lock held.
        _ = dropped
    }
}
