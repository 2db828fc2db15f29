import SQLite

/// Makes SQLite's SQL of a statement about PostgreSQL's catalogs.
///
/// Only what clients ask catalogs with is translated; anything else is an error, never another meaning. Arrays are JSON
/// on SQLite's side, so that json_each can take them apart.
struct CatalogRewriter {
    typealias Node = CatalogNode

    /// What the aliases of select lists are, inner ones first.
    var inference: CatalogTypeInference
    /// By number: the type a parameter is cast to.
    var parameterTypes: [Int: String] = [:]
    private(set) var parameterCount = 0
    var functionsInFrom = 0
    /// Nodes that stand in the result once more, since it asks for the same twice.
    var copiedNodes = 0

    struct Result {
        var sql: String
        /// By column; nil where neither the text nor the catalogs' columns say.
        var columnTypes: [String?]
        /// Of the columns that a star stands for.
        var inference: CatalogTypeInference
        /// By number from 1: the name of the type it is cast to.
        var parameterTypes: [Int: String]
        var parameterCount: Int
    }

    static func rewrite(_ sql: UnsafeRawBufferPointer) throws(CatalogSyntaxError) -> Result {
        guard let tokens = PostgresLexer.tokens(sql) else {
            throw CatalogSyntaxError(message: "the statement has a token that is not understood")
        }
        var rewriter = CatalogRewriter(inference: CatalogTypeInference(catalogs: CatalogTableOIDs.namesInFrom(tokens)))
        let nodes = try rewriter.list(try CatalogSyntax.tree(rewriter.normalised(CatalogTableOIDs.replaced(tokens))), in: .statement)
        return Result(
            sql: CatalogSyntax.text(nodes), columnTypes: rewriter.inference.outermost, inference: rewriter.inference,
            parameterTypes: rewriter.parameterTypes, parameterCount: rewriter.parameterCount)
    }

    // MARK: Names

    /// Takes away the schema of catalogs and of what is in them, and collations, which are all the same here.
    private mutating func normalised(_ tokens: [PostgresLexer.Token]) -> [PostgresLexer.Token] {
        var result: [PostgresLexer.Token] = []
        var index = 0
        while index < tokens.count {
            let token = tokens[index]
            let isQualifier = index + 2 < tokens.count && tokens[index + 1].isSymbol(".") && token.isName
            if token.kind == .parameter, let number = Int(token.text.dropFirst()) {
                parameterCount = max(parameterCount, number)
            }
            if isQualifier, token.text == "pg_catalog" {
                index += 2
            } else if isQualifier, token.text == "information_schema" {
                result += Self.viewOfInformationSchema(tokens, index + 2)
                index += 3
            } else if token.isWord("collate") {
                index += index + 3 < tokens.count && tokens[index + 2].isSymbol(".") ? 4 : 2
            } else {
                result.append(Self.isName(token, behind: result.last) ? .init(kind: .quoted, text: token.text) : token)
                index += 1
            }
        }
        return result
    }

    /// A view's name is one name here, and to the statement the part behind the period, unless it is given another: `columns.*`.
    private static func viewOfInformationSchema(_ tokens: [PostgresLexer.Token], _ index: Int) -> [PostgresLexer.Token] {
        let name = PostgresLexer.Token(kind: .quoted, text: tokens[index].text)
        let view = PostgresLexer.Token(kind: .quoted, text: "information_schema." + tokens[index].text)
        guard index + 1 < tokens.count else { return [view, .init(kind: .word, text: "as"), name] }
        let next = tokens[index + 1]
        if next.isSymbol(".") { return [name] }
        let isFunction = next.isSymbol("(")
        let hasAlias = next.isWord("as") || (next.isName && !CatalogTableOIDs.endsTable.contains(next.text))
        return isFunction || hasAlias ? [view] : [view, .init(kind: .word, text: "as"), name]
    }

    /// Behind AS and behind a period PostgreSQL takes each word for a name ("ColLabel"), and by themselves those that it
    /// does not reserve: https://www.postgresql.org/docs/15/sql-keywords-appendix.html. SQLite reserves others:
    /// https://www.sqlite.org/lang_keywords.html
    private static func isName(_ token: PostgresLexer.Token, behind last: PostgresLexer.Token?) -> Bool {
        guard token.kind == .word, let last else { return false }
        if namesByThemselves.contains(token.text) { return true }
        guard last.isWord("as") || last.isSymbol("."), SQLWord.isKeyword(token.text) else { return false }
        return last.isSymbol(".") || (token.text != "not" && token.text != "materialized")
    }

    private static let namesByThemselves: Set = ["index", "commit", "transaction", "autoincrement", "nothing"]

    // MARK: A list of nodes: a statement, or what parentheses enclose

    /// What becomes of what a SELECT finds there.
    enum Place {
        case statement, subquery
        /// It is compared with something.
        case operand
    }

    private mutating func list(_ nodes: [Node], in place: Place) throws(CatalogSyntaxError) -> [Node] {
        var inner: [Node] = []
        let nodes = Self.expandedArrays(nodes)
        for (index, node) in nodes.enumerated() {
            switch node {
            case .group(let group):
                let isOperand = Self.isOperand(behind: index > 0 ? nodes[index - 1] : nil, in: place)
                inner.append(.group(try list(group, in: isOperand ? .operand : .subquery)))
            case .brackets(let group): inner.append(.brackets(try list(group, in: .subquery)))
            case .token: inner.append(node)
            }
        }
        inner = try operators(inner)
        inner = wrapCompounds(inner)
        let isOrdered = Self.isOrdered(inner)
        var result: [Node] = []
        var isFirst = true
        for (separator, segment) in Self.selects(in: inner) {
            result += separator
            result += try select(segment, isFirst: isFirst, isOrdered: isOrdered, in: place)
            isFirst = false
        }
        result = try expressions(result)
        typeParameters(result)
        result = literalsAsTheirNeighbours(result)
        if place != .statement { inference.endQuery() }
        return result
    }

    private static func isOperand(behind node: Node?, in place: Place) -> Bool {
        guard let node, !node.isWord("array") else { return place == .operand }
        if let token = node.token, token.kind == .op { return comparisons.contains(token.text) }
        return ["in", "any", "some", "all"].contains(node.word ?? "")
    }

    /// `OPERATOR(~)` is `~`; those that SQLite lacks become ones it has.
    private func operators(_ nodes: [Node]) throws(CatalogSyntaxError) -> [Node] {
        var result: [Node] = []
        var index = 0
        while index < nodes.count {
            var node = nodes[index]
            index += 1
            if node.isWord("operator"), index < nodes.count, let named = nodes[index].group, let op = named.last {
                node = op
                index += 1
            }
            guard let token = node.token else {
                result.append(node)
                continue
            }
            switch (token.kind, token.text) {
            case (.op, "~"): result.append(.word("regexp"))
            case (.op, "!~"): result += [.word("not"), .word("regexp")]
            case (.op, "~*"): result += [.word("regexp"), .string("(?i)"), .op("||")]
            case (.op, "!~*"): result += [.word("not"), .word("regexp"), .string("(?i)"), .op("||")]
            case (.op, "~~"): result.append(.word("like"))
            case (.op, "!~~"): result += [.word("not"), .word("like")]
            case (.op, "~~*"), (.word, "ilike"): result += [.word("regexp"), .string("(?l)"), .op("||")]
            case (.op, "!~~*"): result += [.word("not"), .word("regexp"), .string("(?l)"), .op("||")]
            case (.word, "similar") where index + 1 < nodes.count && nodes[index].isWord("to"):
                guard let pattern = nodes[index + 1].token, pattern.kind == .string else {
                    throw CatalogSyntaxError(message: "SIMILAR TO takes a literal only")
                }
                result += [.word("regexp"), .string(CatalogPattern.expression(similarTo: pattern.text))]
                index += 2
            case (.op, let op) where !Self.sharedOperators.contains(op):
                throw CatalogSyntaxError(message: "operator \(op) is not available for catalogs")
            case (.word, let word) where Self.functionsWithoutParentheses.contains(word):
                let isCall = index < nodes.count && nodes[index].group != nil
                let isColumn = result.last?.isSymbol(".") == true || result.last?.isWord("as") == true
                result += isCall || isColumn ? [node] : [node, .group([])]
            default: result.append(node)
            }
        }
        return result
    }

    private static let sharedOperators: Set = [
        "=", "<", ">", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%", "||", "&", "|", "->", "->>",
    ]
    private static let functionsWithoutParentheses: Set = [
        "current_user", "session_user", "current_role", "current_catalog", "current_schema",
    ]

    /// SQLite takes no parentheses around a part of a UNION.
    private func wrapCompounds(_ nodes: [Node]) -> [Node] {
        let isSetOperator = { (node: Node) in
            node.isWord("union") || node.isWord("intersect") || node.isWord("except")
        }
        guard nodes.contains(where: isSetOperator) else { return nodes }
        var result: [Node] = []
        for (index, node) in nodes.enumerated() {
            let before = index == 0 || isSetOperator(nodes[index - 1]) || nodes[index - 1].isWord("all")
            if before, let inner = node.group, inner.first?.isWord("select") == true {
                result += [.word("select"), .op("*"), .word("from")]
            }
            result.append(node)
        }
        return result
    }

    /// The SELECTs of a list, each with the nodes before it.
    private static func selects(in nodes: [Node]) -> [(separator: [Node], segment: [Node])] {
        var result: [(separator: [Node], segment: [Node])] = []
        var separator: [Node] = []
        var segment: [Node] = []
        for node in nodes {
            if node.isWord("union") || node.isWord("intersect") || node.isWord("except") {
                result.append((separator, segment))
                (separator, segment) = ([node], [])
            } else if node.isWord("select"), segment.first?.isWord("select") != true {
                separator += segment
                segment = [node]
            } else if segment.isEmpty, !separator.isEmpty {
                if node.isWord("all") { separator.append(node) } else { segment.append(node) }
            } else {
                segment.append(node)
            }
        }
        result.append((separator, segment))
        return result
    }

    // MARK: SELECT

    private mutating func select(
        _ nodes: [Node], isFirst: Bool, isOrdered: Bool, in place: Place
    ) throws(CatalogSyntaxError) -> [Node] {
        guard nodes.first?.isWord("select") == true else { return nodes }
        let from = nodes.indices.first { $0 > 0 && nodes[$0].isWord("from") && !nodes[$0 - 1].isWord("distinct") }
        let clauses: Set = [
            "where", "group", "having", "order", "limit", "offset", "fetch", "for", "window",
        ]
        let listEnd = from ?? nodes.indices.first { nodes[$0].word.map(clauses.contains) ?? false } ?? nodes.count
        let fromEnd =
            from.flatMap { from in nodes.indices.first { $0 > from && (nodes[$0].word.map(clauses.contains) ?? false) } }
            ?? (from == nil ? listEnd : nodes.count)
        // `EXISTS (SELECT FROM …)`: PostgreSQL's rows may have no columns.
        var items = listEnd == 1 && from != nil ? [.number(1)] : Array(nodes[1..<listEnd])
        var source = Array(nodes[listEnd..<fromEnd])
        var rest = Array(nodes[fromEnd...])
        if !source.isEmpty {
            let tables = Self.tables(in: source)
            var laterals: [TableFunction] = []
            source = Self.subqueriesWithColumns(try functionsAsTables(source, &laterals))
            let columns = LateralColumns(laterals)
            items = try named(items, columns, tables: tables, isFirst: isFirst, in: place)
            if !laterals.isEmpty {
                items = Self.replaceColumns(inList: items, columns)
                source = Self.replaceColumns(inFrom: source, columns)
                rest = Self.replaceColumns(rest, columns)
                guard CatalogSyntax.text(items + source + rest).utf8.count <= CatalogLimits.selectBytes else {
                    throw CatalogSyntaxError(message: "the statement is too long with its names replaced")
                }
            }
        } else {
            items = try named(items, LateralColumns([]), tables: [], isFirst: isFirst, in: place)
        }
        if isOrdered { items = Self.withOutputNames(items) }
        if let driver = try expandSets(&items) { source += (source.isEmpty ? [.word("from")] : [.symbol(",")]) + driver }
        return [.word("select")] + items + source + rest
    }

    /// The select list with its `*` spelt out as far as functions in FROM make it necessary, once its columns' types are noted.
    private mutating func named(
        _ items: [Node], _ laterals: LateralColumns, tables: [String], isFirst: Bool, in place: Place
    ) throws(CatalogSyntaxError) -> [Node] {
        let items = laterals.functions.isEmpty ? items : try Self.columnsOfStars(items, laterals, tables: tables)
        inference.note(CatalogSyntax.split(items), isFirst: isFirst)
        return place == .operand ? items : try shown(items, isOutermost: place == .statement)
    }
}
