/// What may be in a register, where ways of a program meet.
extension ProgramValue {
    /// True when this brought anything new.
    @discardableResult
    mutating func join(_ other: ProgramValue) -> Bool {
        if self == other { return false }
        let wasNothing = classes.isEmpty && parameters.isEmpty && fields.isEmpty
        let isNothing = other.classes.isEmpty && other.parameters.isEmpty && other.fields.isEmpty
        let before = (classes, likely, parameterType, declared, origins, isConverted)
        let wasOfRow = isOfRow
        let listedBefore = listed
        classes.formUnion(other.classes)
        likely = likely.joined(other.likely)
        parameterType = parameterType.joined(other.parameterType)
        declared = declared.joinedExactly(other.declared)
        origins.formUnion(other.origins)
        // Converted, and a row's, only if every parameter that may be here is.
        if parameters.isEmpty {
            (isConverted, isOfRow) = other.parameters.isEmpty ? (false, false) : (other.isConverted, other.isOfRow)
        } else if !other.parameters.isEmpty {
            (isConverted, isOfRow) = (isConverted && other.isConverted, isOfRow && other.isOfRow)
        }
        Self.add(other.parameters, to: &parameters)
        Self.add(other.operands, to: &operands)
        // The lists only grow.
        var isNew =
            before != (classes, likely, parameterType, declared, origins, isConverted) || listed > listedBefore || isOfRow != wasOfRow
        if wasNothing {
            isNew = isNew || !other.fields.isEmpty
            fields = other.fields
        } else if !isNothing, joinFields(other.fields) {
            isNew = true
        }
        return isNew
    }

    /// The same as `==`.
    ///
    /// - Parameter work: what has been looked at is counted; what is shared is not looked at.
    static func areEqual(_ a: ProgramValue, _ b: ProgramValue, _ work: inout Int) -> Bool {
        work += 1
        guard a.classes == b.classes, a.likely == b.likely, a.declared == b.declared, a.origins == b.origins,
            a.parameterType == b.parameterType, a.isConverted == b.isConverted, a.isOfRow == b.isOfRow, a.fields.count == b.fields.count
        else { return false }
        guard a.parameters.count == b.parameters.count, a.operands.count == b.operands.count else { return false }
        if !a.parameters.sharesStorage(with: b.parameters) || !a.operands.sharesStorage(with: b.operands) {
            work += a.listed
            guard a.parameters == b.parameters, a.operands == b.operands else { return false }
        }
        if a.fields.sharesStorage(with: b.fields) { return true }
        for index in a.fields.indices {
            guard areEqual(a.fields[index], b.fields[index], &work) else { return false }
        }
        return true
    }

    /// How many parameters it is known to rest on.
    var listed: Int { parameters.count + operands.count }

    /// What it takes to look at all of it.
    var size: Int { fields.reduce(1 + listed) { $0 + 1 + $1.listed } }

    /// To a value that may be one of thousands of parameters they come one by one, mostly in their order.
    private static func add(_ others: [Int], to list: inout [Int]) {
        guard let first = others.first else { return }
        // Shared, so that nobody has to compare them.
        guard !list.isEmpty, list != others else { return list = others }
        if list.last.map({ $0 < first }) ?? true {
            list += others
        } else if others.count > 1 {
            list = merged(list, others)
        } else if case let place = place(of: first, in: list), list[place] != first {
            list.insert(first, at: place)
        }
    }

    /// Where a number belongs in a list whose last element is not less.
    private static func place(of number: Int, in list: [Int]) -> Int {
        var (low, high) = (0, list.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if list[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    static func merged(_ a: [Int], _ b: [Int]) -> [Int] {
        if a.isEmpty { return b }
        var result: [Int] = []
        result.reserveCapacity(a.count + b.count)
        var (i, j) = (0, 0)
        while i < a.count || j < b.count {
            let next = j == b.count || (i < a.count && a[i] <= b[j]) ? a[i] : b[j]
            if i < a.count, a[i] == next { i += 1 }
            if j < b.count, b[j] == next { j += 1 }
            result.append(next)
        }
        return result
    }

    private mutating func joinFields(_ other: [ProgramValue]) -> Bool {
        var isNew = fields.count < other.count
        for index in other.indices {
            guard index < fields.count else {
                fields.append(other[index])
                continue
            }
            if fields[index].join(other[index]) { isNew = true }
        }
        return isNew
    }
}
