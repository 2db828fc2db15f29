import SQLite

/// What upkeep does with the file, on the writer connection by whoever holds its lease.
struct Vacuum {
    let writer: Writer
    /// Asked now and then whether to go on.
    let owner: any StatementOwner

    struct Size: Equatable {
        var pages: Int
        var freePages: Int
        var pageBytes: Int
        /// Freed pages can be taken off the end of the file in small steps.
        var isIncremental: Bool

        var keptBytes: Int64 { Int64(pages - freePages) * Int64(pageBytes) }
    }

    /// Pages freed by one job of an auto_vacuum = INCREMENTAL database; then others may write. A few milliseconds.
    static let pagesPerSlice = 1000
    /// "… the recommended value is between 100 and 1000": https://www.sqlite.org/lang_analyze.html#approx
    private static let analysisLimit = 400

    func size() throws(SQLiteError) -> Size {
        // "2: incremental": https://www.sqlite.org/pragma.html#pragma_auto_vacuum
        Size(
            pages: try number("PRAGMA page_count"), freePages: try number("PRAGMA freelist_count"),
            pageBytes: try number("PRAGMA page_size"), isIncremental: try number("PRAGMA auto_vacuum") == 2)
    }

    private func number(_ sql: StaticString) throws(SQLiteError) -> Int {
        Int(try writer.connection.firstText(sql) ?? "") ?? 0
    }

    /// What VACUUM writes while both copies are there: "as much as twice the size of the original database file is
    /// required in free disk space" (https://www.sqlite.org/lang_vacuum.html). One copy is the temporary one, the other
    /// goes into the WAL, with 24 bytes for each frame, and 8 in the WAL's index.
    static func needs(_ size: Size, databaseDirectory: String, temporaryDirectory: String) -> [DiskSpace.Need] {
        let frames = Int64(size.pages - size.freePages) * 32
        return [
            DiskSpace.Need(directory: temporaryDirectory, bytes: size.keptBytes),
            DiskSpace.Need(directory: databaseDirectory, bytes: size.keptBytes + frames),
        ]
    }

    /// The planner's statistics, from a sample.
    ///
    /// - Parameter always: also where there are none yet, which adds a table, sqlite_stat1, to the user's schema.
    func analyze(always: Bool) throws(SQLiteError) {
        let tables = try number("SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_stat1'")
        guard always || tables > 0 else { return }
        // The limit is the connection's, and clients' own ANALYZE runs on it too.
        defer { try? run("PRAGMA analysis_limit = 0") }
        try run("PRAGMA analysis_limit = \(Self.analysisLimit); ANALYZE")
    }

    /// A table that has no INTEGER PRIMARY KEY and no index, and by whose rowids the full-text index of an FTS table finds its rows
    /// (`content=`), itself or by a view. VACUUM gives such a table new rowids: "If a table has no explicit INTEGER PRIMARY KEY, then
    /// VACUUM may change the ROWIDs for entries" (https://www.sqlite.org/lang_vacuum.html), and then the index finds other rows.
    func tableNamedByRowid() throws(SQLiteError) -> String? {
        let contents = try texts("SELECT sql FROM sqlite_schema WHERE type = 'table' AND rootpage = 0")
            .reduce(into: Set()) { $0.formUnion(FullTextContent.tables(in: $1)) }
        guard !contents.isEmpty else { return nil }
        let names = try texts(
            """
            SELECT name FROM sqlite_schema AS content WHERE type = 'table' AND rootpage > 0
            AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'index' AND tbl_name = content.name)
            AND NOT EXISTS (SELECT 1 FROM pragma_table_info(content.name) WHERE pk > 0 AND upper(type) = 'INTEGER')
            """
        )
        if let name = names.first(where: { contents.contains(FullTextContent.folded($0.utf8)) }) { return name }
        let views = try texts("SELECT name FROM sqlite_schema WHERE type = 'view'")
        guard views.contains(where: { contents.contains(FullTextContent.folded($0.utf8)) }) else { return nil }
        // The rowids may be those of a table that the view reads, or that a view reads which it reads: any view does, to be on the safe
        // side.
        let read = try texts("SELECT sql FROM sqlite_schema WHERE type = 'view'")
            .reduce(into: Set()) { $0.formUnion(FullTextContent.names(in: $1)) }
        return names.first { read.contains(FullTextContent.folded($0.utf8)) }
    }

    private func texts(_ sql: StaticString) throws(SQLiteError) -> [String] {
        let statement = try writer.connection.prepareInternal(sql)
        var texts: [String] = []
        while try statement.step() == .row { texts.append(String(decoding: statement.text(0), as: UTF8.self)) }
        return texts
    }

    /// Something that VACUUM would leave out, rows and all: it copies only what is defined by a text that begins with these three
    /// letters (`execSql` in https://www.sqlite.org/src/file/src/vacuum.c), and a schema that was written by hand may say "create".
    func definitionNotCopied() throws(SQLiteError) -> String? {
        try writer.connection.firstText("SELECT name FROM sqlite_schema WHERE sql NOT GLOB 'CRE*'")
    }

    /// Copies the database without its holes, and the copy back. The first half can be stopped by the owner, in the second
    /// SQLite asks nobody. Either way it is one transaction: until its commit the database is the old one.
    func copy() throws(SQLiteError) { try run("VACUUM") }

    /// Frees one slice. For a database with auto_vacuum = INCREMENTAL only.
    func freeSlice() throws(SQLiteError) { try run("PRAGMA incremental_vacuum(\(Self.pagesPerSlice))") }

    private func run(_ sql: String) throws(SQLiteError) {
        writer.beginRun(owner)
        defer { writer.endRun() }
        try writer.connection.executeInternal(sql)
    }
}
