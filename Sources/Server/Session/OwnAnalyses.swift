import Pool

/// What one session has found in a schema that others do not see: the one of its own transaction, which is not committed, or of a
/// snapshot that is older than the newest. It lasts for one transaction at the most.
final class OwnAnalyses {
    let schema: SchemaVersion
    /// The tables' numbers in that schema.
    var oids: CatalogOIDs?
    private var byText: [Int: Analysis] = [:]
    private var bytes = 0

    init(_ schema: SchemaVersion) { self.schema = schema }

    subscript(_ query: Query) -> Analysis? { byText[query.text.id] }

    func keep(_ analysis: Analysis, of query: Query) {
        if byText.count >= SessionLimits.ownAnalyses || bytes + analysis.keptBytes > SessionLimits.ownAnalysesBytes {
            byText.removeAll()
            bytes = 0
        }
        byText[query.text.id] = analysis
        bytes += analysis.keptBytes
    }
}
