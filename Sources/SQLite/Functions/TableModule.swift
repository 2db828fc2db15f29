import CSQLite

/// What tables with arguments have in common. https://www.sqlite.org/vtab.html#table_valued_functions
enum TableModule {
    /// One that SQLite may keep for as long as a connection lives, so it is never freed.
    ///
    /// - Parameter fill: gives it the other methods. Not xCreate: the table exists in every schema and cannot be made in any
    ///   ("eponymous-only").
    static func allocated(_ fill: (inout sqlite3_module) -> Void) -> UnsafeMutablePointer<sqlite3_module> {
        let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        module.initialize(to: sqlite3_module())
        module.pointee.xDisconnect = { table in
            sqlite3_free(table)
            return SQLITE_OK
        }
        fill(&module.pointee)
        return module
    }

    /// For xConnect: declares the table, which may stand in views and triggers, and allocates what SQLite keeps of it.
    static func connect<Table>(
        _ connection: OpaquePointer?, _ definition: String, _ new: Table,
        _ table: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
    ) -> Int32 {
        let code = sqlite3_declare_vtab(connection, definition)
        guard code == SQLITE_OK else { return code }
        guard let memory = sqlite3_malloc(Int32(MemoryLayout<Table>.size)) else { return SQLITE_NOMEM }
        memory.bindMemory(to: Table.self, capacity: 1).initialize(to: new)
        // Whatever it is begins with SQLite's structure.
        table?.pointee = memory.assumingMemoryBound(to: sqlite3_vtab.self)
        _ = walpool_vtab_config_innocuous(connection)
        return SQLITE_OK
    }
}
