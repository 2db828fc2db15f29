import CSQLite

extension ConnectionSettings {
    /// Every limit that sqlite3_limit() knows. "Internal and application-specific limits … can be lowered … to help protect
    /// against denial of service": https://www.sqlite.org/c3ref/limit.html
    ///
    /// They are not the high-security values of https://www.sqlite.org/security.html, with which ORMs and databases that
    /// exist would not work; what they leave open, time and memory, `statement_timeout` and `MemoryLimits` bound.
    func limits(_ mode: Connection.Mode) -> [(limit: Int32, value: Int)] {
        [
            // One value or row; the wire takes messages a little longer than the greatest.
            (SQLITE_LIMIT_LENGTH, lengthLimitBytes),
            // One statement. A text costs the parser many times its length.
            (SQLITE_LIMIT_SQL_LENGTH, sqlLengthLimitBytes),
            // SQLite's default: tables may have been made with as many, and the protocol counts columns in 16 bits.
            (SQLITE_LIMIT_COLUMN, 2000),
            // SQLite's default: ORMs write hundreds of ANDs. It does not bound how deeply a statement nests: see heap.h.
            (SQLITE_LIMIT_EXPR_DEPTH, expressionDepthLimit),
            // SQLite's default; each term is a SELECT of its own. VALUES with more rows is no compound.
            (SQLITE_LIMIT_COMPOUND_SELECT, 500),
            // 24 bytes each: 120 MB of program is an attack. A statement of a page has some hundreds.
            (SQLITE_LIMIT_VDBE_OP, 5_000_000),
            // SQLite's default and greatest in 3.40: json_object() of sixty names is an ordinary thing.
            (SQLITE_LIMIT_FUNCTION_ARG, 127),
            // VACUUM attaches its temporary copy, so the writer needs one. Clients attach nothing (see `Authorizer`).
            (SQLITE_LIMIT_ATTACHED, mode == .readWrite && !attachesNothing ? 1 : 0),
            // One comparison takes up to the text's length times this, and nothing interrupts it: half a minute for 64 MiB,
            // where SQLite's default would take an hour.
            (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, likePatternLimitBytes),
            // As many as a Bind message can carry.
            (SQLITE_LIMIT_VARIABLE_NUMBER, parameterLimit),
            // SQLite's default is 1000. Triggers that fire triggers keep the writer.
            (SQLITE_LIMIT_TRIGGER_DEPTH, triggerDepthLimit),
            // A statement runs on its client's turn alone: helpers would be threads beyond the crew's count.
            (SQLITE_LIMIT_WORKER_THREADS, 0),
        ]
    }
}
