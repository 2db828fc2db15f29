import CSQLite

@testable import PostgresWire
@testable import SQLite
@testable import Server

/// Readers of SQL text beside SQLite itself: where a statement ends, and what its columns hold.
enum SQLiteRules {
    /// One connection for all inputs, which change nothing in it.
    private static let connection: Connection = {
        var settings = ConnectionSettings()
        // What a client may make grow is less here, so that each input takes little time.
        settings.lengthLimitBytes = 1 << 20
        do {
            let connection = try Connection(path: ":memory:", mode: .readWrite, settings: settings)
            try connection.executeInternal(schema)
            return connection
        } catch {
            fatalError("\(error)")
        }
    }()

    private static let schema = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, r REAL, x TEXT, b BLOB, a);
        INSERT INTO t VALUES (1, 1, 1.5, 'one', x'01', 1), (2, NULL, NULL, NULL, NULL, NULL), (3, 'x', 'y', 3, 4, 'five'),
            (4, 9223372036854775807, 1e300, '', x'', 2.5), (5, -9223372036854775808, -0.0, '5', zeroblob(3), x'05');
        CREATE TABLE u(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO u VALUES ('a', 1), ('b', 'two');
        CREATE VIEW w AS SELECT n + 1 AS m, x || 'z' AS y FROM t;
        """

    static func check(_ bytes: UnsafeRawBufferPointer) {
        // A session lets nothing else pass.
        guard TextCodec.isValidUTF8(bytes), !bytes.contains(0) else { return }
        checkFirstStatement(bytes)
        for range in StatementSplitter(bytes).prefix(8) {
            onExactCopy(UnsafeRawBufferPointer(rebasing: bytes[range]), checkStatement)
        }
    }

    /// What SQLite takes for the first statement is what the splitter does.
    private static func checkFirstStatement(_ bytes: UnsafeRawBufferPointer) {
        var start = 0
        while start < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
            guard let (statement, consumed) = try? connection.prepare(rest) else { return }
            let end = start + consumed
            guard statement != nil else {
                start = max(end, start + 1)
                continue
            }
            var splitter = StatementSplitter(bytes)
            guard let range = splitter.next() else { return require(false, "SQLite finds a statement") }
            require(range.lowerBound >= start && range.upperBound <= end, "SQLite takes at least the first statement")
            let between = SQLLexer(UnsafeRawBufferPointer(rebasing: bytes[range.upperBound..<end])).map(\.kind)
            require(between.isEmpty || between == [.semicolon], "SQLite takes no more than the first statement")
            return
        }
    }

    private static func checkStatement(_ sql: UnsafeRawBufferPointer) {
        guard let (prepared, consumed) = try? connection.prepare(sql), let statement = prepared else { return }
        require(
            SQLLexer(UnsafeRawBufferPointer(rebasing: sql[consumed...])).allSatisfy { $0.kind == .semicolon },
            "nothing of a statement is left over")
        let head = StatementHead(sql)
        let analysis: Analysis
        do throws(WireError) {
            let query = try Query(sql)
            // What SQLite gets is then another text than this one.
            guard query.source == nil else { return }
            analysis = try Analysis(statement, of: query, schemaVersion: 0)
        } catch {
            return require(error.severity == .error, "a bad parameter does not end the session")
        }
        require(analysis.columns.count == statement.columnCount, "every column is known")
        require(analysis.slots.count == statement.parameterCount, "every parameter is known")
        guard statement.isReadOnly, statement.explain == 0, [.select, .values].contains(head.main) else { return }
        checkRows(of: statement, analysis)
    }

    /// A column's type that the text of the statement decided holds for every row.
    private static func checkRows(of statement: Statement, _ analysis: Analysis) {
        sqlite3_progress_handler(connection.handle, 5_000, { _ in 1 }, nil)
        defer {
            statement.reset()
            sqlite3_progress_handler(connection.handle, 0, nil, nil)
        }
        for _ in 0..<16 {
            guard let step = try? statement.step(), step == .row else { return }
            for (index, column) in analysis.columns.enumerated() where column.declared == nil {
                guard case .fixed(let type) = column.type else { continue }
                let found = statement.storageClass(index)
                let isTruth = type == .bool && found == .integer && [0, 1].contains(statement.integer(index))
                require(found == .null || found.openType == type || isTruth, "column \(index) is \(type.sqlName), not \(found.name)")
            }
        }
    }
}
