import SQLite

/// The names of a statement's parameters by SQLite's index, read off its text in one pass: `sqlite3_bind_parameter_name` looks
/// through all of them for each, which takes seconds for as many as there may be.
///
/// `?` is "one greater than the largest parameter number already assigned", `?5` has the number 5, and any other name "the next
/// parameter number" where it first stands: https://www.sqlite.org/lang_expr.html#varparam
struct ParameterNames {
    /// By index from 0; nil for `?`.
    private var names: [UnsafeRawBufferPointer?] = []
    private let statement: Statement

    /// - Parameter sql: the text `statement` was prepared from; outlives this.
    init(_ sql: UnsafeRawBufferPointer, of statement: Statement) {
        self.statement = statement
        // For fewer it is quick to ask.
        guard statement.parameterCount >= NumberedParameters.least else { return }
        var known: Set<[UInt8]> = []
        for token in SQLLexer(sql) where token.kind == .parameter {
            let name = token.bytes
            guard name.first == UInt8(ascii: "?") else {
                if known.insert(Array(name)).inserted { names.append(name) }
                continue
            }
            guard name.count > 1 else {
                names.append(nil)
                continue
            }
            // SQLite has prepared it, so it is a number within the limit.
            guard case .numbered(let number, _) = ParameterName(name), number <= statement.parameterCount else { break }
            while names.count < number { names.append(nil) }
            if names[number - 1] == nil { names[number - 1] = name }
        }
        if names.count != statement.parameterCount { names = [] }
    }

    /// - Parameter index: from 1.
    func name(_ index: Int) -> String? {
        guard !names.isEmpty else { return statement.parameterName(index) }
        return names[index - 1].map { String(decoding: $0, as: UTF8.self) }
    }
}
