import CSQLite
import Workload

/// One client that opens the file itself, in a process or a thread of its own.
final class SQLiteClient {
    private let file: SQLiteFile
    private let clientClass: ClientClass
    private let plan: ClassPlan
    private let number: Int
    private let schedule: Schedule
    private var draws: Draws
    private let values: UnsafeMutablePointer<Value>
    private let stack: UnsafeMutablePointer<Value>
    private let text: UnsafeMutablePointer<UInt8>
    private var prepared: PreparedTransactions?
    private var end: RunEnd
    private var rows = 0
    private var statements = 0
    private let stopTime: StopTime
    let tally: Tally

    init(file: SQLiteFile, settings: RunSettings, classIndex: Int, number: Int, stopTime: StopTime) throws(LoadError) {
        self.file = file
        self.number = number
        self.stopTime = stopTime
        end = RunEnd(stopTime: stopTime)
        clientClass = settings.workload.classes[classIndex]
        plan = ClassPlan(clientClass)
        schedule = Schedule(clientClass, client: number)
        draws = settings.draws(classIndex: classIndex, client: number)
        tally = Tally(clientClass)
        values = .allocate(capacity: plan.valueCapacity)
        values.initialize(repeating: Value(integer: 0), count: plan.valueCapacity)
        stack = .allocate(capacity: ClassPlan.stackCapacity)
        text = .allocate(capacity: plan.mostBytesOfValue)
        if !clientClass.connectsEachTime { prepared = try open() }
    }

    deinit {
        values.deallocate()
        stack.deallocate()
        text.deallocate()
    }

    private func open() throws(LoadError) -> PreparedTransactions {
        try PreparedTransactions(SQLiteConnection(file), clientClass, plan, beginMode: file.beginMode)
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
        do throws(SQLiteFailure) {
            let isComplete = try runTransaction(index)
            let ended = Clock.now
            lookForStop()
            guard isComplete else { return tally.abandoned(began: began) }
            tally.succeeded(client: number, began: began, ended: ended, statements: statements, rows: rows)
        } catch {
            let ended = Clock.now
            lookForStop()
            tally.failed(began: began, ended: ended, state: error.state, message: error.message)
        }
    }

    /// False: it was abandoned at the end of the run.
    private func runTransaction(_ index: Int) throws(SQLiteFailure) -> Bool {
        guard let prepared else { return try runOnNewConnection(index) }
        return try run(prepared, index)
    }

    private func runOnNewConnection(_ index: Int) throws(SQLiteFailure) -> Bool {
        let opened: PreparedTransactions
        do throws(LoadError) {
            opened = try open()
        } catch {
            throw SQLiteFailure(state: "SQLITE_CANTOPEN", message: error.description)
        }
        return try run(opened, index)
    }

    private func run(_ prepared: PreparedTransactions, _ index: Int) throws(SQLiteFailure) -> Bool {
        let handle = prepared.connection.handle
        do throws(SQLiteFailure) {
            for step in prepared.transactions[index] {
                switch step {
                case .hold(let nanoseconds):
                    guard end.hold(nanoseconds: nanoseconds) else {
                        rollBack(handle)
                        return false
                    }
                case .statement(let statement, let parameters):
                    try run(statement, parameters, handle)
                    statements += 1
                }
            }
        } catch {
            rollBack(handle)
            throw error
        }
        return true
    }

    private func rollBack(_ handle: OpaquePointer) {
        if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
    }

    private func run(_ statement: OpaquePointer, _ parameters: [Program], _ handle: OpaquePointer) throws(SQLiteFailure) {
        var place: Int32 = 1
        for program in parameters {
            let value = program.value(&draws, values: values, stack: stack)
            if value.kind == .integer {
                sqlite3_bind_int64(statement, place, value.number)
            } else {
                walpool_bind_text_copy(statement, place, text, value.write(to: text))
            }
            place += 1
        }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            rows += 1
            if clientClass.readBytesPerSecond > 0 { readSlowly(statement) }
            code = sqlite3_step(statement)
        }
        // The failure is read before reset, which may replace it.
        guard code == SQLITE_DONE else {
            let failure = SQLiteFailure(handle, code: code)
            sqlite3_reset(statement)
            throw failure
        }
        sqlite3_reset(statement)
    }

    /// A row takes as long as its bytes do; nobody waits for the rest of the result when the run is over.
    private func readSlowly(_ statement: OpaquePointer) {
        var bytes: Int64 = 0
        for column in 0..<sqlite3_column_count(statement) { bytes += Int64(sqlite3_column_bytes(statement, column)) }
        end.wait(until: Clock.now + bytes * 1_000_000_000 / Int64(clientClass.readBytesPerSecond))
    }
}
