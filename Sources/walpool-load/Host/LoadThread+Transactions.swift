import CLinux
import PostgresWire
import Workload

extension LoadThread {
    /// The time a client has waited for has come.
    func wake(_ index: Int, now: Int64) {
        let state = client(index)
        switch state.pointee.phase {
        case .unconnected, .waiting: scheduleNext(index, now: now)
        case .holding:
            guard now >= state.pointee.holdUntil else { return timers.add(client: index, at: state.pointee.holdUntil) }
            sendRound(index)
        case .retrying: connectForTransaction(index)
        case .running where state.pointee.readBytesPerSecond > 0, .rollingBack where state.pointee.readBytesPerSecond > 0:
            // The slow reader may read on.
            walpool_epoll_set(poller, 0, state.pointee.descriptor, WALPOOL_LEVEL, UInt64(index))
        case .connecting, .preparing, .running, .rollingBack: break
        }
    }

    /// The server is ready for the next request of this client.
    @inline(__always)
    func ready(_ index: Int, _ status: TransactionStatus) {
        let state = client(index)
        if state.pointee.phase == .running, !state.pointee.hasFailed {
            let next = state.pointee.round + 1
            let rounds = state.pointee.transactions[state.pointee.transaction].rounds
            let statements = rounds[state.pointee.round].statements
            guard state.pointee.completed == statements || isAnswered(state, statements) else {
                return answeredWrongly(index, "\(state.pointee.completed) of \(statements) statements were completed, and without an error")
            }
            state.pointee.statements &+= statements
            if next == rounds.count { return status == .idle ? succeeded(index) : isLeftOpen(index, status) }
            state.pointee.round = next
            guard rounds[next].holdNanoseconds > 0 else { return sendRound(index) }
            state.pointee.phase = .holding
            state.pointee.holdUntil = Clock.now + rounds[next].holdNanoseconds
            timers.add(client: index, at: state.pointee.holdUntil)
        } else {
            readyAfterAll(index, status)
        }
    }

    /// The rarer cases.
    @inline(never)
    private func readyAfterAll(_ index: Int, _ status: TransactionStatus) {
        let state = client(index)
        switch state.pointee.phase {
        case .connecting: isConnected(index)
        case .preparing: state.pointee.phase = .waiting
        case .running where status != .idle:
            state.pointee.phase = .rollingBack
            out.query("ROLLBACK")
            send(index)
        case .running, .rollingBack: finishFailed(index)
        case .waiting, .holding: answeredTooMuch(index)
        case .unconnected, .retrying: break
        }
    }

    // MARK: What is no success

    /// SQL of a workload may be several statements, each with an answer of its own.
    @inline(never)
    private func isAnswered(_ state: UnsafeMutablePointer<ClientState>, _ statements: Int) -> Bool {
        let clientClass = state.pointee.program.takeUnretainedValue().clientClass
        return state.pointee.completed > statements
            && clientClass.transactions[state.pointee.transaction].statements.contains { $0.sql.contains(";") }
    }

    /// Which answer belongs to what is no longer known: nothing that comes on this connection can be counted.
    @inline(never)
    private func answeredWrongly(_ index: Int, _ what: @autoclosure () -> String) {
        connectionLost(index, what(), state: "08P01")
    }

    @inline(never)
    func answeredTooMuch(_ index: Int) { answeredWrongly(index, "the server has answered more than it was asked") }

    /// Each statement has succeeded, but a transaction is open that the workload has closed, or never begun.
    @inline(never)
    private func isLeftOpen(_ index: Int, _ status: TransactionStatus) {
        let state = client(index)
        state.pointee.hasFailed = true
        failures[index] = ClientFailure(state: "25001", message: "the server has left the transaction open")
        readyAfterAll(index, status)
    }

    private func succeeded(_ index: Int) {
        let state = client(index)
        let now = Clock.now
        clock = now
        state.pointee.tally._withUnsafeGuaranteedRef {
            $0.succeeded(
                client: state.pointee.number, began: state.pointee.began, ended: now, statements: state.pointee.statements,
                rows: state.pointee.rows)
        }
        finished &+= 1
        ended(index, now: now)
    }

    private func finishFailed(_ index: Int) {
        let state = client(index)
        let now = Clock.now
        let failure = failures[index]
        let code = failure?.state ?? ""
        // What may succeed when it is tried again: serialization_failure and deadlock_detected.
        let isRetried = (code == "40001" || code == "40P01") && state.pointee.attempt < retries && now < until
        state.pointee.tally.takeUnretainedValue().failed(
            began: state.pointee.began, ended: now, state: code, message: failure?.message ?? "", isRetried: isRetried)
        failures[index] = nil
        guard isRetried else { return ended(index, now: now) }
        state.pointee.attempt += 1
        state.pointee.draws = state.pointee.drawsAtStart
        draw(state)
        sendRound(index)
    }

    /// A transaction has ended, well or not.
    private func ended(_ index: Int, now: Int64) {
        let state = client(index)
        state.pointee.lastEnd = now
        if state.pointee.connectsEachTime {
            out.terminate()
            send(index)
            disconnect(index)
        } else {
            state.pointee.phase = .waiting
        }
        scheduleNext(index, now: now)
    }

    /// Starts the next transaction, or waits until it is time to.
    func scheduleNext(_ index: Int, now: Int64) {
        let state = client(index)
        guard !state.pointee.isDone else { return }
        let intended = state.pointee.schedule.intendedStart(
            of: state.pointee.started, start: start, lastEnd: state.pointee.lastEnd)
        guard intended < until, now < until else { return markDone(state) }
        if intended > now { timers.add(client: index, at: intended) } else { begin(index, now: now, intended: intended) }
    }

    private func begin(_ index: Int, now: Int64, intended: Int64) {
        let state = client(index)
        // In a closed loop a transaction begins when it is sent; the clock was read just now.
        state.pointee.began = if case .open = state.pointee.schedule { intended } else { now }
        state.pointee.started &+= 1
        state.pointee.attempt = 0
        if retries > 0 { state.pointee.drawsAtStart = state.pointee.draws }
        draw(state)
        if state.pointee.phase == .unconnected { return connectForTransaction(index) }
        sendRound(index)
    }

    private func draw(_ state: UnsafeMutablePointer<ClientState>) {
        state.pointee.hasFailed = false
        state.pointee.round = 0
        state.pointee.rows = 0
        state.pointee.statements = 0
        state.pointee.transaction = state.pointee.program._withUnsafeGuaranteedRef { $0.plan.pick(&state.pointee.draws) }
        let plan = state.pointee.transactions[state.pointee.transaction].plan
        plan.drawLocals(&state.pointee.draws, values: state.pointee.values, stack: stack)
    }

    /// Encodes what comes next and sends it.
    func sendRound(_ index: Int) {
        let state = client(index)
        state.pointee.phase = .running
        state.pointee.completed = 0
        var mark = 0
        for piece in state.pointee.transactions[state.pointee.transaction].rounds[state.pointee.round].pieces {
            switch piece {
            case .bytes(let bytes): out.append(bytes)
            case .open(let type): mark = out.beginMessage(type)
            case .close: _ = out.endMessage(mark)
            case .parameter(let program):
                let count = program.value(&state.pointee.draws, values: state.pointee.values, stack: stack).write(to: text)
                out.fieldText(UnsafeRawBufferPointer(start: text, count: count))
            case .literal(let program):
                appendLiteral(program.value(&state.pointee.draws, values: state.pointee.values, stack: stack))
            }
        }
        send(index)
    }

    private func appendLiteral(_ value: Value) {
        let count = value.write(to: text)
        let bytes = UnsafeRawBufferPointer(start: text, count: count)
        switch value.kind {
        case .integer:
            // "x - -5" is a difference, "x --5" a comment.
            out.append(UInt8(ascii: " "))
            out.append(bytes)
        case .key, .text:
            // Letters and digits: nothing in it would end the quotes.
            out.append(UInt8(ascii: "'"))
            out.append(bytes)
            out.append(UInt8(ascii: "'"))
        }
    }
}
