extension ConfigurationKey {
    static let connections: [ConfigurationKey] = [
        .integer(
            "cache_size_kib", \.server.connection.cacheSizeKibibytes, 16...16_000_000, unit: "KiB", .restart,
            "Page cache of each connection", details: "There are as many connections as readers, and two more."),
        .integer(
            "mmap_size_bytes", \.server.connection.memoryMapBytes, 0...(1 << 40), unit: "bytes", .restart,
            "Memory map of each reader; 0: none",
            details: """
                Pages within it are read without being copied. SQLite maps 2 GiB at most, unless it was built otherwise, and \
                reads the rest as without a map.
                """),
        .integer(
            "length_limit_bytes", \.server.connection.lengthLimitBytes, 1000...(64 << 20), unit: "bytes", .restart,
            "Largest value or row", details: "SQLite's SQLITE_LIMIT_LENGTH."),
        .integer(
            "sql_length_limit_bytes", \.server.connection.sqlLengthLimitBytes, 1000...(64 << 20), unit: "bytes", .restart,
            "Longest statement"),
        .integer(
            "like_pattern_limit_bytes", \.server.connection.likePatternLimitBytes, 50...50_000, unit: "bytes", .restart,
            "Longest pattern of LIKE and GLOB",
            details: """
                One comparison takes up to a nanosecond for each byte of the text times each byte of the pattern, and nothing \
                interrupts it.
                """),
        .integer(
            "statement_memory_limit_bytes", \.server.memory.statementBytes, 0...(1 << 40), unit: "bytes", .restart,
            "Memory that SQLite may take for one statement; 0: no limit",
            details: "A statement that wants more fails with 53200. Its page cache comes on top."),
        .integer(
            "sqlite_memory_limit_bytes", \.server.memory.totalBytes, 0...(1 << 40), unit: "bytes", .restart,
            "Memory that SQLite may take in all, page caches on top; 0: no limit",
            details: "Beyond it, statements that take more than 1 MiB fail with 53200, and the others go on."),
        .boolean("foreign_keys", \.server.connection.foreignKeys, .restart, "Enforce foreign keys"),
        .boolean(
            "double_quoted_strings", \.server.connection.doubleQuotedStrings, .restart,
            "Take \"text\" in double quotes that names nothing as a string",
            details: "For databases written for it: with it, a mistyped column's name is a string and no error, and a string may be a name "
                + "to SHOW STATEMENTS, which leaves out others."),
        .boolean(
            "trusted_schema", \.server.connection.trustedSchema, .restart,
            "Let views, triggers, CHECKs and indexes call any function; SQLite before 3.41 counts JSON's as unsafe"),
        .boolean(
            "recursive_triggers", \.server.connection.recursiveTriggers, .restart, "Let triggers fire themselves",
            details: "SQLite's PRAGMA of that name."),
        .choice(
            "secure_delete", \.server.connection.secureDelete, .restart, "Overwrite deleted content",
            details: "\"fast\" does so where it costs no I/O."),
    ]
}
