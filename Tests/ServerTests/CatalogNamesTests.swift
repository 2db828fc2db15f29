import Testing

@testable import Server

@Suite struct CatalogNamesTests {
    @Test(arguments: [
        ("SELECT nope FROM track", false),
        ("SELECT relname FROM pg_class", true),
        ("SELECT relname FROM PG_CLASS WHERE relkind = 'r'", true),
        ("SELECT relname FROM \"pg_class\"", true),
        ("SELECT 1 FROM pg_catalog.pg_class", true),
        ("SELECT 1 FROM app.pg_class c", true),
        ("SELECT 1 FROM information_schema.tables", true),
        ("SELECT pg_class.oid::regclass FROM t", false),
        ("SELECT pg_class.oid::regclass FROM pg_class", true),
        // Functions are no catalogs, wherever else in the statement the mistake is.
        ("SELECT pg_sleep(0), nope FROM track", false),
        ("SELECT pg_backend_pid () FORM track", false),
        ("SELECT pg_catalog.pg_backend_pid() FORM track", false),
        ("SELECT pg_catalog.version(), nope", false),
        ("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef", true),
        ("INSERT INTO pg_settings (name) VALUES (1)", true), ("UPDATE pg_settings SET a = pg_sleep(0)", true),
        ("INSERT INTO t (a) VALUES (pg_sleep(0)", false),
        ("SELECT 'pg_class' -- pg_class", false),
        ("", false),
    ])
    func appear(_ sql: String, _ answer: Bool) {
        var sql = sql
        #expect(sql.withUTF8 { CatalogNames.appear(in: UnsafeRawBufferPointer($0)) } == answer)
    }
}
