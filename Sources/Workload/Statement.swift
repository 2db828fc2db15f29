/// One SQL statement with `$1`, `$2`, ... and where their values come from.
public struct Statement: Equatable, Sendable {
    /// As in the file, or with the rows that its `rows` asked for.
    public let sql: String
    /// `$1` is the first.
    public let parameters: [Expression]
    /// By its first word, and for WITH by what follows outside of parentheses.
    public let kind: Kind

    /// What a client has to know of a statement. `read` is whatever is none of the others.
    public enum Kind: Equatable, Sendable { case begin, commit, write, read }

    init(sql: String, parameters: [Expression]) {
        self.sql = sql
        self.parameters = parameters
        kind = Self.kind(of: sql)
    }

    private static func kind(of sql: String) -> Kind {
        let first = sql.drop { $0 == " " || $0 == "\n" || $0 == "\t" }.prefix { $0.isLetter }.uppercased()
        switch first {
        case "BEGIN", "START": return .begin
        case "COMMIT", "END", "ROLLBACK": return .commit
        case "INSERT", "UPDATE", "DELETE", "REPLACE": return .write
        // A WITH clause may belong to either. Its main statement stands outside the parentheses.
        case "WITH": return hasWriteOutsideParentheses(sql) ? .write : .read
        default: return .read
        }
    }

    private static func hasWriteOutsideParentheses(_ sql: String) -> Bool {
        var depth = 0
        var outside = ""
        for character in sql {
            if character == "(" { depth += 1 }
            if depth == 0 { outside.append(character) }
            if character == ")" { depth -= 1 }
        }
        let words = outside.uppercased().split { !$0.isLetter }
        return words.contains { ["INSERT", "UPDATE", "DELETE"].contains($0) }
    }

    /// The highest `$n` in it.
    static func highestParameter(_ sql: String) -> Int { pieces(of: sql).compactMap(\.parameter).max() ?? 0 }

    /// A piece of SQL, or a parameter.
    public enum Piece: Equatable, Sendable {
        case text(String)
        /// From 0.
        case parameter(Int)

        var parameter: Int? { if case .parameter(let index) = self { index + 1 } else { nil } }
    }

    /// The SQL cut at its parameters, outside of quotes.
    public var pieces: [Piece] { Self.pieces(of: sql) }

    /// For SQLite, to which `$n` is a name, numbered in the order in which it meets them; `?n` has the number itself.
    /// https://www.sqlite.org/lang_expr.html#parameters
    public var sqlWithNumbers: String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .parameter(let index): "?\(index + 1)"
            }
        }.joined()
    }

    private static func pieces(of sql: String) -> [Piece] {
        var pieces: [Piece] = []
        var text = ""
        var quote: Character?
        var rest = Substring(sql)
        while let character = rest.popFirst() {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "'" || character == "\"" {
                quote = character
            } else if character == "$", let number = Int(rest.prefix(while: \.isNumber)), number > 0 {
                rest = rest.drop(while: \.isNumber)
                pieces += [.text(text), .parameter(number - 1)]
                text = ""
                continue
            }
            text.append(character)
        }
        return pieces + [.text(text)]
    }

    /// The same with so many rows behind VALUES, each with values of its own; nil when it does not end in one row.
    func repeatingValues(_ count: Int) -> Statement? {
        guard sql.hasSuffix(")"), let values = sql.range(of: "VALUES (") else { return nil }
        let row = Self.pieces(of: String(sql[values.upperBound...].dropLast()))
        let rows = (0..<count).map { index in
            row.map { piece in
                switch piece {
                case .text(let text): text
                case .parameter(let number): "$\(number + 1 + index * parameters.count)"
                }
            }.joined()
        }
        return Statement(
            sql: sql[..<values.lowerBound] + "VALUES " + rows.map { "(\($0))" }.joined(separator: ", "),
            parameters: (0..<count).flatMap { _ in parameters })
    }
}

extension String {
    /// Foundation has one; this program does without it.
    fileprivate func range(of text: String) -> Range<Index>? {
        var start = startIndex
        while start < endIndex {
            if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
            start = index(after: start)
        }
        return nil
    }
}
