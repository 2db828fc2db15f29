import CSQLite

/// SQLite's own counters. Those of events have 32 bits and begin again at zero when they are read; those of memory say what is taken now.
extension Connection {
    /// https://www.sqlite.org/c3ref/c_dbstatus_options.html
    public struct PageCacheUsage: Equatable, Sendable {
        /// SQLITE_DBSTATUS_CACHE_HIT: pages that were in the cache.
        public var hits: Int
        /// SQLITE_DBSTATUS_CACHE_MISS: pages that were not.
        public var misses: Int
        /// SQLITE_DBSTATUS_CACHE_WRITE: pages written, to the WAL in WAL mode.
        public var writes: Int
    }

    /// What the page cache has counted since this was last asked.
    public func takePageCacheUsage() -> PageCacheUsage {
        PageCacheUsage(
            hits: take(SQLITE_DBSTATUS_CACHE_HIT), misses: take(SQLITE_DBSTATUS_CACHE_MISS),
            writes: take(SQLITE_DBSTATUS_CACHE_WRITE))
    }

    /// What the page cache has of the heap now.
    public var pageCacheBytes: Int { status(SQLITE_DBSTATUS_CACHE_USED, reset: false) }

    private func take(_ counter: Int32) -> Int { status(counter, reset: true) }

    /// One of `sqlite3_db_status`'s numbers as it is now, set to zero behind that if the counter allows it.
    func status(_ counter: Int32, reset: Bool) -> Int {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, counter, &current, &highest, reset ? 1 : 0)
        return Int(UInt32(bitPattern: current))
    }
}

extension Statement {
    /// https://www.sqlite.org/c3ref/c_stmtstatus_counter.html
    public struct Usage: Equatable, Sendable {
        /// Steps through a table without an index, and sorts.
        public var fullScanSteps: Int
        /// SQLITE_STMTSTATUS_SORT: sorts that no index has spared.
        public var sorts: Int
        /// "the number of rows inserted into transient indices that were created automatically".
        public var automaticIndexRows: Int
    }

    /// What the statement has counted since this was last asked.
    public func takeUsage() -> Usage {
        Usage(
            fullScanSteps: take(SQLITE_STMTSTATUS_FULLSCAN_STEP), sorts: take(SQLITE_STMTSTATUS_SORT),
            automaticIndexRows: take(SQLITE_STMTSTATUS_AUTOINDEX))
    }

    /// "the approximate number of bytes of heap memory used to store the prepared statement"
    /// (https://www.sqlite.org/c3ref/c_stmtstatus_counter.html#sqlitestmtstatusmemused). SQLite goes through the whole program
    /// for it.
    public var memoryBytes: Int { Int(UInt32(bitPattern: sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_MEMUSED, 0))) }

    private func take(_ counter: Int32) -> Int { Int(UInt32(bitPattern: sqlite3_stmt_status(handle, counter, 1))) }
}
