/// What the names of columns stand for that functions in FROM have (see CatalogRewriter+Laterals).
struct LateralColumns {
    let functions: [String: CatalogRewriter.TableFunction]
    private var qualified: [String: [String: [CatalogNode]]] = [:]
    private var bare: [String: [CatalogNode]] = [:]

    init(_ laterals: [CatalogRewriter.TableFunction]) {
        functions = Dictionary(laterals.map { ($0.alias, $0) }, uniquingKeysWith: { first, _ in first })
        for function in laterals.reversed() {
            for column in function.ownColumns.reversed() {
                qualified[function.alias, default: [:]][column.name] = column.value
                bare[column.name] = column.value
            }
        }
    }

    func value(of name: String, _ table: String?) -> [CatalogNode]? {
        if let table { qualified[table]?[name] } else { bare[name] }
    }
}

extension CatalogRewriter.TableFunction {
    /// With its own name before json_each's columns.
    var ownColumns: [(name: String, value: [CatalogNode])] { columns(of: [.quoted(alias), .symbol(".")]) }

    var isShort: Bool {
        let columns = ownColumns
        return columns.count <= CatalogLimits.lateralColumns
            && CatalogSyntax.text(columns.flatMap { [CatalogNode.quoted($0.name)] + $0.value }).utf8.count <= CatalogLimits.lateralBytes
    }
}
