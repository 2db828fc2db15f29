import PostgresWire
import SQLite

/// What a result column is announced as.
enum ColumnType: Equatable, Sendable {
    /// The declared type, or the statement's own text, decides: every row must fit.
    case fixed(TypeOID)
    /// Nothing decides before there are rows: the first row does, and `text` where a type is wanted earlier.
    case open

    /// The type to announce for a declared one, by SQLite's rules of affinity
    /// (https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
    ///
    /// Integers are int8, since SQLite's have 64 bits whatever the column calls them. Dates, times and decimals are
    /// text: SQLite stores them as text, number or blob at will, and announcing a date would oblige to make one of it.
    init(declared: String?) {
        guard let declared, !declared.isEmpty else {
            self = .open
            return
        }
        let name = declared.uppercased()
        if name == "BOOL" || name == "BOOLEAN" {
            self = .fixed(.bool)
        } else if name.hasText("INTERVAL") || name.hasText("POINT") {
            // SQLite finds an INT in these, but who declares them stores text.
            self = .open
        } else if name.hasText("INT") {
            self = .fixed(.int8)
        } else if name.hasText("CHAR") || name.hasText("CLOB") || name.hasText("TEXT") {
            self = .fixed(.text)
        } else if name.hasText("BLOB") || name == "BYTEA" {
            self = .fixed(.bytea)
        } else if name.hasText("REAL") || name.hasText("FLOA") || name.hasText("DOUB") {
            self = .fixed(.float8)
        } else if name.hasText("DATE") || name.hasText("TIME") || name.hasPrefix("NUM") || name.hasPrefix("DEC")
            || name == "UUID" || name == "JSON" || name == "JSONB" || name == "MONEY"
        {
            self = .fixed(.text)
        } else {
            self = .open
        }
    }

    init(static type: StaticType?) {
        switch type {
        case .int8: self = .fixed(.int8)
        case .float8: self = .fixed(.float8)
        case .text: self = .fixed(.text)
        case .bytea: self = .fixed(.bytea)
        case .unknown, nil: self = .open
        }
    }
}

extension StorageClass {
    /// What an open column is announced as when its first row holds this.
    var openType: TypeOID {
        switch self {
        case .integer: .int8
        case .real: .float8
        case .blob: .bytea
        case .text, .null: .text
        }
    }

    var name: String {
        switch self {
        case .integer: "INTEGER"
        case .real: "REAL"
        case .text: "TEXT"
        case .blob: "BLOB"
        case .null: "NULL"
        }
    }
}

extension String {
    /// Foundation's `contains` on ASCII, without Foundation.
    func hasText(_ part: String) -> Bool {
        var rest = utf8[...]
        while rest.count >= part.utf8.count {
            if rest.starts(with: part.utf8) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}
