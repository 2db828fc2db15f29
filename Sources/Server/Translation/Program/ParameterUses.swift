import PostgresWire

/// What a program does with each of its parameters.
struct ParameterUses {
    struct Use {
        /// A column's affinity, or an integer's place, converts whatever class arrives; the column's types.
        var conversions: [Conversion] = []
        /// Nothing converts it, and this is what it must be.
        var needs: [TypeOID] = []
        /// The same, of what results are made of.
        var resultNeeds: [TypeOID] = []
        /// It must be a number.
        var isNumber = false
        /// It must be an integer or a boolean, for nothing converts it and it is compared with 0 or 1.
        var isDigit = false
        /// An enclosing CAST.
        var casts: [TypeOID] = []
        /// The class makes a difference there, and nothing says which is meant.
        var isSensitive = false
        /// A text, if nothing else says what it is.
        var isTextual = false
        /// It is stored as it comes.
        var isStored = false
        /// It is stored in a column declared BLOB, which converts nothing and says all the same what it is.
        var isStoredAsBytes = false
        /// More is done with what a column has made of it, as RETURNING does: there it is the column's.
        var isReused = false
        /// It is calculated with.
        var isCounted = false
        /// Nothing converts it, and it is compared with what it must be.
        var isCompared = false
        /// It is handed back as it came.
        var isResult = false
        /// It is only asked whether it is NULL.
        var isIndifferent = false
    }

    struct Conversion: Equatable {
        var affinity: Affinity
        /// What it is compared with, or stored as.
        var type: TypeOID?
    }

    /// By SQLite's index.
    private var uses: [Int: Use] = [:]
    /// Parameters that are compared with each other: of `b = $1 AND b <> $2` SQLite makes `$1 <> $2` besides.
    private var partners: [Int: Set<Int>] = [:]

    /// All of them. Who meets nothing but another parameter, and an affinity, is what that is.
    var resolved: [Int: Use] {
        guard !partners.isEmpty else { return uses }
        var result = uses
        for (parameter, others) in partners {
            guard let use = uses[parameter], !use.conversions.isEmpty, use.conversions.allSatisfy({ $0.type == nil }) else { continue }
            for other in others.sorted() {
                result[parameter]?.conversions += uses[other]?.conversions.filter { $0.type != nil } ?? []
            }
        }
        return result
    }

    /// How often a parameter's use was written down.
    private(set) var work = 0

    private mutating func update(_ value: ProgramValue, _ change: (inout Use) -> Void) {
        work += value.parameters.count
        for parameter in value.parameters { change(&uses[parameter, default: Use()]) }
    }

    mutating func need(_ value: ProgramValue, _ type: TypeOID) {
        if value.isConverted { return addReused(value) }
        update(value) { if !$0.needs.contains(type) { $0.needs.append(type) } }
    }

    /// A number, whichever: what else it is says more.
    mutating func needNumber(_ value: ProgramValue) {
        if value.isConverted { return addReused(value) }
        update(value) { $0.isNumber = true }
    }

    private mutating func addReused(_ value: ProgramValue) { update(value) { $0.isReused = true } }

    mutating func addCast(_ value: ProgramValue, _ type: TypeOID) {
        if value.isConverted { return addReused(value) }
        update(value) { if !$0.casts.contains(type) { $0.casts.append(type) } }
    }

    mutating func addSensitive(_ value: ProgramValue) {
        if value.isConverted { return addReused(value) }
        update(value) { $0.isSensitive = true }
    }

    mutating func addTextual(_ value: ProgramValue) {
        if value.isConverted { return addReused(value) }
        update(value) { $0.isTextual = true }
    }

    mutating func addIndifferent(_ value: ProgramValue) { update(value) { $0.isIndifferent = true } }

    mutating func addConverted(_ value: ProgramValue, _ affinity: Affinity, _ type: TypeOID?) {
        // What an index, a generated column, RETURNING or DO UPDATE makes of the column's value says nothing of the parameter.
        guard !value.isOfRow else { return }
        let conversion = Conversion(affinity: affinity, type: type)
        update(value) { if !$0.conversions.contains(conversion) { $0.conversions.append(conversion) } }
    }

    /// Each operand is taken for what the other is.
    mutating func addArithmetic(_ left: ProgramValue, _ right: ProgramValue) {
        for (value, other) in [(left, right), (right, left)] where !value.parameters.isEmpty {
            if case .type(let type) = other.counted, type.isNumber {
                need(value, type == .bool ? .int8 : type)
            } else {
                needNumber(value)
            }
            update(value) { $0.isCounted = true }
        }
    }

    mutating func addComparison(_ left: ProgramValue, _ right: ProgramValue, _ affinity: Affinity) {
        for (value, other) in [(left, right), (right, left)] where !value.parameters.isEmpty {
            if value.isConverted {
                // Not for a constant: `WHERE amount > 0` of a partial index says nothing of what the column holds.
                if case .type(let type) = other.declared { addConverted(value, Affinity(of: type), type) }
            } else if affinity.converts {
                // `CHECK (flag IN (0, 1))` makes no integer of a boolean.
                addConverted(value, affinity, other.origins == .digit && affinity == .numeric ? nil : other.type)
            } else {
                addUnconverted(value, like: other)
            }
        }
        guard left.isParameterOnly, right.isParameterOnly else { return }
        // Each with one of the other side: of thousands that may be on either, as by CASE, there would be millions of pairs.
        for (parameters, other) in [(left.parameters, right.parameters[0]), (right.parameters, left.parameters[0])] {
            for parameter in parameters where parameter != other { partners[parameter, default: []].insert(other) }
        }
    }

    /// All with each other, and without conversion: each must be what the others are together.
    mutating func addCompared(_ values: [ProgramValue]) {
        let all = ProgramValue.one(of: values)
        for value in values where !value.parameters.isEmpty {
            if value.isConverted {
                addReused(value)
            } else if all.isParameterOnly {
                addSensitive(value)
            } else {
                addUnconverted(value, like: all)
            }
        }
    }

    /// What is there in one row after another is compared: NULLs, numbers, texts and bytes have their places in an order, each class behind
    /// the other, whatever they look like.
    mutating func addOrdered(_ values: [ProgramValue]) {
        let all = ProgramValue.one(of: values)
        // With nothing but parameters they are texts, as those are that are handed back.
        if all.isParameterOnly { addIndifferent(all) } else { addCompared(values) }
    }

    /// Compared with what has no affinity: a number and a text are then never equal, so it must be what the other is.
    private mutating func addUnconverted(_ value: ProgramValue, like other: ProgramValue) {
        // Of what a parameter may stand in for: coalesce($1, 0) > 5.
        if let type = other.type, other.parameters.isEmpty || !other.isParameterOnly {
            if type == .int8, other.origins == .digit {
                update(value) { $0.isDigit = true }
            } else {
                need(value, other.isOfBooleans ? .bool : type)
            }
            update(value) { $0.isCompared = true }
        } else if other.parameters.isEmpty ? other.classes == .null : isAlone(other) && other.parameters == value.parameters {
            // With NULL, or with itself: SELECT DISTINCT $1.
            addIndifferent(value)
        } else {
            addSensitive(value)
        }
    }

    private func isAlone(_ value: ProgramValue) -> Bool { value.isParameterOnly && value.parameters.count == 1 }

    mutating func addStored(_ value: ProgramValue, in column: ProgramValue) {
        if value.isConverted {
            if let type = column.type { addConverted(value, Affinity(of: type), type) }
        } else if column.type == .bytea {
            need(value, .bytea)
            update(value) { $0.isStoredAsBytes = true }
        } else {
            addSensitive(value)
            update(value) { $0.isStored = true }
        }
    }

    mutating func addResult(_ row: [ProgramValue]) {
        for value in row where !value.parameters.isEmpty && !value.isConverted {
            if !value.isParameterOnly, let type = value.type {
                let need = type.isStoredAsText ? .text : type
                update(value) { if !$0.resultNeeds.contains(need) { $0.resultNeeds.append(need) } }
            } else {
                update(value) { $0.isResult = true }
            }
        }
    }
}

extension Affinity {
    /// What a value most likely is after it. NUMERIC leaves dates as they are.
    var likely: ProgramValue.Likely {
        switch self {
        case .integer: .type(.int8)
        case .real: .type(.float8)
        case .text: .type(.text)
        default: .unknown
        }
    }

    /// Of a column declared with the type.
    init(of type: TypeOID) {
        switch type {
        case .int8: self = .integer
        case .text: self = .text
        case .float8: self = .real
        case .bytea: self = .blob
        default: self = .numeric
        }
    }
}
