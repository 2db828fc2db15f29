import Journal
import Logging
import SQLite
import Scheduling

/// VACUUM as a job of the writer's queue: alone, in its turn, while readers go on.
extension Pool {
    /// When to call `lookAtMaintenance`.
    package var nextMaintenanceLook: Instant { maintenance.nextLook }

    /// How VACUUM goes, for people. Takes its own lock, and reads the clocks.
    package var maintenanceStatus: MaintenanceStatus { maintenance.status }

    /// Looks whether VACUUM is due. Returns the job, if the writer is free for it; otherwise it waits its turn.
    ///
    /// - Parameter willBeLong: called before the disk is waited for.
    package func lookAtMaintenance(now: Instant, willBeLong: () -> Void) -> Resumption? {
        defer { announce(maintenance.nextLook) }
        return maintenance.look(now: now, isPaused: pause != .none, willBeLong: willBeLong) ? queueMaintenance(now: now) : nil
    }

    /// Asks for a VACUUM now, whatever the interval, the window and the free pages say. It is not asked for twice: one
    /// that is queued or runs already is it. Returns the job, if the writer is free for it.
    package func requestMaintenance(now: Instant) -> Resumption? {
        maintenance.request() ? queueMaintenance(now: now) : nil
    }

    /// The daemon stops. A VACUUM that runs ends within a thousand steps of SQLite's machine, unless it is copying back.
    package func stopMaintenance() { maintenance.stop() }

    private func queueMaintenance(now: Instant) -> Resumption? {
        state.withLock { state in
            guard state.queuedJobs.insert(.maintenance).inserted else { return nil }
            return state.resumption(state.writerQueue.request(WriterJob.maintenance.client, .job, now: now))
        }
    }

    // MARK: The job

    /// Does one step. True: the job is to be queued again at once, behind those who wait.
    func maintain() -> (resumptions: [Resumption], again: Bool) {
        let (step, isRequested) = maintenance.state.withLock { state in
            defer {
                if state.step == .vacuum { (state.wasRequested, state.isRequested) = (state.isRequested, false) }
            }
            return (state.step, state.isRequested)
        }
        var resumptions: [Resumption] = []
        var next: Maintenance.Step?
        if !maintenance.mustStop {
            switch step {
            case .vacuum: next = vacuum(isRequested: isRequested)
            case .slices(let left): next = freeSlice(left)
            case .emptyWAL: (next, resumptions) = shrinkFile()
            case nil: break
            }
        }
        let again = maintenance.state.withLock { state in
            let isOver = next == nil || next == .emptyWAL
            if isOver { state.run = nil }
            // How it went has changed when it is due.
            if next == nil { state.nextLook = MonotonicClock.now }
            // An attempt to shrink the file that failed is repeated after a pause, not at once.
            let isRetry = step == .emptyWAL && next == .emptyWAL
            // It was asked for while this step ran. Not before the copy that is in the WAL has left it: with one for each request the
            // WAL would grow past every limit.
            state.step = state.isRequested && next == nil ? .vacuum : next
            state.isJobQueued = state.step != nil && !isRetry
            return state.isJobQueued
        }
        announce(maintenance.nextLook)
        return (resumptions, again)
    }

    private func vacuum(isRequested: Bool) -> Maintenance.Step? {
        let began = MonotonicClock.now
        let owner = MaintenanceOwner(maintenance: maintenance, writer: writer, began: began)
        let vacuum = Vacuum(writer: writer, owner: owner)
        var hasBegun = false
        do throws(SQLiteError) {
            if let problem = files.problem {
                suspectFiles()
                throw problem
            }
            // What it copies it reads out of both.
            if let problem = writer.knownFiles.problemOfCopying { throw problem }
            let size = try vacuum.size()
            guard try begin(vacuum, size, isRequested: isRequested, began: began) else { return nil }
            hasBegun = true
            // Before anything else: if it takes the daemon down with it, the next start has to know.
            maintenance.store()
            owner.expectedPages = size.pages - size.freePages
            log.notice(.vacuum, "VACUUM begins", metadata: ["pages": "\(size.pages)", "free": "\(size.freePages)"])
            try vacuum.analyze(always: changeable.analyzesAlways.load(ordering: .relaxed))
            if size.isIncremental {
                // Pages that are freed meanwhile are the next VACUUM's.
                return .slices(left: (size.freePages + Vacuum.pagesPerSlice - 1) / Vacuum.pagesPerSlice)
            }
            let needs = Vacuum.needs(
                size, databaseDirectory: maintenance.databaseDirectory, temporaryDirectory: maintenance.temporaryDirectory)
            if let shortage = DiskSpace.shortage(of: needs) {
                failed("no room: \(shortage)")
                return nil
            }
            if let name = try vacuum.definitionNotCopied() {
                failed("it would leave out \(name), whose definition in sqlite_schema does not begin with CREATE")
                return nil
            }
            try vacuum.copy()
            return try succeeded(vacuum)
        } catch {
            return ended(error, hasBegun)
        }
    }

    private enum Beginning {
        case begun
        case notWorthwhile
        /// Rows of this table may get other rowids, by which a full-text index finds them.
        case leftOut(table: String)
    }

    /// Whether it has begun; it does where it is worth it.
    private func begin(_ vacuum: Vacuum, _ size: Vacuum.Size, isRequested: Bool, began: Instant) throws(SQLiteError) -> Bool {
        let renumbered = isRequested || size.isIncremental ? nil : try vacuum.tableNamedByRowid()
        // Before the lock: localtime_r takes one of its own, and may read a file.
        let clocks = MaintenanceSchedule.Clocks.now
        let beginning = maintenance.state.withLock { state -> Beginning in
            let isWorthwhile = isRequested || state.schedule.isWorthwhile(pages: size.pages, freePages: size.freePages)
            guard isWorthwhile, renumbered == nil else {
                state.schedule.skip(clocks)
                return if isWorthwhile, let renumbered { .leftOut(table: renumbered) } else { .notWorthwhile }
            }
            state.schedule.begin(clocks, isRequested: isRequested)
            state.run = .init(began: began, before: size)
            return .begun
        }
        switch beginning {
        case .begun: return true
        case .notWorthwhile:
            log.info(.vacuum, "VACUUM is not worth it", metadata: ["pages": "\(size.pages)", "free": "\(size.freePages)"])
        case .leftOut(let table):
            log.warning(
                .vacuumTrouble, "VACUUM is left out: it would change rowids by which a full-text index finds its rows",
                metadata: ["table": "\(table)", "hint": "give the table an INTEGER PRIMARY KEY, or an index"])
        }
        return false
    }

    private func freeSlice(_ left: Int) -> Maintenance.Step? {
        let owner = MaintenanceOwner(maintenance: maintenance, writer: writer, began: MonotonicClock.now)
        let vacuum = Vacuum(writer: writer, owner: owner)
        do {
            // None is left where nothing was free: an administrator may ask for a VACUUM all the same.
            if left > 0 {
                try vacuum.freeSlice()
                if left > 1, try vacuum.size().freePages > 0 { return .slices(left: left - 1) }
            }
            return try succeeded(vacuum)
        } catch {
            return ended(error, true)
        }
    }

    // MARK: How it went

    private func succeeded(_ vacuum: Vacuum) throws(SQLiteError) -> Maintenance.Step? {
        let after = try vacuum.size()
        let clocks = MaintenanceSchedule.Clocks.now
        let success = maintenance.state.withLock { state -> MaintenanceRecord.Success in
            let run = state.run
            let freedPages = max(0, (run?.before.pages ?? after.pages) - after.pages)
            let success = MaintenanceRecord.Success(
                at: clocks.wallSeconds,
                durationMilliseconds: MonotonicClock.now.milliseconds(since: run?.began ?? MonotonicClock.now),
                bytesFreed: Int64(freedPages) * Int64(after.pageBytes))
            state.schedule.succeeded(success, clocks)
            state.emptyWALAttempts = 0
            return success
        }
        maintenance.store()
        counters.vacuumsSucceeded.wrappingAdd(1, ordering: .relaxed)
        let frames = writer.walFrames.all
        state.withLock { $0.policy.vacuumed(frames: frames) }
        log.notice(
            .vacuum, "VACUUM is done",
            metadata: [
                "pages": "\(after.pages)", "freed_bytes": "\(success.bytesFreed)",
                "duration": .stringConvertible(LoggedDuration(milliseconds: success.durationMilliseconds)),
            ])
        return .emptyWAL
    }

    private func ended(_ error: SQLiteError, _ hasBegun: Bool) -> Maintenance.Step? {
        writer.rollback()
        writer.note(error)
        if writer.stopReason == .shutdown {
            if hasBegun { maintenance.state.withLock { $0.schedule.stopped(isRequested: $0.wasRequested) } }
            maintenance.store()
            log.notice(.vacuum, "VACUUM was stopped: the daemon stops")
        } else {
            failed(error.isBusy ? "another process has the database locked" : error.message)
        }
        return nil
    }

    private func failed(_ reason: String) {
        let clocks = MaintenanceSchedule.Clocks.now
        let wasRequested = maintenance.state.withLock { state in
            state.schedule.failed(reason, clocks, isRequested: state.wasRequested)
            // Who asks for one from here on does not mean this one.
            state.run = nil
            return state.wasRequested
        }
        maintenance.store()
        counters.vacuumsFailed.wrappingAdd(1, ordering: .relaxed)
        log.warning(
            .vacuumTrouble, wasRequested ? "the VACUUM that was asked for failed" : "VACUUM failed and is tried again later",
            metadata: ["reason": "\(reason)"])
    }

    // MARK: Until the file has shrunk

    /// The copy is in the WAL; the file gets shorter when all of it is copied back, which readers of an older snapshot
    /// keep from happening. Nobody is ended for it: it is tried again, seldom.
    private func shrinkFile() -> (Maintenance.Step?, [Resumption]) {
        let (isComplete, resumptions) = attempt(.truncate)
        if isComplete {
            let freed = maintenance.state.withLock { $0.schedule.record?.lastSuccess?.bytesFreed ?? 0 }
            log.info(.vacuum, freed > 0 ? "the file has shrunk" : "VACUUM's copy is in the file, which was no longer than it needs")
            return (nil, resumptions)
        }
        let now = MonotonicClock.now
        maintenance.state.withLock { state in
            let doublings = min(state.emptyWALAttempts, 16)
            let pause = min(Maintenance.shortestRetryMilliseconds << doublings, Maintenance.longestRetryMilliseconds)
            state.emptyWALAttempts += 1
            state.nextLook = min(state.nextLook, now.advanced(byMilliseconds: pause))
        }
        return (.emptyWAL, resumptions)
    }
}
