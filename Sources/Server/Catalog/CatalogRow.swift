/// A row of a catalog: the columns it names, in the order in which it names them, and what they hold.
///
/// It is no dictionary: a schema has them by the hundred thousand, most from one place in the code, and so with the columns of the row before.
struct CatalogRow: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var fields: [(column: String, value: CatalogValue)]

    init(dictionaryLiteral elements: (String, CatalogValue)...) {
        fields = elements.map { (column: $0, value: $1) }
    }

    subscript(column: String) -> CatalogValue? {
        get { fields.first { $0.column == column }?.value }
        set {
            fields.removeAll { $0.column == column }
            if let newValue { fields.append((column, newValue)) }
        }
    }

    /// With another's columns, whose values count where both have one.
    func merging(_ other: CatalogRow) -> CatalogRow {
        var row = self
        for field in other.fields { row[field.column] = field.value }
        return row
    }

    func hasColumns(of other: CatalogRow) -> Bool {
        fields.count == other.fields.count && zip(fields, other.fields).allSatisfy { $0.column == $1.column }
    }
}
