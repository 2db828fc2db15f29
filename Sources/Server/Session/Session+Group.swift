import Pool
import PostgresWire
import SQLite
import Scheduling

/// A session as one member of a group commit.
extension Session: GroupMember {
    func mark(mayRunAgain: Bool) {
        member.markedEnd = out.end
        marks.commit = out.end
        member.hasEnded = false
        member.leavesNothing = false
        member.isInCommit = true
        member.totalChangesAtMark = pool.writer.connection.totalChanges
        member.leftovers = .none
        member.markedDeadline = running.deadline
        if member.settingsBefore != nil { member.settingsBefore = nil }
        // To remember all of it costs as much as a tenth of a statement.
        guard mayRunAgain else {
            // Of a group before, whose writer failed.
            if member.markedState != nil { forgetMark() }
            return
        }
        member.markedState = state
        member.markedSettingsToReport = running.settingsToReport
        member.markedPortals.removeAll(keepingCapacity: true)
        if let portal = state.unnamedPortal { member.markedPortals.append((portal, portal.progress)) }
        for portal in state.portals.values { member.markedPortals.append((portal, portal.progress)) }
    }

    func rewind() {
        closePortals()
        heldByCommit = []
        guard let marked = member.markedState else { preconditionFailure("what is run again has been marked for that") }
        state = marked
        running.settingsToReport = member.markedSettingsToReport
        notePassage()
        for (portal, progress) in member.markedPortals {
            portal.makeFresh()
            portal.progress = progress
        }
        // Its portal holds the statement that ran last: the one to run again is looked up anew.
        state.query?.hasStarted = false
        out.truncate(toEnd: member.markedEnd)
        marks.settings = min(marks.settings, member.markedEnd)
        writerMode = .none
        // It is the same statement that runs again: a cancel that comes before it does is for it, and it has no more time.
        running.isActive = true
        for before in [Activity.none, .between] {
            _ = activity.compareExchange(expected: before, desired: .running, ordering: .relaxed)
        }
        running.deadline = member.markedDeadline
        // It had the writer in time, and waits anew.
        endWait()
        beginWait()
        isClosing = false
    }

    /// It will not run again. Portals that are closed by now go with their values, of which an idle session keeps none.
    func forgetMark() {
        member.markedState = nil
        if member.settingsBefore != nil { member.settingsBefore = nil }
        member.markedPortals.removeAll(keepingCapacity: member.markedPortals.count <= 1)
    }

    func returnToQueue() {
        rewind()
        member.isInCommit = false
        forgetMark()
        countRequest()
    }

    func runTransaction(on writer: Writer) {
        writerMode = .group
        endWait()
        beginWriterTime()
        defer {
            writerMode = .none
            writerDeadline = .distantFuture
        }
        defer { if member.isNoted { forgetLongMember() } }
        noteRunning(at: counters?.takeTime() ?? MonotonicClock.now)
        do { if !member.isSingleStatement { try beginMemberTransaction(on: writer) } } catch {
            _ = fail(error)
            return
        }
        let wait = advance()
        if case .closed = wait { isClosing = true }
        // Whatever happened: once the writer is somebody else's, nothing of this session may still run on it.
        if !member.hasEnded || isClosing { closePortals() }
        guard !member.hasEnded else { return }
        undoMember()
        if !isClosing {
            // Not reached while `segmentShape` judges rightly what has arrived whole. If it did not, nothing of the
            // transaction stays, and the client is not told otherwise.
            out.truncate(toEnd: member.markedEnd)
            out.error(
                WireError(
                    severity: .fatal, state: .internalError, message: "the transaction had not arrived whole"))
            isClosing = true
        }
    }

    private func beginMemberTransaction(on writer: Writer) throws(WireError) {
        do { try writer.beginMemberSavepoint() } catch { throw ErrorTranslation.wireError(error) }
        try establishSavepoints()
    }

    /// The member's transaction ends well: its savepoint goes, its changes stay for the group's commit.
    func endMember() throws(WireError) {
        guard !member.hasEnded else { return }
        let writer = pool.writer
        do { try requireOpenTransaction() } catch {
            undoMember()
            throw error
        }
        guard !member.isSingleStatement else {
            member.hasEnded = true
            return
        }
        if writer.connection.hasUnresolvedForeignKeys {
            undoMember()
            throw WireError(
                state: .foreignKeyViolation, message: "FOREIGN KEY constraint failed",
                detail: "A deferred foreign key was still violated at the end of the transaction.")
        }
        do { try writer.releaseMemberSavepoint() } catch {
            undoMember()
            throw ErrorTranslation.wireError(error)
        }
        member.hasEnded = true
    }

    /// Undoes what this member did, and only that.
    func undoMember() {
        guard !member.hasEnded else { return }
        member.hasEnded = true
        let writer = pool.writer
        let connection = writer.connection
        // SQLite has ended the transaction itself: the group is dead, and its commit will find out.
        guard !connection.isAutocommit else { return member.leavesNothing = true }
        if member.isSingleStatement {
            // A statement that fails undoes itself, with exceptions: what ON CONFLICT FAIL had done by then stays, and so does a
            // statement whose result could not be sent, and what SQLite did not foresee. Then the group has to go. So it has when
            // the statement was stopped: SQLite may call it interrupted after its last instruction, and DDL counts no changes.
            if connection.totalChanges != member.totalChangesAtMark || writer.stopReason != nil || mayHaveLeftSomething {
                return writer.rollback()
            }
        } else {
            do { try writer.rollbackMemberSavepoint() } catch { return writer.rollback() }
        }
        member.leavesNothing = true
    }

    var leavesNothing: Bool { member.leavesNothing }

    /// What a single statement may have left behind, as far as its error says. Once it has completed it is `.possible` as well: a later
    /// message of its pipeline may fail, and definitions count no changes.
    enum Leftovers { case none, ifSchemaSaysFail, possible }

    func noteLeftoversOfEnd() {
        if writerMode == .group { member.leftovers = .possible }
    }

    func noteLeftovers(of error: SQLiteError, _ query: Query) {
        let isUndone = error.undoesItsStatement && !SQLWord.stands("fail", in: query.text.bytes)
        member.leftovers = isUndone ? .ifSchemaSaysFail : .possible
    }

    private var mayHaveLeftSomething: Bool {
        switch member.leftovers {
        case .none: false
        case .ifSchemaSaysFail: pool.writer.schemaSaysFail()
        case .possible: true
        }
    }

    func commitFailed(_ error: SQLiteError) {
        guard member.isInCommit else { return }
        guard marks.commit >= out.start, marks.commit <= out.end else {
            // Not reached while nothing of a group's replies leaves before its commit. If it did, silence is no answer.
            isClosing = true
            noteError(commitError(error))
            return out.error(commitError(error))
        }
        takeReplyBack(to: marks.commit)
        if let before = unsynced?.settingsBefore ?? member.settingsBefore { goBack(to: before.settings) }
        if !heldByCommit.isEmpty { closeCursorsOfCommit() }
        let refusal = member.leavesNothing ? Self.sharedCommitFailed : commitError(error)
        noteError(refusal)
        countError(refusal)
        out.error(refusal)
        // A block that had failed before its COMMIT is still to be ended, whatever the others' commit has come to.
        if !state.transaction.hasFailed { state.transaction = Transaction() }
        notePassage()
        readyForQuery()
    }

    /// Nothing of it is left, so nothing is unknown; but it may have failed, or gone back, for what others had written.
    private static let sharedCommitFailed = WireError(
        state: .serializationFailure, message: "the commit of those that the transaction ran with has failed, and nothing of it is left",
        hint: "Send it again.")

    func couldNotBegin(_ reason: StopReason?, _ error: SQLiteError) {
        member.isInCommit = false
        let refusal = reason.map(waitError) ?? ErrorTranslation.wireError(error)
        if refusal.severity == .fatal {
            countError(refusal)
            out.error(refusal)
            isClosing = true
        } else {
            _ = fail(refusal)
        }
    }

    /// After the commit, or the error that took its place: the reply goes out.
    ///
    /// - Parameter goesWithOthers: it is about to be settled, and its reply goes out then.
    func replyAfterGroup(goesWithOthers: Bool = false) {
        forgetMark()
        if !heldByCommit.isEmpty { heldByCommit = [] }
        if isUnsynced {
            isUnsynced = false
            unsynced = nil
        } else if !state.transaction.isExplicit {
            countTransactionEnd()
        }
        if !goesWithOthers, !flush() { isClosing = true }
    }

    var hasMoreInput: Bool { state.inputPosition < input.count }

    /// After the writer is released: whatever the client has sent meanwhile.
    func continueAfterGroup(_ worker: Worker) {
        self.worker = worker
        if isClosing { return closeWhenRead() }
        settle(advance())
    }
}
