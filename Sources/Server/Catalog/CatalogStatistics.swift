/// PostgreSQL's statistics by table and index, which tools join for comments and numbers of rows. SQLite counts nothing of them, and NULL
/// says so. https://www.postgresql.org/docs/15/monitoring-stats.html
enum CatalogStatistics {
    private static let scans = ["seq_scan", "seq_tup_read", "idx_scan", "idx_tup_fetch"]
    private static let rows = ["n_tup_ins", "n_tup_upd", "n_tup_del", "n_tup_hot_upd", "n_live_tup", "n_dead_tup", "n_mod_since_analyze"]
    private static let times = ["last_vacuum", "last_autovacuum", "last_analyze", "last_autoanalyze"]
    private static let counts = ["vacuum_count", "autovacuum_count", "analyze_count", "autoanalyze_count"]
    private static let blocks = ["heap_blks_read", "heap_blks_hit", "idx_blks_read", "idx_blks_hit"]
    private static let ofIndexes = ["idx_scan", "idx_tup_read", "idx_tup_fetch"]

    static let names = tables.map(\.name) + indexes

    private static let tables = [
        (name: "pg_stat_all_tables", columns: scans + rows + times + counts),
        (name: "pg_stat_user_tables", columns: scans + rows + times + counts),
        (name: "pg_statio_all_tables", columns: blocks), (name: "pg_statio_user_tables", columns: blocks),
    ]
    private static let indexes = ["pg_stat_all_indexes", "pg_stat_user_indexes"]

    static let columnTypes: [String: String] = {
        var types = ["relid": "oid", "indexrelid": "oid", "indexrelname": "name"]
        for column in scans + rows + counts + blocks + ofIndexes { types[column] = "int8" }
        for column in times { types[column] = "timestamptz" }
        return types
    }()

    /// Their definitions, for SQLite.
    static let views: String = {
        func nulls(_ columns: [String]) -> String { columns.map { ", NULL AS \($0)" }.joined() }
        let ofTables = tables.map { view in
            "CREATE VIEW \(view.name) AS SELECT c.oid AS relid, n.nspname AS schemaname, c.relname AS relname\(nulls(view.columns)) "
                + "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r';\n"
        }
        let ofIndexes = indexes.map { name in
            "CREATE VIEW \(name) AS SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname AS relname, "
                + "i.relname AS indexrelname\(nulls(Self.ofIndexes)) FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid "
                + "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace;\n"
        }
        return (ofTables + ofIndexes).joined()
    }()
}
