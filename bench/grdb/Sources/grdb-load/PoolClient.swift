import GRDB
import Workload

/// One client: a thread that uses the pool of all.
final class PoolClient {
    private let pool: DatabasePool
    private let clientClass: ClientClass
    private let plan: ClassPlan
    private let accesses: [[PoolAccess]]
    private let number: Int
    private let schedule: Schedule
    private var draws: Draws
    private let values: UnsafeMutablePointer<Value>
    private let stack: UnsafeMutablePointer<Value>
    private var end: RunEnd
    private var rows = 0
    private var statements = 0
    private let stopTime: StopTime
    let tally: Tally

    init(pool: DatabasePool, settings: RunSettings, classIndex: Int, number: Int, stopTime: StopTime) {
        self.pool = pool
        self.number = number
        self.stopTime = stopTime
        end = RunEnd(stopTime: stopTime)
        let clientClass = settings.workload.classes[classIndex]
        let plan = ClassPlan(clientClass)
        self.clientClass = clientClass
        self.plan = plan
        accesses = zip(clientClass.transactions, plan.transactions).map { PoolAccess.accesses(of: $0, $1) }
        schedule = Schedule(clientClass, client: number)
        draws = settings.draws(classIndex: classIndex, client: number)
        tally = Tally(clientClass)
        values = .allocate(capacity: plan.valueCapacity)
        values.initialize(repeating: Value(integer: 0), count: plan.valueCapacity)
        stack = .allocate(capacity: ClassPlan.stackCapacity)
    }

    deinit {
        values.deallocate()
        stack.deallocate()
    }

    /// Runs from the common start to the end.
    ///
    /// - Parameter progress: told after every transaction how many there have been.
    func run(start: Int64, from: Int64, until planned: Int64, progress: (Int) -> Void) {
        end = RunEnd(planned: planned, stopTime: stopTime)
        tally.begin(from: from, until: planned)
        var lastEnd = start
        var started = 0
        while !clientClass.transactions.isEmpty {
            let intended = schedule.intendedStart(of: started, start: start, lastEnd: lastEnd)
            if intended > Clock.now { end.wait(until: intended) }
            let now = Clock.now
            lookForStop()
            guard now < end.time, intended < end.time else { break }
            let began = if case .open = schedule { intended } else { now }
            run(began: began)
            lastEnd = Clock.now
            started += 1
            progress(started)
        }
        if clientClass.isIdle { end.wait(until: end.time) } else { tally.countDue(schedule, start: start, started: started) }
    }

    /// What was running when the signal came ended after it.
    private func lookForStop() { if end.hasBecomeEarlier() { tally.stop(at: end.time) } }

    private func run(began: Int64) {
        let index = plan.pick(&draws)
        plan.transactions[index].drawLocals(&draws, values: values, stack: stack)
        rows = 0
        statements = 0
        do {
            for access in accesses[index] { try run(access) }
            let ended = Clock.now
            lookForStop()
            tally.succeeded(client: number, began: began, ended: ended, statements: statements, rows: rows)
        } catch is Abandoned {
            lookForStop()
            tally.abandoned(began: began)
        } catch {
            let ended = Clock.now
            lookForStop()
            tally.failed(began: began, ended: ended, state: Self.state(of: error), message: "\(error)")
        }
    }

    private func run(_ access: PoolAccess) throws {
        if access.statements == 0 {
            for case .hold(let nanoseconds) in access.steps { try hold(nanoseconds) }
            return
        }
        switch access.kind {
        case .read: try pool.read { try run(access.steps, $0) }
        case .write where access.rollsBack:
            try pool.writeInTransaction { database in
                try run(access.steps, database)
                return .rollback
            }
        case .write: try pool.write { try run(access.steps, $0) }
        }
        statements += access.statements
    }

    private func run(_ steps: [PoolAccess.Step], _ database: Database) throws {
        for step in steps {
            switch step {
            case .hold(let nanoseconds): try hold(nanoseconds)
            case .statement(let sql, let parameters, let returnsRows):
                let statement = try database.cachedStatement(sql: sql)
                let arguments = StatementArguments(parameters.map { argument($0) })
                guard returnsRows else {
                    try statement.execute(arguments: arguments)
                    continue
                }
                let cursor = try Row.fetchCursor(statement, arguments: arguments)
                while let row = try cursor.next() {
                    rows += 1
                    if clientClass.readBytesPerSecond > 0 { readSlowly(row) }
                }
            }
        }
    }

    /// A transaction that the end of the run finds in a hold.
    private struct Abandoned: Error {}

    private func hold(_ nanoseconds: Int64) throws { guard end.hold(nanoseconds: nanoseconds) else { throw Abandoned() } }

    private func argument(_ program: Program) -> any DatabaseValueConvertible {
        let value = program.value(&draws, values: values, stack: stack)
        return value.kind == .integer ? value.number : value.text
    }

    /// A row takes as long as its bytes do; nobody waits for the rest of the result when the run is over.
    private func readSlowly(_ row: Row) {
        let bytes = row.databaseValues.reduce(0) { $0 + (String.fromDatabaseValue($1)?.utf8.count ?? 8) }
        end.wait(until: Clock.now + Int64(bytes) * 1_000_000_000 / Int64(clientClass.readBytesPerSecond))
    }

    /// As walpool-load names them; those that a load meets.
    private static func state(of error: any Error) -> String {
        guard let code = (error as? DatabaseError)?.resultCode else { return "GRDB" }
        return switch code {
        case .SQLITE_BUSY: "SQLITE_BUSY"
        case .SQLITE_LOCKED: "SQLITE_LOCKED"
        case .SQLITE_IOERR: "SQLITE_IOERR"
        case .SQLITE_FULL: "SQLITE_FULL"
        case .SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT"
        case .SQLITE_ERROR: "SQLITE_ERROR"
        default: "SQLITE_\(code.rawValue)"
        }
    }
}
