/// The OIDs of the catalogs themselves. They only have to be no other's: comments and dependencies name them, and there are none.
enum CatalogTableOIDs {
    static let names = Dictionary(CatalogTables.names.sorted().map { (number($0), $0) }, uniquingKeysWith: { first, _ in first })

    static func oid(of name: String) -> Int64? {
        let bare = name.hasPrefix("pg_catalog.") ? String(name.dropFirst(11)) : name
        return CatalogTables.names.contains(bare) ? number(bare) : nil
    }

    private static func number(_ name: String) -> Int64 { Int64(CatalogOID.hash(name) % 16_384) }
}
