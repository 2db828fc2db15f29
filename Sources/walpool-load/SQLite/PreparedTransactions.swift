import CSQLite
import Workload

/// The transactions of a class, prepared on a connection.
final class PreparedTransactions {
    enum Step {
        case statement(OpaquePointer, parameters: [Program])
        case hold(nanoseconds: Int64)
    }

    let connection: SQLiteConnection
    private(set) var transactions: [[Step]] = []
    private var statements: [String: OpaquePointer] = [:]

    init(
        _ connection: SQLiteConnection, _ clientClass: ClientClass, _ plan: ClassPlan, beginMode: SQLiteFile.BeginMode
    ) throws(LoadError) {
        self.connection = connection
        for (transaction, plan) in zip(clientClass.transactions, plan.transactions) {
            transactions.append(try steps(transaction, plan, beginMode))
        }
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
    }

    private func steps(
        _ transaction: Transaction, _ plan: TransactionPlan, _ beginMode: SQLiteFile.BeginMode
    ) throws(LoadError) -> [Step] {
        var steps: [Step] = []
        var index = 0
        for step in transaction.steps {
            switch step {
            case .hold(let milliseconds): steps.append(.hold(nanoseconds: Int64(milliseconds * 1e6)))
            case .statement(let statement):
                let takesLock = statement.kind == .begin && transaction.writes && beginMode == .immediate
                let prepared = try prepare(takesLock ? "BEGIN IMMEDIATE" : statement.sqlWithNumbers)
                steps.append(.statement(prepared, parameters: plan.parameters[index]))
                index += 1
            }
        }
        return steps
    }

    /// Statements with the same text are one.
    private func prepare(_ sql: String) throws(LoadError) -> OpaquePointer {
        if let known = statements[sql] { return known }
        let statement = try connection.prepare(sql)
        statements[sql] = statement
        return statement
    }
}
