import PostgresWire
import SQLite

/// How the columns are announced, and their values encoded.
extension Analysis {
    /// - Parameter openTypes: what open columns are announced as; nil: what is assumed without a row.
    static func encoder(
        _ columns: [Column], formats: (Int) -> Format, openTypes: ((Int) -> StorageClass)?
    ) -> RowEncoder {
        var encoder = RowEncoder()
        encoder.columns.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            switch column.type {
            case .fixed(let type):
                encoder.columns.append(
                    .init(type: type, format: formats(index), isOpen: false, isUndecided: false))
            case .open:
                let first = openTypes?(index)
                encoder.columns.append(
                    .init(
                        type: first?.openType ?? column.assumed, format: formats(index), isOpen: first != nil,
                        isUndecided: first == .null))
            }
        }
        return encoder
    }

    static func fields(_ columns: [Column], _ encoder: RowEncoder) -> [FieldDescription] {
        zip(columns, encoder.columns).map { column, encoded in
            FieldDescription(
                name: column.name, tableOID: column.tableOID, attributeNumber: column.attributeNumber,
                type: encoded.type, typeModifier: -1, format: encoded.format)
        }
    }
}
