import Workload

/// What one closure given to the pool does.
struct PoolAccess {
    enum Kind { case read, write }

    enum Step {
        /// - Parameter returnsRows: it is stepped through with a cursor.
        case statement(sql: String, parameters: [Program], returnsRows: Bool)
        case hold(nanoseconds: Int64)
    }

    var kind: Kind
    var steps: [Step]
    /// It was written as BEGIN ... ROLLBACK.
    var rollsBack = false
    /// As the workload file counts them: with BEGIN and COMMIT, which are the library's here.
    var statements: Int
}

extension PoolAccess {
    /// What is between BEGIN and COMMIT is one access: a write if anything in it writes, else a read, which is a snapshot.
    /// Every other statement is an access of its own, as it is a transaction of its own.
    static func accesses(of transaction: Transaction, _ plan: TransactionPlan) -> [PoolAccess] {
        var accesses: [PoolAccess] = []
        var isOpen = false
        var parameters = plan.parameters.makeIterator()
        for step in transaction.steps {
            switch step {
            case .hold(let milliseconds):
                // Outside of a transaction nothing is held: an access without a statement is only time.
                if !isOpen { accesses.append(PoolAccess(kind: .read, steps: [], statements: 0)) }
                accesses[accesses.count - 1].steps.append(.hold(nanoseconds: Int64(milliseconds * 1e6)))
            case .statement(let statement):
                let programs = parameters.next() ?? []
                switch statement.kind {
                case .begin:
                    isOpen = true
                    accesses.append(PoolAccess(kind: .read, steps: [], statements: 1))
                case .commit:
                    isOpen = false
                    accesses[accesses.count - 1].statements += 1
                    accesses[accesses.count - 1].rollsBack = statement.sql.uppercased().contains("ROLLBACK")
                case .read, .write:
                    if !isOpen { accesses.append(PoolAccess(kind: .read, steps: [], statements: 0)) }
                    accesses[accesses.count - 1].add(statement, programs)
                }
            }
        }
        return accesses
    }

    private mutating func add(_ statement: Statement, _ parameters: [Program]) {
        if statement.kind == .write { kind = .write }
        let returnsRows = statement.kind == .read || statement.sql.uppercased().contains("RETURNING")
        steps.append(.statement(sql: statement.sqlWithNumbers, parameters: parameters, returnsRows: returnsRows))
        statements += 1
    }
}
