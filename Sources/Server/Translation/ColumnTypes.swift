import PostgresWire
import SQLite

/// What a result column is announced as.
enum ColumnType: Equatable, Sendable {
    /// The declared type, or the statement's own text, decides: every row must fit.
    case fixed(TypeOID)
    /// Nothing decides before there are rows: the first row does, and `text` where a type is wanted earlier.
    case open

    /// The type to announce for a declared one.
    init(declared: String?) { self = DeclaredType(declared).map { .fixed($0.stored) } ?? .open }

    init(static type: StaticType?) {
        switch type {
        case .int8: self = .fixed(.int8)
        case .bool: self = .fixed(.bool)
        case .float8: self = .fixed(.float8)
        case .text, .date, .timestamptz: self = .fixed(.text)
        case .bytea: self = .fixed(.bytea)
        case .unknown, .perhapsBool, nil: self = .open
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
    /// Whether a declared type has these letters. SQLite compares bytes; `contains` would not find them before an accent. A type may be as
    /// long as a statement, and `utf8.contains` takes two seconds for a mebibyte.
    func hasText(_ part: String) -> Bool {
        var (text, part) = (self, part)
        return text.withUTF8 { text in
            part.withUTF8 { part in
                guard let first = part.first, text.count >= part.count else { return part.isEmpty }
                return (0...(text.count - part.count)).contains {
                    text[$0] == first && text[$0..<($0 + part.count)].elementsEqual(part)
                }
            }
        }
    }
}
