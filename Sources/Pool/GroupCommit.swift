import SQLite
import Scheduling

/// Runs the transactions of a group on the writer and commits them together.
///
/// No savepoint is needed around a single statement: one that fails undoes itself alone, and where SQLite does not promise that,
/// its session rolls back. What can kill a whole group (that, `OR ROLLBACK`, `RAISE(ROLLBACK)`, a write that is interrupted, a
/// full disk, a deferred foreign key found at COMMIT) has one remedy: roll back, let the guilty member keep its error, and run
/// the others again. Nobody was answered yet, so nothing is lost. The members before the guilty one share a commit again, or a client
/// that keeps failing would take from all others what groups are for. Only if that fails, too, each has a transaction of its own.
///
/// Nobody is answered before the commit, so a member that runs for long would keep those waiting that came before it, and no
/// cancel or timeout of theirs could reach them. So it is stopped when it has taken the group's whole time for itself, and has
/// the first place of the next group, where nobody is before it and nothing but its own limits stops it. Its own time, not the
/// group's: with many members that is over soon, and each stop has all before it run again.
struct GroupCommit {
    let writer: Writer
    /// A group stops taking on members after this long, and none but the first runs for longer.
    let limitMilliseconds: Int64
    /// Takes a member that could not begin, at once: the others may go on waiting for long. Without it such a member is
    /// among the finished ones.
    var answer: ((any GroupMember) -> Void)?

    struct Result {
        /// Members whose reply is complete and may be sent.
        var finished: [any GroupMember] = []
        /// Members the group had no time for, or could not run on a connection that has failed: they are as they were
        /// before, and go back to the head of the queue.
        var postponed: [any GroupMember] = []
        /// How often a member did not end as it had before: its commit was refused, it could not begin, or it ended the transaction.
        fileprivate var changes = 0
    }

    func run(_ members: [any GroupMember]) -> Result {
        var result = Result()
        var rest = members[...]
        var began: Instant?
        // Every round ends with a commit, or without the member that killed it: so this ends.
        while !rest.isEmpty {
            if let began, isOver(since: began) { break }
            let waiting = begin(rest, &result)
            // What another process had the lock for is not the group's time.
            let isLater = began != nil
            let start = began ?? MonotonicClock.now
            began = start
            let end = runMembers(waiting, since: start, isLater: isLater, &result)
            switch end {
            case .committed(let postponed):
                result.postponed += postponed
                return result
            case .killed(let untouched):
                guard writer.failure == nil else {
                    result.postponed += untouched
                    return result
                }
                rest = untouched
            }
        }
        result.postponed += rest
        return result
    }

    private func isOver(since began: Instant) -> Bool { MonotonicClock.now.milliseconds(since: began) >= limitMilliseconds }

    private enum RoundEnd {
        case committed(postponed: ArraySlice<any GroupMember>)
        case killed(untouched: ArraySlice<any GroupMember>)
    }

    /// - Parameter isLater: not the first round, whose members have run and are still to be answered.
    private func runMembers(
        _ members: ArraySlice<any GroupMember>, since began: Instant, isLater: Bool, _ result: inout Result
    ) -> RoundEnd {
        guard !members.isEmpty else { return .committed(postponed: []) }
        // A lone member of the first round is never run again: what COMMIT refuses is its own error.
        let isAlone = members.count == 1 && !isLater
        for (index, member) in zip(members.indices, members) {
            let isFirst = index == members.startIndex
            var end = Instant.distantFuture
            if isLater || !isFirst {
                let now = MonotonicClock.now
                if !isFirst, now.milliseconds(since: began) >= limitMilliseconds {
                    commit(members[..<index], &result)
                    return .committed(postponed: members[index...])
                }
                end = now.advanced(byMilliseconds: limitMilliseconds)
            }
            member.mark(mayRunAgain: !isAlone)
            writer.memberRuns(until: end)
            member.runTransaction(on: writer)
            if writer.memberHasBeenStopped() {
                // SQLite rolls back a write that is interrupted, and with it the work of all.
                writer.rollback()
                member.returnToQueue()
                runTogetherAgain(members[..<index], &result)
                return .committed(postponed: members[index...])
            }
            if writer.connection.isAutocommit {
                // SQLite ended the transaction while this member ran; its reply says why.
                writer.rollback()
                let others = Others(members[..<index], writer, result)
                runTogetherAgain(others.members, &result)
                finish(member, after: others, &result)
                return .killed(untouched: members[(index + 1)...])
            }
            if !isAlone, writer.connection.hasUnresolvedForeignKeys {
                // COMMIT would refuse for all. Alone, this member gets the error that its own COMMIT gives.
                writer.rollback()
                runTogetherAgain(members[..<index], &result)
                runAgain([member], &result)
                return .killed(untouched: members[(index + 1)...])
            }
        }
        commit(members, &result)
        return .committed(postponed: [])
    }

    private func commit(_ members: ArraySlice<any GroupMember>, _ result: inout Result) {
        do {
            try commitWhatIsLeft(of: members)
            // All of them, mostly, and then there is nothing to copy.
            if result.finished.isEmpty { result.finished = Array(members) } else { result.finished.append(contentsOf: members) }
        } catch {
            writer.rollback()
            // After an I/O error nobody knows what reached the disk, so trying again would be wrong: "fsync-gate".
            if members.count == 1 || error.isInputOutput {
                failed(members, error, &result)
            } else {
                runAgain(members, &result)
            }
        }
    }

    /// Of who has left nothing the outcome is known, but what was answered may rest on what the others wrote: it runs again when the
    /// database has been opened anew.
    private func failed(_ members: ArraySlice<any GroupMember>, _ error: SQLiteError, _ result: inout Result) {
        for member in members {
            if members.count > 1, writer.failure != nil, member.leavesNothing {
                member.returnToQueue()
                result.postponed.append(member)
            } else {
                refuse(member, error, &result)
                result.finished.append(member)
            }
        }
    }

    private func refuse(_ member: any GroupMember, _ error: SQLiteError, _ result: inout Result) {
        result.changes += 1
        member.commitFailed(error)
    }

    /// A statement that was undone has changed pages and changed them back, and COMMIT would write and sync them for nothing.
    private func commitWhatIsLeft(of members: ArraySlice<any GroupMember>) throws(SQLiteError) {
        if writer.failure == nil, members.allSatisfy({ $0.leavesNothing }) { writer.endWithoutCommit() } else { try writer.commit() }
    }

    /// The remedy for those who are not to blame: all in one transaction again.
    private func runTogetherAgain(_ members: ArraySlice<any GroupMember>, _ result: inout Result) {
        guard members.count > 1 else { return runAgain(members, &result) }
        for member in members { member.rewind() }
        guard writer.failure == nil else { return result.postponed += members }
        let waiting = begin(members, &result)
        for (index, member) in zip(waiting.indices, waiting) {
            guard writer.failure == nil else {
                if index > waiting.startIndex { commit(waiting[..<index], &result) }
                return result.postponed += waiting[index...]
            }
            member.mark(mayRunAgain: true)
            member.runTransaction(on: writer)
            guard writer.connection.isAutocommit || writer.connection.hasUnresolvedForeignKeys else { continue }
            // What went well a moment ago does not now: somebody was cancelled, or the disk is full. Its reply says so.
            let hasItsError = writer.connection.isAutocommit
            if hasItsError { result.changes += 1 }
            writer.rollback()
            let others = Others(waiting[..<index], writer, result)
            runAgain(others.members, &result)
            if hasItsError { finish(member, after: others, &result) } else { runAgain([member], &result) }
            return runAlone(waiting[(index + 1)...], &result)
        }
        if !waiting.isEmpty { commit(waiting, &result) }
    }

    /// Those before a member that has ended their transaction, as they have run with it.
    private struct Others {
        let members: ArraySlice<any GroupMember>
        private let leftNothing: [Bool]
        private let changes: Int
        /// Its error may come of what they had written. A cancel is for what it was sent for, and takes no second one.
        private let mayBeToBlame: Bool

        init(_ members: ArraySlice<any GroupMember>, _ writer: Writer, _ result: Result) {
            self.members = members
            leftNothing = members.map(\.leavesNothing)
            changes = result.changes
            mayBeToBlame = !members.isEmpty && writer.failure == nil && writer.stopReason == nil
        }

        /// They have run again, and its error may rest on what is not committed now.
        func endedOtherwise(_ writer: Writer, _ result: Result) -> Bool {
            guard mayBeToBlame else { return false }
            // Who could not begin is answered by now, and another thread's.
            return writer.failure != nil || result.changes > changes
                || zip(members, leftNothing).contains { member, leftNothing in member.leavesNothing && !leftNothing }
        }
    }

    /// The member has its error. If that may rest on what the others have not got in now, as their commit was refused, or they could not
    /// begin, or failed this time, the member runs again, too: with the next group, or when the database has been opened anew.
    private func finish(_ member: any GroupMember, after others: Others, _ result: inout Result) {
        guard others.endedOtherwise(writer, result) else { return result.finished.append(member) }
        member.returnToQueue()
        result.postponed.append(member)
    }

    /// The last remedy: each of these in a transaction of its own.
    private func runAgain(_ members: ArraySlice<any GroupMember>, _ result: inout Result) {
        for member in members { member.rewind() }
        runAlone(members, &result)
    }

    private func runAlone(_ members: ArraySlice<any GroupMember>, _ result: inout Result) {
        // After an I/O error nothing is tried again on the same connection: the writer is opened anew first.
        for (index, member) in zip(members.indices, members) {
            guard writer.failure == nil else { return result.postponed += members[index...] }
            guard !begin([member], &result).isEmpty else { continue }
            member.mark(mayRunAgain: true)
            member.runTransaction(on: writer)
            if writer.connection.isAutocommit {
                result.changes += 1
                writer.rollback()
            } else {
                do { try commitWhatIsLeft(of: [member]) } catch {
                    writer.rollback()
                    refuse(member, error, &result)
                }
            }
            result.finished.append(member)
        }
    }

    /// Takes the write lock for these members. Those that would wait no longer for another process, or were cancelled
    /// while they waited, are answered; the others are returned.
    private func begin(
        _ members: ArraySlice<any GroupMember>, _ result: inout Result
    ) -> ArraySlice<any GroupMember> {
        var waiting = members
        while !waiting.isEmpty {
            do {
                try writer.begin(AnyOf(members: waiting))
                return waiting
            } catch {
                let patient = error.isBusy ? answerThoseWhoLeave(waiting, error, &result) : waiting
                // Somebody left: the others go on waiting. Nobody did: then it was no wait that ended.
                guard patient.count == waiting.count else {
                    waiting = patient
                    continue
                }
                result.changes += waiting.count
                for member in waiting { member.couldNotBegin(nil, error) }
                result.finished.append(contentsOf: waiting)
                return []
            }
        }
        return []
    }

    /// - Returns: who goes on waiting.
    private func answerThoseWhoLeave(
        _ waiting: ArraySlice<any GroupMember>, _ error: SQLiteError, _ result: inout Result
    ) -> ArraySlice<any GroupMember> {
        let now = MonotonicClock.now
        var patient: [any GroupMember] = []
        for member in waiting {
            guard let reason = member.reasonToStopWaiting(now: now) else {
                patient.append(member)
                continue
            }
            result.changes += 1
            member.couldNotBegin(reason, error)
            if let answer { answer(member) } else { result.finished.append(member) }
        }
        return patient[...]
    }

    /// Stands for all members while they wait for another process together.
    private final class AnyOf: StatementOwner {
        let members: ArraySlice<any GroupMember>
        init(members: ArraySlice<any GroupMember>) { self.members = members }

        func reasonToStop(now: Instant) -> StopReason? { nil }
        func reasonToStopWaiting(now: Instant) -> StopReason? {
            for member in members {
                if let reason = member.reasonToStopWaiting(now: now) { return reason }
            }
            return nil
        }
        func willBeLong() {
            members.first?.willBeLong()
            members.first?.writerWillBeLong()
        }
    }
}
