/// Object IDs for what SQLite knows by name only.
///
/// Clients keep them beyond a connection (drivers cache what they learnt of a table), so they follow from the names
/// and nothing else: FNV-1a of the lower-cased name, folded into the range PostgreSQL leaves to users' objects, from
/// 16384 (https://www.postgresql.org/docs/current/system-catalog-initial-data.html#SYSTEM-CATALOG-OID-ASSIGNMENT) up
/// to what fits a signed 32-bit number, which some clients take an OID for.
enum CatalogOID {
    private static let first: UInt32 = 16_384
    private static let past: UInt32 = 1 << 31

    /// The OID of a table, view or index, unless another name came first.
    static func hash(_ name: String) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for byte in name.utf8 { hash = (hash ^ UInt32(lowerASCII(byte))) &* 16_777_619 }
        return first + hash % (past - first)
    }

    /// Every name's OID. Of two names with one hash the later in order gets the next number that is free.
    static func assign(_ names: some Sequence<ExactName>) -> [ExactName: UInt32] {
        var taken: Set<UInt32> = []
        var result: [ExactName: UInt32] = [:]
        for name in names.sorted() {
            var oid = hash(name.text)
            while !taken.insert(oid).inserted { oid = oid + 1 < past ? oid + 1 : first }
            result[name] = oid
        }
        return result
    }
}
