import Testing

@testable import Server

@Suite struct CatalogOIDTests {
    /// Clients store these numbers: they must never change.
    @Test func numbersDependOnNamesAlone() {
        let few = CatalogOIDs(names: ["orders", "Customers"])
        let many = CatalogOIDs(names: (0..<500).map { "table\($0)" } + ["customers", "ORDERS"])
        #expect(few["orders"] == many["Orders"])
        #expect(few["customers"] == many["customers"])
        #expect(few["orders"] != few["customers"])
        #expect(few["orders"] == 845_076_204 && CatalogOID.hash("t") == 1_896_660_387)
        #expect(few["not there"] == CatalogOIDs(names: ["not there"])["not there"])
        // What PostgreSQL leaves to users, up to what fits a signed number.
        #expect((0..<500).allSatisfy { (16_384..<1 << 31).contains(many["table\($0)"]) })
        #expect(Set((0..<500).map { many["table\($0)"] }).count == 500)
    }

    @Test func namesThatHashAlikeAreToldApart() throws {
        // Found by trying: the first two of these names to meet.
        var seen: [UInt32: String] = [:]
        var pair: (String, String)?
        var number = 0
        while pair == nil {
            let name = "t\(number)"
            let hash = CatalogOID.hash(name)
            if let other = seen.updateValue(name, forKey: hash) { pair = (other, name) }
            number += 1
        }
        let (a, b) = try #require(pair)
        let oids = CatalogOIDs(names: [a, b])
        #expect(oids[a] != oids[b])
        #expect(oids[Swift.min(a, b)] == CatalogOID.hash(Swift.min(a, b)), "the earlier name keeps its number")
        let reversed = CatalogOIDs(names: [b, a])
        #expect(oids[a] == reversed[a] && oids[b] == reversed[b])
    }
}
