import Workload

/// The end of a run, and what is still under way then.
extension LoadThread {
    /// What comes after the signal is late. Called after each wait.
    @inline(__always)
    func lookForStop() { if stopTime.value < until { stop() } }

    @inline(never)
    private func stop() {
        until = stopTime.value
        for tally in tallies { tally.stop(at: until) }
    }

    func noteUnfinished() {
        for index in clients.indices {
            let state = client(index)
            if !state.pointee.transactions.isEmpty {
                state.pointee.tally.takeUnretainedValue().countDue(
                    state.pointee.schedule, start: start, started: state.pointee.started)
            }
            guard isInTransaction(state) else {
                markDone(state)
                continue
            }
            state.pointee.tally.takeUnretainedValue().unfinished(began: state.pointee.began, end: until)
            // It would take long, and says nothing of the server; and who holds for longer than anybody waits would end as it is.
            let isHeldTooLong = state.pointee.phase == .holding && state.pointee.holdUntil - until >= RunSettings.drainNanoseconds
            if state.pointee.readBytesPerSecond > 0 || isHeldTooLong { markDone(state) }
        }
    }

    /// What is under way is answered, so that what the server has done is known.
    func drain() {
        let deadline = until + RunSettings.drainNanoseconds
        while active > 0, clock < deadline { handleEvents(until: deadline) }
    }

    /// What was not answered until now.
    func giveUp() {
        for index in clients.indices {
            let state = client(index)
            guard isInTransaction(state) else { continue }
            let tally = state.pointee.tally.takeUnretainedValue()
            // A slow reader has not read it, and who holds has not asked.
            if state.pointee.readBytesPerSecond > 0 || state.pointee.phase == .holding {
                tally.abandoned(began: state.pointee.began)
            } else {
                tally.unanswered(began: state.pointee.began, givenUp: Clock.now)
                unanswered += 1
            }
        }
    }

    func isInTransaction(_ state: UnsafeMutablePointer<ClientState>) -> Bool {
        switch state.pointee.phase {
        case .running, .holding, .rollingBack, .retrying: true
        case .connecting: state.pointee.connectsEachTime
        case .unconnected, .preparing, .waiting: false
        }
    }

    func markDone(_ state: UnsafeMutablePointer<ClientState>) {
        guard !state.pointee.isDone else { return }
        state.pointee.isDone = true
        active -= 1
    }
}
