/// Makes SQLite's SQL of a statement about PostgreSQL's catalogs.
///
/// Only what clients ask catalogs with is translated; anything else is an error, never another meaning. Arrays are JSON
/// on SQLite's side, so that json_each can take them apart.
struct CatalogRewriter {
    typealias Node = CatalogNode

    /// What the aliases of select lists are, inner ones first.
    private var inference = CatalogTypeInference()
    /// By number: the type a parameter is cast to.
    private(set) var parameterTypes: [Int: String] = [:]
    private(set) var parameterCount = 0
    private var functionsInFrom = 0

    struct Result {
        var sql: String
        /// By column; nil where neither the text nor the catalogs' columns say.
        var columnTypes: [String?]
        /// By number from 1: the name of the type it is cast to.
        var parameterTypes: [Int: String]
        var parameterCount: Int
    }

    static func rewrite(_ sql: UnsafeRawBufferPointer) throws(CatalogSyntaxError) -> Result {
        guard let tokens = PostgresLexer.tokens(sql) else {
            throw CatalogSyntaxError(message: "the statement has a token that is not understood")
        }
        var rewriter = CatalogRewriter()
        let nodes = try rewriter.list(try CatalogSyntax.tree(rewriter.normalised(tokens)))
        return Result(
            sql: CatalogSyntax.text(nodes), columnTypes: rewriter.inference.outermost,
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
                result.append(.init(kind: .quoted, text: "information_schema." + tokens[index + 2].text))
                index += 3
            } else if token.isWord("collate") {
                index += index + 3 < tokens.count && tokens[index + 2].isSymbol(".") ? 4 : 2
            } else {
                result.append(token)
                index += 1
            }
        }
        return result
    }

    // MARK: A list of nodes: a statement, or what parentheses enclose

    private mutating func list(_ nodes: [Node]) throws(CatalogSyntaxError) -> [Node] {
        var inner: [Node] = []
        for node in nodes {
            switch node {
            case .group(let nodes): inner.append(.group(try list(nodes)))
            case .brackets(let nodes): inner.append(.brackets(try list(nodes)))
            case .token: inner.append(node)
            }
        }
        inner = try operators(inner)
        inner = wrapCompounds(inner)
        var result: [Node] = []
        var isFirst = true
        for (separator, segment) in Self.selects(in: inner) {
            result += separator
            result += try select(segment, isFirst: isFirst)
            isFirst = false
        }
        return try expressions(result)
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

    private mutating func select(_ nodes: [Node], isFirst: Bool) throws(CatalogSyntaxError) -> [Node] {
        guard nodes.first?.isWord("select") == true else { return nodes }
        let from = nodes.indices.first { $0 > 0 && nodes[$0].isWord("from") && !nodes[$0 - 1].isWord("distinct") }
        let clauses: Set = [
            "where", "group", "having", "order", "limit", "offset", "fetch", "for", "window",
        ]
        let listEnd = from ?? nodes.indices.first { nodes[$0].word.map(clauses.contains) ?? false } ?? nodes.count
        let fromEnd =
            from.flatMap { from in nodes.indices.first { $0 > from && (nodes[$0].word.map(clauses.contains) ?? false) } }
            ?? (from == nil ? listEnd : nodes.count)
        var items = Array(nodes[1..<listEnd])
        inference.note(CatalogSyntax.split(items), isFirst: isFirst)
        var source = Array(nodes[listEnd..<fromEnd])
        if !source.isEmpty { source = try functionsAsTables(source) }
        if let driver = try expandSets(&items) { source += (source.isEmpty ? [.word("from")] : [.symbol(",")]) + driver }
        return [.word("select")] + items + source + nodes[fromEnd...]
    }

    private static let setReturning: Set = ["unnest", "generate_subscripts", "generate_series"]

    /// Functions in a select list that return several rows become a json_each in FROM; returns that.
    private mutating func expandSets(_ items: inout [Node]) throws(CatalogSyntaxError) -> [Node]? {
        var driver: [Node]?
        var alias = ""
        var result: [Node] = []
        var index = -1
        while index + 1 < items.count {
            index += 1
            result.append(items[index])
            guard let name = items[index].word, Self.setReturning.contains(name), index + 1 < items.count,
                let arguments = items[index + 1].group
            else { continue }
            let array = CatalogSyntax.split(arguments)[0]
            if driver == nil {
                functionsInFrom += 1
                alias = "srf\(functionsInFrom)_"
                let elements = Self.elements(of: name, arguments)
                driver = Node.call("json_each", elements) + [.word("as"), .word(alias)]
            } else if name == "generate_series" {
                throw CatalogSyntaxError(message: "two set-returning functions side by side are not available")
            }
            let key: [Node] = [.word(alias), .symbol("."), .word("key")]
            let value: [Node]
            switch name {
            case "generate_subscripts": value = key + [.op("+")] + Node.call("pg_lower_bound", array)
            default: value = Node.call("pg_nth", Self.elements(of: name, arguments) + [.symbol(",")] + key)
            }
            result[result.count - 1] = .group(value)
            index += 1
        }
        items = result
        return driver
    }

    /// What json_each is to be given for a function that returns a set.
    private static func elements(of function: String, _ arguments: [Node]) -> [Node] {
        switch function {
        case "unnest": Node.call("pg_array", arguments)
        case "generate_subscripts": Node.call("pg_array", CatalogSyntax.split(arguments)[0])
        case "generate_series": Node.call("pg_series", arguments)
        default: Node.call(function, arguments)
        }
    }

    /// `FROM f(x) [WITH ORDINALITY] [AS] alias [(columns)]`: SQLite names no columns of a table function.
    private func functionsAsTables(_ nodes: [Node]) throws(CatalogSyntaxError) -> [Node] {
        var result: [Node] = []
        var index = 0
        var isTablePlace = false
        while index < nodes.count {
            let node = nodes[index]
            guard isTablePlace, let function = node.word, index + 1 < nodes.count, let arguments = nodes[index + 1].group,
                !node.isWord("lateral")
            else {
                if node.isWord("lateral"), index + 1 < nodes.count, nodes[index + 1].group != nil {
                    throw CatalogSyntaxError(message: "LATERAL subqueries are not available")
                }
                isTablePlace =
                    node.isWord("from") || node.isWord("join") || node.isSymbol(",") || node.isWord("lateral")
                if !node.isWord("lateral") { result.append(node) }
                index += 1
                continue
            }
            index += 2
            var hasOrdinality = false
            if index + 1 < nodes.count, nodes[index].isWord("with"), nodes[index + 1].isWord("ordinality") {
                hasOrdinality = true
                index += 2
            }
            if index < nodes.count, nodes[index].isWord("as") { index += 1 }
            var alias = function
            if index < nodes.count, let name = nodes[index].name, !Self.joinWords.contains(name) {
                alias = name
                index += 1
            }
            var columns = [alias, "ordinality"]
            if index < nodes.count, let names = nodes[index].group {
                for (position, name) in CatalogSyntax.split(names).enumerated() where position < 2 {
                    columns[position] = name.first?.name ?? columns[position]
                }
                index += 1
            }
            var select: [Node] = [.word("select"), .word("value"), .word("as"), .token(.init(kind: .quoted, text: columns[0]))]
            if hasOrdinality {
                select += [.symbol(","), .word("key"), .op("+"), .number(1), .word("as"), .token(.init(kind: .quoted, text: columns[1]))]
            }
            select += [.word("from")] + Node.call("json_each", Self.elements(of: function, arguments))
            result += [.group(select), .word("as"), .token(.init(kind: .quoted, text: alias))]
            isTablePlace = false
        }
        return result
    }

    private static let joinWords: Set = ["join", "left", "right", "inner", "full", "cross", "on", "natural", "using"]

    // MARK: Expressions

    private mutating func expressions(_ nodes: [Node]) throws(CatalogSyntaxError) -> [Node] {
        var result: [Node] = []
        var index = 0
        while index < nodes.count {
            let node = nodes[index]
            index += 1
            if node.isSymbol("::") {
                let type = try CatalogCast.typeName(nodes, &index)
                try cast(&result, from: CatalogCast.operandStart(result), to: type)
            } else if let inside = node.subscriptNodes {
                try subscripted(&result, inside)
            } else if let arguments = node.group, let word = result.last?.word {
                try call(word, arguments, &result)
            } else {
                result.append(node)
            }
        }
        return result
    }

    /// A group behind a word: a function, or a keyword that looks like one.
    private mutating func call(
        _ word: String, _ arguments: [Node], _ result: inout [Node]
    ) throws(CatalogSyntaxError) {
        switch word {
        case "cast":
            guard let at = arguments.lastIndex(where: { $0.isWord("as") }) else { break }
            var index = at + 1
            let type = try CatalogCast.typeName(arguments, &index)
            result.removeLast()
            let start = result.count
            result += arguments[..<at]
            return try cast(&result, from: start, to: type)
        case "any", "some", "all":
            return try quantified(word, arguments, &result)
        case "array" where arguments.first?.isWord("select") == true:
            result.removeLast()
            let table: [Node] = [.word("with"), .word("array_"), .group([.word("v")]), .word("as"), .group(arguments)]
            result.append(
                .group(
                    table + [.word("select")] + Node.call("json_group_array", [.word("v")])
                        + [.word("from"), .word("array_")]))
            return
        case "array_agg", "string_agg":
            return result.append(.group(try orderedAggregate(arguments)))
        case "json_build_object":
            result[result.count - 1] = .word("json_object")
        case "substring":
            result[result.count - 1] = .word("substr")
            var arguments = arguments
            for index in arguments.indices where arguments[index].isWord("from") || arguments[index].isWord("for") {
                arguments[index] = .symbol(",")
            }
            return result.append(.group(arguments))
        case "position":
            guard let at = arguments.firstIndex(where: { $0.isWord("in") }) else { break }
            result[result.count - 1] = .word("instr")
            return result.append(.group(arguments[(at + 1)...] + [.symbol(",")] + arguments[..<at]))
        case "trim":
            guard let at = arguments.firstIndex(where: { $0.isWord("from") }) else { break }
            let side = arguments[0].word
            let names = ["leading": "ltrim", "trailing": "rtrim", "both": "trim"]
            result[result.count - 1] = .word(side.flatMap { names[$0] } ?? "trim")
            let characters = arguments[..<at].dropFirst(side.flatMap { names[$0] } == nil ? 0 : 1)
            let set: [Node] = characters.isEmpty ? [] : [.symbol(",")] + characters
            return result.append(.group(Array(arguments[(at + 1)...]) + set))
        default: break
        }
        result.append(.group(arguments))
    }

    /// `f(x ORDER BY y)`: the key becomes a last argument, by which the function sorts.
    private func orderedAggregate(_ arguments: [Node]) throws(CatalogSyntaxError) -> [Node] {
        guard let at = arguments.firstIndex(where: { $0.isWord("order") }) else { return arguments }
        var key = Array(arguments[(at + 2)...])
        if key.last?.isWord("asc") == true { key.removeLast() }
        guard CatalogSyntax.split(key).count == 1, key.last?.isWord("desc") != true else {
            throw CatalogSyntaxError(message: "an aggregate can be ordered by one ascending key only")
        }
        return arguments[..<at] + [.symbol(",")] + Node.call("pg_sort_key", key)
    }

    /// `x = ANY (array)` is `x IN (SELECT value FROM json_each(array))`.
    private func quantified(
        _ word: String, _ arguments: [Node], _ result: inout [Node]
    ) throws(CatalogSyntaxError) {
        result.removeLast()
        guard let op = result.popLast() else { throw CatalogSyntaxError(message: "syntax error at or near \"\(word)\"") }
        if word == "all", op.isOp("<>") || op.isOp("!=") {
            result.append(.word("not"))
        } else if word == "all" || !op.isOp("=") {
            throw CatalogSyntaxError(message: "only = ANY and <> ALL are available for catalogs")
        }
        let isQuery = arguments.first?.isWord("select") == true
        let elements: [Node] = Node.call("json_each", Node.call("pg_array", arguments))
        result += [.word("in"), .group(isQuery ? arguments : [.word("select"), .word("value"), .word("from")] + elements)]
    }

    private func subscripted(_ result: inout [Node], _ inside: [Node]) throws(CatalogSyntaxError) {
        if result.last?.isWord("array") == true {
            result.removeLast()
            result += Node.call("json_array", inside)
            return
        }
        guard !inside.contains(where: { $0.isSymbol(":") }) else {
            throw CatalogSyntaxError(message: "array slices are not available")
        }
        let start = CatalogCast.operandStart(result)
        let operand = Array(result[start...])
        result.removeSubrange(start...)
        result += Node.call("pg_element", operand + [.symbol(",")] + inside)
    }

    private mutating func cast(
        _ result: inout [Node], from start: Int, to type: CatalogCast.TypeName
    ) throws(CatalogSyntaxError) {
        let operand = Array(result[start...])
        result.removeSubrange(start...)
        if operand.count == 1, let token = operand[0].token, token.kind == .parameter,
            let number = Int(token.text.dropFirst())
        {
            parameterTypes[number] = type.name + (type.isArray ? "[]" : "")
        }
        result += try CatalogCast.cast(operand, to: type)
    }
}
