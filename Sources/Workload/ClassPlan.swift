/// A class made ready to run: weights added up, expressions compiled.
public struct ClassPlan: Sendable {
    /// In the order of the class: what `pick` returns is a place in it.
    public let transactions: [TransactionPlan]
    /// Room that a client needs for what `let` draws, and beyond that for the stack.
    public let valueCapacity: Int
    /// The most bytes that writing one value takes.
    public let mostBytesOfValue: Int
    private let totalWeight: UInt64
    private let weightsUpTo: [UInt64]

    /// So many values are room enough for the stack of any expression.
    public static let stackCapacity = Program.deepestStack

    /// Compiles it for good: see `Program`. A class that is idle has a plan without transactions, from which nothing can be picked.
    public init(_ clientClass: ClientClass) {
        transactions = clientClass.transactions.map(TransactionPlan.init)
        valueCapacity = max(1, transactions.map(\.locals.count).max() ?? 0)
        var sum: UInt64 = 0
        weightsUpTo = clientClass.transactions.map { transaction in
            sum += UInt64(transaction.weight)
            return sum
        }
        totalWeight = sum
        let expressions = clientClass.transactions.flatMap { transaction in
            transaction.locals.map(\.expression) + transaction.statements.flatMap(\.parameters)
        }
        mostBytesOfValue = expressions.map(Self.mostBytes).max() ?? Value.mostBytesOfNumber
    }

    private static func mostBytes(_ expression: Expression) -> Int {
        if case .text(let length) = expression { return max(length, Value.mostBytesOfNumber) }
        return Value.mostBytesOfNumber
    }

    /// Which transaction is next.
    public func pick(_ draws: inout Draws) -> Int {
        guard weightsUpTo.count > 1 else { return 0 }
        let drawn = draws.random.below(totalWeight)
        var index = 0
        while drawn >= weightsUpTo[index] { index += 1 }
        return index
    }
}

/// A transaction's expressions, compiled.
public struct TransactionPlan: Sendable {
    /// In the order of `Transaction.locals`, so that `Expression.local` finds its value.
    public let locals: [Program]
    /// For each of `Transaction.statements`, its parameters.
    public let parameters: [[Program]]

    init(_ transaction: Transaction) {
        locals = transaction.locals.map { Program($0.expression) }
        parameters = transaction.statements.map { $0.parameters.map(Program.init) }
    }

    /// Draws what `let` names, once for the transaction.
    public func drawLocals(_ draws: inout Draws, values: UnsafeMutablePointer<Value>, stack: UnsafeMutablePointer<Value>) {
        for (place, program) in locals.enumerated() {
            values[place] = program.value(&draws, values: values, stack: stack)
        }
    }
}
