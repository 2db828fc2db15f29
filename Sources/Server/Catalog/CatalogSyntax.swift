import SQLite

/// A statement's tokens with what parentheses and brackets enclose as one node, so that an operand's extent is plain.
indirect enum CatalogNode {
    typealias Token = PostgresLexer.Token
    case token(Token)
    case group([CatalogNode])
    case brackets([CatalogNode])

    static func word(_ text: String) -> CatalogNode { .token(Token(kind: .word, text: text)) }
    static func op(_ text: String) -> CatalogNode { .token(Token(kind: .op, text: text)) }
    static func symbol(_ text: String) -> CatalogNode { .token(Token(kind: .symbol, text: text)) }
    static func number(_ value: Int) -> CatalogNode { .token(Token(kind: .number, text: String(value))) }
    static func string(_ text: String) -> CatalogNode { .token(Token(kind: .string, text: text)) }
    static func quoted(_ name: String) -> CatalogNode { .token(Token(kind: .quoted, text: name)) }
    /// `name(arguments)`
    static func call(_ name: String, _ arguments: [CatalogNode]) -> [CatalogNode] { [.word(name), .group(arguments)] }

    var token: Token? { if case .token(let token) = self { token } else { nil } }
    var group: [CatalogNode]? { if case .group(let nodes) = self { nodes } else { nil } }
    var subscriptNodes: [CatalogNode]? { if case .brackets(let nodes) = self { nodes } else { nil } }
    var isName: Bool { token?.isName ?? false }
    func isWord(_ word: String) -> Bool { token?.isWord(word) ?? false }
    func isSymbol(_ symbol: String) -> Bool { token?.isSymbol(symbol) ?? false }
    func isOp(_ op: String) -> Bool { token.map { $0.kind == .op && $0.text == op } ?? false }
    var word: String? { if let token, token.kind == .word { token.text } else { nil } }
    var name: String? { if let token, token.isName { token.text } else { nil } }
}

/// A catalog statement uses something for which there is no translation.
struct CatalogSyntaxError: Error {
    var message: String
}

enum CatalogSyntax {
    static let isTooDeep = CatalogSyntaxError(message: "the statement is nested too deeply")

    static func tree(_ tokens: [PostgresLexer.Token]) throws(CatalogSyntaxError) -> [CatalogNode] {
        var position = 0
        let nodes = try tree(tokens, &position, closing: nil, depth: 0)
        return nodes
    }

    private static func tree(
        _ tokens: [PostgresLexer.Token], _ position: inout Int, closing: String?, depth: Int
    ) throws(CatalogSyntaxError) -> [CatalogNode] {
        guard depth < CatalogLimits.depth else { throw isTooDeep }
        var nodes: [CatalogNode] = []
        while position < tokens.count {
            let token = tokens[position]
            position += 1
            if token.kind == .symbol {
                if token.text == closing { return nodes }
                if token.text == "(" {
                    nodes.append(.group(try tree(tokens, &position, closing: ")", depth: depth + 1)))
                    continue
                }
                if token.text == "[" {
                    nodes.append(.brackets(try tree(tokens, &position, closing: "]", depth: depth + 1)))
                    continue
                }
                if token.text == ")" || token.text == "]" || token.text == ";" {
                    throw CatalogSyntaxError(message: "syntax error at or near \"\(token.text)\"")
                }
            }
            nodes.append(.token(token))
        }
        guard closing == nil else { throw CatalogSyntaxError(message: "syntax error at end of input") }
        return nodes
    }

    /// SQLite's text of the nodes.
    static func text(_ nodes: [CatalogNode]) -> String {
        var text = ""
        write(nodes, to: &text)
        return text
    }

    private static func write(_ nodes: [CatalogNode], to text: inout String) {
        for node in nodes {
            switch node {
            case .group(let inner):
                text += "("
                write(inner, to: &text)
                text += ") "
            case .brackets(let inner):
                text += "["
                write(inner, to: &text)
                text += "] "
            case .token(let token):
                switch token.kind {
                case .quoted: text += SQLQuoting.identifier(token.text)
                case .string: text += SQLQuoting.literal(token.text)
                case .parameter: text += "?" + token.text.dropFirst()
                default: text += token.text
                }
                text += " "
            }
        }
    }

    /// The parts between commas.
    static func split(_ nodes: [CatalogNode]) -> [[CatalogNode]] {
        var parts: [[CatalogNode]] = [[]]
        for node in nodes {
            if node.isSymbol(",") { parts.append([]) } else { parts[parts.count - 1].append(node) }
        }
        return parts
    }
}
