import SQLite

extension Server {
    /// The tables' OIDs, found once for each generation of the schema.
    func catalogOIDs(_ connection: Connection, _ generation: Int) throws(SQLiteError) -> CatalogOIDs {
        if let known = oidsOfGeneration.withLock({ $0 }), known.generation == generation { return known.oids }
        let oids = try CatalogOIDs(on: connection)
        oidsOfGeneration.withLock { $0 = (generation, oids) }
        return oids
    }
}
