import PostgresWire
import Workload

/// How statements are sent.
enum QueryProtocol: String, CaseIterable, Sendable {
    /// Parsed once in a session, by name.
    case prepared
    /// Parsed each time.
    case extended
    /// The text of the statement with its values.
    case simple
}

/// A transaction as it is sent.
struct TransactionProgram {
    let plan: TransactionPlan
    let rounds: UnsafeBufferPointer<Round>
}

/// A class as its clients run it. Made once, then read by all threads: `@unchecked Sendable` because its pointers lead to
/// memory that nobody writes to or gives back.
final class ClassProgram: @unchecked Sendable {
    let clientClass: ClientClass
    let plan: ClassPlan
    /// Behind a pointer, because an array's elements would be retained and released for every transaction.
    let transactions: UnsafeBufferPointer<TransactionProgram>
    /// As which its statements are sent; nil when there are none.
    let queryProtocol: QueryProtocol?
    /// What a session prepares first: names and texts.
    let prepared: [(name: String, sql: String)]

    init(_ clientClass: ClientClass, queryProtocol: QueryProtocol) throws(LoadError) {
        self.clientClass = clientClass
        plan = ClassPlan(clientClass)
        // A new connection has no prepared statements: to prepare one for a single use is one more message than to parse it.
        var used = clientClass.connectsEachTime && queryProtocol == .prepared ? .extended : queryProtocol
        if used == .simple, clientClass.messages == .pipeline {
            throw .usage("simple queries cannot be sent in a pipeline; use --messages query")
        }
        if clientClass.messages == .query { used = .simple }
        self.queryProtocol = clientClass.transactions.isEmpty ? nil : used
        var builder = ProgramBuilder(clientClass: clientClass, queryProtocol: used)
        let programs = zip(clientClass.transactions, plan.transactions).map { builder.build($0, $1) }
        let copy = UnsafeMutableBufferPointer<TransactionProgram>.allocate(capacity: programs.count)
        _ = copy.initialize(from: programs)
        transactions = UnsafeBufferPointer(copy)
        prepared = builder.prepared
    }
}

private struct ProgramBuilder {
    let clientClass: ClientClass
    let queryProtocol: QueryProtocol
    private(set) var prepared: [(name: String, sql: String)] = []

    init(clientClass: ClientClass, queryProtocol: QueryProtocol) {
        self.clientClass = clientClass
        self.queryProtocol = queryProtocol
    }

    mutating func build(_ transaction: Transaction, _ plan: TransactionPlan) -> TransactionProgram {
        var rounds: [Round] = []
        var open: (template: RequestTemplate, statements: Int)?
        var hold: Int64 = 0
        var statementIndex = 0

        func finishRound() {
            guard var finished = open else { return }
            if clientClass.messages == .query {
                finished.template.addBytes("\0")
                finished.template.add(.close)
            } else if queryProtocol != .simple {
                finished.template.add { $0.sync() }
            }
            rounds.append(finished.template.finish(statements: finished.statements, holdNanoseconds: hold))
            hold = 0
            open = nil
        }

        for step in transaction.steps {
            switch step {
            case .hold(let milliseconds):
                finishRound()
                hold += Int64(milliseconds * 1e6)
            case .statement(let statement):
                var round = open ?? (RequestTemplate(), 0)
                add(statement, plan.parameters[statementIndex], isFirst: round.statements == 0, to: &round.template)
                round.statements += 1
                open = round
                statementIndex += 1
                if clientClass.messages == .separate { finishRound() }
            }
        }
        finishRound()
        let copy = UnsafeMutableBufferPointer<Round>.allocate(capacity: rounds.count)
        _ = copy.initialize(from: rounds)
        return TransactionProgram(plan: plan, rounds: UnsafeBufferPointer(copy))
    }

    private mutating func add(_ statement: Statement, _ parameters: [Program], isFirst: Bool, to template: inout RequestTemplate) {
        let sql = text(of: statement)
        if clientClass.messages == .query {
            if isFirst { template.add(.open(UInt8(ascii: "Q"))) } else { template.addBytes("; ") }
            template.addText(statement, sql: sql, parameters: parameters)
            return
        }
        switch queryProtocol {
        case .simple:
            template.add(.open(UInt8(ascii: "Q")))
            template.addText(statement, sql: sql, parameters: parameters)
            template.addBytes("\0")
            template.add(.close)
        case .extended: template.addExtended(sql, name: nil, parameters: parameters)
        case .prepared: template.addExtended(sql, name: name(of: sql), parameters: parameters)
        }
    }

    /// Statements with the same text are one.
    private mutating func name(of sql: String) -> String {
        if let known = prepared.first(where: { $0.sql == sql }) { return known.name }
        let name = "s\(prepared.count)"
        prepared.append((name, sql))
        return name
    }

    private func text(of statement: Statement) -> String {
        guard statement.kind == .begin, let isolation = clientClass.isolation else { return statement.sql }
        return "\(statement.sql) ISOLATION LEVEL \(isolation.uppercased())"
    }
}
