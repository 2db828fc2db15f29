/// Casts, subscripts and calls, in the order in which they are written.
extension CatalogRewriter {
    mutating func expressions(_ nodes: [Node]) throws(CatalogSyntaxError) -> [Node] {
        var result: [Node] = []
        var index = 0
        // Each wraps the one before it once more, so that they nest as parentheses do.
        var casts = 0
        while index < nodes.count {
            let node = nodes[index]
            index += 1
            casts = node.isSymbol("::") || node.subscriptNodes != nil ? casts + 1 : 0
            guard casts < CatalogLimits.depth else { throw CatalogSyntax.isTooDeep }
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
        case "array" where arguments.first?.isWord("select") == true || arguments.first?.isWord("with") == true:
            result.removeLast()
            let table: [Node] = [.word("with"), .word("array_"), .group([.word("v")]), .word("as"), .group(arguments)]
            result.append(
                .group(
                    table + [.word("select")] + Node.call("json_group_array", [.word("v")])
                        + [.word("from"), .word("array_")]))
            return
        case "array_agg", "string_agg":
            return result.append(.group(try orderedAggregate(shown(arguments, by: word))))
        case "json_agg", "jsonb_agg":
            result[result.count - 1] = .word("pg_json_agg")
            let (kind, value) = jsonElement(shown(arguments, by: word))
            return result.append(.group([.string(kind), .symbol(",")] + (try orderedAggregate(value))))
        case "json_build_object", "jsonb_build_object":
            result[result.count - 1] = .word("json_object")
            return result.append(.group(jsonValues(shown(arguments, by: word)) { $0 % 2 == 1 }))
        case "json_build_array", "jsonb_build_array":
            result[result.count - 1] = .word("json")
            return result.append(.group(Node.call("json_array", jsonValues(shown(arguments, by: word)) { _ in true })))
        default:
            if try textFunction(word, arguments, &result) { return }
            return result.append(.group(shown(arguments, by: word)))
        }
        result.append(.group(arguments))
    }

    /// Functions of texts that have words between their arguments, or a name that is something else to SQLite. False: it is none of them.
    private func textFunction(_ word: String, _ arguments: [Node], _ result: inout [Node]) throws(CatalogSyntaxError) -> Bool {
        switch word {
        case "left", "right":
            // A name to PostgreSQL, and a keyword of joins to SQLite.
            result[result.count - 1] = .quoted(word)
            result.append(.group(arguments))
        case "substring":
            result[result.count - 1] = .word("substr")
            let start = arguments.firstIndex { $0.isWord("from") || $0.isSymbol(",") }
            if let start, start + 1 < arguments.count, arguments[start + 1].token?.kind == .string {
                throw CatalogSyntaxError(message: "substring() takes a position and no pattern")
            }
            var arguments = arguments
            for index in arguments.indices where arguments[index].isWord("from") || arguments[index].isWord("for") {
                arguments[index] = .symbol(",")
            }
            result.append(.group(arguments))
        case "position":
            guard let at = arguments.firstIndex(where: { $0.isWord("in") }) else { return false }
            result[result.count - 1] = .word("instr")
            result.append(.group(arguments[(at + 1)...] + [.symbol(",")] + arguments[..<at]))
        case "trim":
            guard let at = arguments.firstIndex(where: { $0.isWord("from") }) else { return false }
            let side = arguments[0].word
            let names = ["leading": "ltrim", "trailing": "rtrim", "both": "trim"]
            result[result.count - 1] = .word(side.flatMap { names[$0] } ?? "trim")
            let characters = arguments[..<at].dropFirst(side.flatMap { names[$0] } == nil ? 0 : 1)
            let set: [Node] = characters.isEmpty ? [] : [.symbol(",")] + characters
            result.append(.group(Array(arguments[(at + 1)...]) + set))
        default: return false
        }
        return true
    }

    /// `f(x ORDER BY y)`: the keys become a last argument, by which the function sorts.
    private func orderedAggregate(_ arguments: [Node]) throws(CatalogSyntaxError) -> [Node] {
        guard let at = arguments.firstIndex(where: { $0.isWord("order") }) else { return arguments }
        guard at + 2 < arguments.count, arguments[at + 1].isWord("by") else {
            throw CatalogSyntaxError(message: "ORDER BY and a key are expected")
        }
        let parts = CatalogSyntax.split(Array(arguments[(at + 2)...]))
        var keys = parts
        // A letter for each: ascending and descending, and in capitals where NULLs are first.
        var orders = ""
        for index in keys.indices {
            var nullsFirst: Bool?
            if keys[index].count > 2, keys[index][keys[index].count - 2].isWord("nulls") {
                nullsFirst = keys[index].removeLast().isWord("first")
                keys[index].removeLast()
            }
            let isDescending = keys[index].last?.isWord("desc") == true
            if isDescending || keys[index].last?.isWord("asc") == true { keys[index].removeLast() }
            guard !keys[index].isEmpty else { throw CatalogSyntaxError(message: "ORDER BY and a key are expected") }
            orders += nullsFirst ?? isDescending ? (isDescending ? "D" : "A") : isDescending ? "d" : "a"
        }
        let key = Node.call("pg_sort_key", [.string(orders)] + keys.flatMap { [.symbol(",")] + $0 })
        return arguments[..<at] + [.symbol(",")] + key
    }

    /// `x = ANY (array)` is `x IN (SELECT value FROM json_each(array))`.
    private mutating func quantified(
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
        if !isQuery {
            let end = result.last?.isWord("not") == true ? result.count - 1 : result.count
            typeParameter(beside: arguments, Array(result[Self.operand(of: result, before: end)]))
        }
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
            parameterTypes[number] = CatalogTypeInference.name(type)
        }
        result += try CatalogCast.cast(operand, from: inference.type(of: operand), to: type)
    }
}
