import PostgresWire

extension CopyOptions {
    /// The columns that one of the options is about.
    enum Columns: Equatable {
        case all
        /// The names as they were written, for errors, and as SQLite compares them: each column of a table is looked for among them.
        case named([String], Set<FoldedName>)

        static let none = named([])
        static func named(_ names: [String]) -> Columns { .named(names, Set(names.lazy.map(\.foldedName))) }

        func contains(_ name: String) -> Bool {
            switch self {
            case .all: true
            case .named(_, let names): !names.isEmpty && names.contains(name.foldedName)
            }
        }

        /// Each that is named must be there, and be named once (CopyGetAttnums in src/backend/commands/copy.c).
        func require(among columns: some Collection<String>, unknown: (String) -> WireError) throws(WireError) {
            guard case .named(let names, _) = self, !names.isEmpty else { return }
            let known = Set(columns.lazy.map(\.foldedName))
            var taken: Set<FoldedName> = []
            for name in names {
                guard known.contains(name.foldedName) else { throw unknown(name) }
                guard taken.insert(name.foldedName).inserted else {
                    throw WireError(state: .duplicateColumn, message: "column \"\(name)\" specified more than once")
                }
            }
        }
    }
}
