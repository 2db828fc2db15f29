/// Literals beside operands of types that SQLite has not (see CatalogRewriter+Types).
extension CatalogRewriter {
    /// What some nodes become, by where they begin; found first and put in their place together, so that a long statement takes no longer
    /// than its length.
    private struct Replacements {
        var found: [Int: (end: Int, nodes: [Node])] = [:]

        mutating func replace(_ range: Range<Int>, with nodes: [Node]) {
            if found[range.lowerBound] == nil { found[range.lowerBound] = (range.upperBound, nodes) }
        }

        func applied(to nodes: [Node]) -> [Node] {
            guard !found.isEmpty else { return nodes }
            var result: [Node] = []
            var index = 0
            while index < nodes.count {
                let next = found[index]
                result += next?.nodes ?? [nodes[index]]
                index = next?.end ?? index + 1
            }
            return result
        }
    }

    mutating func literalsAsTheirNeighbours(_ nodes: [Node]) -> [Node] {
        var replacements = Replacements()
        for index in nodes.indices {
            let node = nodes[index]
            if node.isWord("case") {
                compareBranches(nodes, index, &replacements)
            } else if index == 0 {
                continue
            } else if let token = node.token, token.kind == .op {
                if Self.comparisons.contains(token.text) { compare(nodes, leftEnd: index, right: index + 1, &replacements) }
                if token.text == "||" { concatenate(nodes, index, &replacements) }
            } else if node.isWord("from"), nodes[index - 1].isWord("distinct") {
                guard let start = nodes[max(0, index - 3)..<index].lastIndex(where: { $0.isWord("is") }) else { continue }
                compare(nodes, leftEnd: start, right: index + 1, &replacements)
            } else if node.isWord("in") {
                compareList(nodes, index, &replacements)
            }
        }
        return replacements.applied(to: nodes)
    }

    private static func isLiteral(_ nodes: some Collection<Node>) -> Bool {
        guard nodes.count == 1, let token = nodes.first?.token else { return false }
        return token.kind == .string || token.kind == .parameter
    }

    /// The operand that begins there: `a.b`, `f(x)`, `(x)`, a literal.
    static func operand(of nodes: [Node], from start: Int) -> Range<Int> {
        guard start < nodes.count else { return start..<start }
        var end = start
        if nodes[end].isName {
            while end + 2 < nodes.count, nodes[end + 1].isSymbol("."), nodes[end + 2].isName { end += 2 }
            if end + 1 < nodes.count, nodes[end + 1].group != nil { end += 1 }
        }
        return start..<(end + 1)
    }

    /// The operand that ends there.
    static func operand(of nodes: [Node], before end: Int) -> Range<Int> {
        end > 0 ? CatalogCast.operandStart(nodes, before: end)..<end : 0..<0
    }

    /// The operand, read as what it is compared as.
    private mutating func read(_ operand: some Collection<Node>, as type: String?) -> [Node] {
        let operand = Array(operand)
        guard let type, let reader = Self.readers[type], !Self.isRead(operand) else { return operand }
        if operand.count == 1, let token = operand[0].token, token.kind == .parameter, let number = Int(token.text.dropFirst()),
            parameterTypes[number] == nil
        {
            parameterTypes[number] = type
        }
        return Node.call(reader, operand)
    }

    private mutating func compare(_ nodes: [Node], leftEnd: Int, right start: Int, _ replacements: inout Replacements) {
        let (left, right) = (Self.operand(of: nodes, before: leftEnd), Self.operand(of: nodes, from: start))
        guard !left.isEmpty, !right.isEmpty else { return }
        let (isLeftLiteral, isRightLiteral) = (Self.isLiteral(nodes[left]), Self.isLiteral(nodes[right]))
        guard !(isLeftLiteral && isRightLiteral) else { return }
        let leftType = isLeftLiteral ? nil : inference.type(of: Array(nodes[left]))
        let rightType = isRightLiteral ? nil : inference.type(of: Array(nodes[right]))
        if let type = leftType ?? rightType, type.hasSuffix("[]"), isLeftLiteral || isRightLiteral {
            for operand in [left, right] { replacements.replace(operand, with: Node.call("pg_array", Array(nodes[operand]))) }
            return
        }
        let type = Self.hasName(leftType) || rightType == nil ? leftType : Self.hasName(rightType) || leftType == nil ? rightType : nil
        for (operand, isLiteral, own) in [(left, isLeftLiteral, leftType), (right, isRightLiteral, rightType)]
        where isLiteral || Self.hasName(type) && own == type {
            replacements.replace(operand, with: read(nodes[operand], as: type))
        }
    }

    /// `x IN ('t', 'f')`, and what `x = ANY (…)` has become.
    private mutating func compareList(_ nodes: [Node], _ index: Int, _ replacements: inout Replacements) {
        let left = Self.operand(of: nodes, before: nodes[index - 1].isWord("not") ? index - 1 : index)
        guard !left.isEmpty, index + 1 < nodes.count, let list = nodes[index + 1].group else { return }
        guard let type = inference.type(of: Array(nodes[left])), Self.readers[type] != nil else { return }
        if list.first?.isWord("select") != true {
            var parts: [[Node]] = []
            for part in CatalogSyntax.split(list) { parts.append(Self.isLiteral(part) ? read(part, as: type) : part) }
            replacements.replace((index + 1)..<(index + 2), with: [.group(Array(parts.joined(separator: [.symbol(",")])))])
        }
        if Self.hasName(type) { replacements.replace(left, with: read(nodes[left], as: type)) }
    }

    /// `CASE x WHEN 't' THEN …`
    private mutating func compareBranches(_ nodes: [Node], _ index: Int, _ replacements: inout Replacements) {
        let operand = Self.operand(of: nodes, from: index + 1)
        guard operand.upperBound < nodes.count, nodes[operand.upperBound].isWord("when") else { return }
        guard let type = inference.type(of: Array(nodes[operand])), Self.readers[type] != nil else { return }
        if Self.hasName(type) { replacements.replace(operand, with: read(nodes[operand], as: type)) }
        var depth = 1
        var position = operand.upperBound
        while position + 1 < nodes.count, depth > 0, depth < CatalogLimits.depth {
            if nodes[position].isWord("case") { depth += 1 }
            if nodes[position].isWord("end") { depth -= 1 }
            let value = (position + 1)..<(position + 2)
            if depth == 1, nodes[position].isWord("when"), Self.isLiteral(nodes[value]) {
                replacements.replace(value, with: read(nodes[value], as: type))
            }
            position += 1
        }
    }

    private func concatenate(_ nodes: [Node], _ index: Int, _ replacements: inout Replacements) {
        for range in [Self.operand(of: nodes, before: index), Self.operand(of: nodes, from: index + 1)] {
            let operand = Array(nodes[range])
            guard !Self.isLiteral(operand), let shown = Self.shown(operand, of: inference.type(of: operand)) else { continue }
            replacements.replace(range, with: shown)
        }
    }
}
