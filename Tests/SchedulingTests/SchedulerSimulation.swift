import Foundation
import TestSupport
import Testing

@testable import Scheduling

/// The whole scheduler under random load: clients that read, write in groups, hold the writer and are slow, are
/// cancelled, run out of time and disappear; checkpoints that need the gate; a recovery that goes before everybody; pauses
/// that let pass who has begun.
///
/// After every step the promises are checked. WALPOOL_SIMULATION_STEPS says how many steps in all, and
/// WALPOOL_SIMULATION_SEED replays one seed; a failure names its seed and step.
@Suite struct SchedulerSimulation {
    @Test func promisesHold() {
        let environment = ProcessInfo.processInfo.environment
        let steps = environment["WALPOOL_SIMULATION_STEPS"].flatMap { Int($0) } ?? 80_000
        let seeds = environment["WALPOOL_SIMULATION_SEED"].flatMap { UInt64($0) }.map { $0...$0 } ?? 1...20
        var total = SimulatedScheduler.Figures()
        for seed in seeds {
            var scheduler = SimulatedScheduler(seed: seed)
            for step in 1...max(1, steps / seeds.count) {
                scheduler.step()
                if let broken = scheduler.broken {
                    Issue.record("seed \(seed), step \(step): \(broken)")
                    return
                }
            }
            scheduler.drain()
            if let broken = scheduler.broken { Issue.record("seed \(seed), at the end: \(broken)") }
            total.add(scheduler.figures)
        }
        print("simulated \(steps) steps of \(seeds.count) seeds: \(total)")
        // A simulation in which nothing of a kind happened has shown nothing of it.
        #expect(total.groups > 0 && total.transactions > 0 && total.reads > 0 && total.evictions > 0)
        #expect(total.pauses > 0 && total.passed > 0 && total.completePauses > 0)
        #expect(total.gates > 0 && total.forced > 0 && total.recoveries > 0 && total.expired > 0 && total.withdrawn > 0)
    }
}

/// The pure types wired together as `Pool` and its workers do it, with a clock that is a number.
struct SimulatedScheduler {
    private struct Waiter {
        var client: ClientID
        var isMember: Bool
        var since: Int64
        var deadline: Int64
        /// How many grants were ahead of it at most when it came.
        var ahead: Int
        var passesPause = false
        /// How long there had been pauses when it came.
        var pausedBefore: Int64 = 0
    }

    private static let idleLimit: Int64 = 50
    /// A holder that is not idle is at work for at most this long at a time, and takes so many messages.
    private static let workLimit: Int64 = 20
    private static let messageLimit = 5
    private static let gateLimit: Int64 = 30
    private static let policy = CheckpointPolicy(softFrames: 20, hardFrames: 40, emergencyFrames: 60)

    private var random: SeededGenerator
    private var clock: Int64 = 0
    private var nextClient = 1
    private var writer: WriterQueue
    private var readers: ReaderQueue
    private var policy = Self.policy
    private let groupLimit: Int
    private(set) var figures = Figures()
    /// The first promise that did not hold.
    private(set) var broken: String?

    // The model: plain arrays.
    private var waitingWriters: [Waiter] = []
    private var waitingReaders: [Waiter] = []
    private var firstJobs: [ClientID] = []
    private var grant: WriterQueue.Grant?
    private var grantedAt: Int64 = 0
    private var messages = 0
    private var isIdle = false
    private var reading: [Int: ClientID] = [:]
    private var frames = 0
    private var copied = 0
    private var gateClosedAt: Int64?
    private var checkpointIsQueued = false
    private var recoveryIsQueued = false
    private var isPaused = false
    /// How long it has been paused in all.
    private var pausedTime: Int64 = 0
    private var lastClock: Int64 = 0

    init(seed: UInt64) {
        random = SeededGenerator(state: seed)
        groupLimit = Int.random(in: 1...8, using: &random)
        writer = WriterQueue(groupLimit: groupLimit, holderIdleLimitMilliseconds: Self.idleLimit)
        readers = ReaderQueue(limit: Int.random(in: 1...4, using: &random))
    }

    mutating func step() {
        clock += Int64.random(in: 0...3, using: &random)
        timePasses()
        switch Int.random(in: 0..<16, using: &random) {
        case 0..<4: write()
        case 4..<8: read()
        case 8..<11: endRead()
        case 11..<14: holderGoesOn()
        case 14: cancel()
        default:
            if random.chance(2) { failDisk() }
            if random.chance(20) { pauseOrResume() }
        }
        check()
    }

    /// Nobody comes any more: everybody who waits is served.
    mutating func drain() {
        for _ in 0..<100_000 where broken == nil {
            guard grant != nil || !reading.isEmpty || !waitingWriters.isEmpty || !waitingReaders.isEmpty else { return }
            clock += 1
            timePasses()
            if isPaused { pauseOrResume() }
            endRead()
            holderGoesOn()
            check()
        }
        if broken == nil { broken = "the load did not drain: \(waitingWriters.count) writers, \(waitingReaders.count) readers" }
    }

    // MARK: Clients

    private mutating func newWaiter(isMember: Bool, ahead: Int) -> Waiter {
        defer { nextClient += 1 }
        let deadline = random.chance(30) ? clock + Int64.random(in: 1...100, using: &random) : .max / 4_000_000
        // Whether it is in a transaction that began before a pause; so a few still come during one.
        return Waiter(
            client: nextClient, isMember: isMember, since: clock, deadline: deadline, ahead: ahead,
            passesPause: random.chance(20), pausedBefore: pausedTime)
    }

    private mutating func write() {
        guard waitingWriters.count < 60 else { return }
        let waiter = newWaiter(isMember: random.chance(70), ahead: waitingWriters.count + firstJobs.count + 3)
        let granted = writer.request(
            waiter.client, waiter.isMember ? .member : .transaction, now: ms(clock), deadline: ms(waiter.deadline),
            passesPause: waiter.passesPause)
        let mustWait = grant != nil || (isPaused && !waiter.passesPause)
        if isPaused, granted != nil { figures.passed += 1 }
        if (granted == nil) != mustWait { broken = "a free writer was not granted, or a busy one was" }
        waitingWriters.append(waiter)
        if let granted { begin(granted) }
    }

    private mutating func read() {
        guard waitingReaders.count < 60 else { return }
        let waiter = newWaiter(isMember: false, ahead: 0)
        if let index = readers.request(
            waiter.client, now: ms(clock), deadline: ms(waiter.deadline), passesPause: waiter.passesPause)
        {
            if isPaused, !waiter.passesPause { broken = "a paused reader was granted" }
            beginRead(index, waiter.client)
        } else {
            waitingReaders.append(waiter)
        }
    }

    private mutating func beginRead(_ index: Int, _ client: ClientID) {
        if readers.isGateClosed { broken = "a reader was granted at the closed gate" }
        if reading[index] != nil { broken = "reader \(index) was granted twice" }
        reading[index] = client
        figures.reads += 1
    }

    private mutating func endRead() {
        guard let index = reading.keys.sorted().randomElement(using: &random) else { return }
        giveBack(index)
    }

    private mutating func giveBack(_ index: Int) {
        reading[index] = nil
        guard let next = readers.release(index) else { return }
        if waitingReaders.first(where: mayGo)?.client != next { broken = "reader \(index) went to \(next), who was not first" }
        waitingReaders.removeAll { $0.client == next }
        beginRead(index, next)
    }

    private mutating func cancel() {
        let all = waitingWriters + waitingReaders
        guard let victim = all.randomElement(using: &random)?.client else { return }
        guard writer.withdraw(victim, now: ms(clock)) || readers.withdraw(victim, now: ms(clock)) else {
            return broken = "\(victim) was forgotten"
        }
        waitingWriters.removeAll { $0.client == victim }
        waitingReaders.removeAll { $0.client == victim }
        figures.withdrawn += 1
        if writer.withdraw(victim, now: ms(clock)) || readers.withdraw(victim, now: ms(clock)) { broken = "\(victim) waited twice" }
    }

    // MARK: The holder

    private mutating func begin(_ granted: WriterQueue.Grant) {
        if grant != nil { broken = "two holders" }
        grant = granted
        grantedAt = clock
        messages = 0
        isIdle = false
        switch granted {
        case .job(let client): beginJob(client)
        case .transaction: figures.transactions += 1
        case .group: figures.groups += 1
        }
        guard case .job = granted else { return takeFromHead(granted) }
    }

    private mutating func beginJob(_ client: ClientID) {
        if let first = firstJobs.first {
            if client != first { broken = "a job was not first although it asked to be" }
            firstJobs.removeFirst()
        } else {
            if waitingWriters.first(where: mayGo)?.client != client { broken = "a job was granted out of its turn" }
            waitingWriters.removeAll { $0.client == client }
        }
        if client == WriterJob.recovery.client {
            figures.recoveries += 1
            closeGate()
        } else if policy.due(frames: frames, copied: copied) == .gate {
            closeGate()
        }
    }

    private mutating func takeFromHead(_ granted: WriterQueue.Grant) {
        let expected = waitingWriters.filter(mayGo).prefix(granted.clients.count)
        if expected.map(\.client) != granted.clients || !firstJobs.isEmpty { broken = "\(granted.picture) was not at the head" }
        if granted.clients.count > groupLimit { broken = "a group was larger than its limit" }
        for waiter in expected {
            let wait = clock - waiter.since - (pausedTime - waiter.pausedBefore)
            figures.longestWait = max(figures.longestWait, wait)
            // Each grant ahead holds for so long at most: its messages, with pauses that end by eviction, or the gate.
            let longestHold = Int64(Self.messageLimit) * (Self.workLimit + Self.idleLimit + 5) + 2 * Self.gateLimit
            if wait > Int64(waiter.ahead + 1) * longestHold { broken = "\(waiter.client) waited for \(wait) ms" }
        }
        let served = Set(expected.map(\.client))
        waitingWriters.removeAll { served.contains($0.client) }
    }

    private func mayGo(_ waiter: Waiter) -> Bool { !isPaused || waiter.passesPause }

    // MARK: The pause

    private mutating func pauseOrResume() {
        if isPaused {
            if reading.isEmpty, grant == nil { figures.completePauses += 1 }
            isPaused = false
            if let granted = writer.resume(now: ms(clock)) { begin(granted) }
            take(readers.resume())
        } else {
            figures.pauses += 1
            isPaused = true
            writer.pause(now: ms(clock))
            readers.pause()
        }
    }

    private mutating func holderGoesOn() {
        switch grant {
        case nil: return
        case .group:
            frames += Int.random(in: 1...3, using: &random)
            release()
        case .transaction(let client):
            if isIdle {
                isIdle = false
                messages += 1
                writer.holderBecameActive(client)
            } else if messages < Self.messageLimit, random.chance(60) {
                isIdle = true
                writer.holderBecameIdle(client, now: ms(clock))
            } else {
                frames += Int.random(in: 1...5, using: &random)
                release()
            }
        case .job(let client): jobGoesOn(client)
        }
    }

    private mutating func jobGoesOn(_ client: ClientID) {
        if let closed = gateClosedAt, !reading.isEmpty {
            guard clock - closed >= Self.gateLimit else { return }
            figures.forced += 1
            for index in reading.keys.sorted() { giveBack(index) }
            if !reading.isEmpty { broken = "reads went on at the closed gate" }
        }
        if client == WriterJob.recovery.client {
            recoveryIsQueued = false
        } else {
            checkpointIsQueued = false
            let mode = policy.due(frames: frames, copied: copied) ?? .passive
            let isComplete = reading.isEmpty
            policy.ended(mode, frames: isComplete && mode != .passive ? 0 : frames, isComplete: isComplete)
            if isComplete { (frames, copied) = (mode == .passive ? frames : 0, mode == .passive ? frames : 0) }
            // The WAL begins anew once all of it is copied and nobody reads from it.
            if isComplete, mode == .passive { (frames, copied) = (0, 0) }
        }
        if gateClosedAt != nil { openGate() }
        release()
    }

    private mutating func release() {
        if let mode = policy.due(frames: frames, copied: copied) {
            if mode == .gate, checkpointIsQueued, writer.withdraw(WriterJob.checkpoint.client, now: ms(clock)) {
                waitingWriters.removeAll { $0.client == WriterJob.checkpoint.client }
                checkpointIsQueued = false
            }
            if !checkpointIsQueued { queueCheckpoint(first: mode == .gate) }
        }
        grant = nil
        isIdle = false
        if let next = writer.release(now: ms(clock)) { begin(next) }
    }

    private mutating func queueCheckpoint(first: Bool) {
        checkpointIsQueued = true
        let client = WriterJob.checkpoint.client
        if first {
            firstJobs.insert(client, at: 0)
            if writer.requestFirst(client, now: ms(clock)) != nil { broken = "a held writer was granted" }
        } else {
            waitingWriters.append(
                Waiter(
                    client: client, isMember: false, since: clock, deadline: .max / 4_000_000, ahead: 1_000, passesPause: true))
            if writer.request(client, .job, now: ms(clock)) != nil { broken = "a held writer was granted" }
        }
    }

    private mutating func failDisk() {
        guard !recoveryIsQueued else { return }
        recoveryIsQueued = true
        firstJobs.insert(WriterJob.recovery.client, at: 0)
        if let granted = writer.requestFirst(WriterJob.recovery.client, now: ms(clock)) { begin(granted) }
    }

    // MARK: The gate

    private mutating func closeGate() {
        readers.closeGate()
        gateClosedAt = clock
        figures.gates += 1
    }

    private mutating func openGate() {
        gateClosedAt = nil
        take(readers.openGate())
    }

    private mutating func take(_ granted: [(client: ClientID, index: Int)]) {
        let expected = waitingReaders.filter(mayGo).map(\.client)
        if granted.map(\.client) != Array(expected.prefix(granted.count)) { broken = "readers were granted out of order" }
        let served = Set(granted.map(\.client))
        waitingReaders.removeAll { served.contains($0.client) }
        for (client, index) in granted { beginRead(index, client) }
    }

    // MARK: Time

    private mutating func timePasses() {
        let now = ms(clock)
        if isPaused { pausedTime += clock - lastClock }
        lastClock = clock
        let overdue = (waitingWriters + waitingReaders).filter { ms($0.deadline) <= now }.map(\.client)
        let expired = writer.withdrawExpired(now: now) + readers.withdrawExpired(now: now)
        if Set(expired) != Set(overdue) { broken = "expired were \(expired), and not \(overdue)" }
        waitingWriters.removeAll { expired.contains($0.client) }
        waitingReaders.removeAll { expired.contains($0.client) }
        figures.expired += expired.count
        if let evicted = writer.holderToEvict(now: now) {
            if grant != .transaction(evicted) || !isIdle { broken = "\(evicted) was evicted and is no idle holder" }
            figures.evictions += 1
            release()
        } else if case .transaction = grant, !isIdle, clock - grantedAt > Int64(Self.messageLimit) * (Self.workLimit + Self.idleLimit) {
            // transaction_timeout
            release()
        }
    }

    // MARK: The promises

    private mutating func check() {
        guard broken == nil else { return }
        if grant == nil, !firstJobs.isEmpty || waitingWriters.contains(where: mayGo) {
            broken = "the writer is free and somebody waits"
        }
        if (grant == nil) != (writer.holder == .nobody) { broken = "the holder is \(writer.holder)" }
        if writer.waitingCount != waitingWriters.count + firstJobs.count { broken = "a waiting writer was forgotten" }
        if readers.waitingCount != waitingReaders.count { broken = "a waiting reader was forgotten" }
        if readers.inUseCount != reading.count { broken = "\(readers.inUseCount) readers in use, \(reading.count) known" }
        if !readers.isGateClosed, waitingReaders.contains(where: mayGo), readers.inUseCount < readers.limit {
            broken = "a reader is free and somebody waits"
        }
        if readers.isGateClosed != (gateClosedAt != nil) { broken = "the gate is not where it should be" }
        if gateClosedAt != nil { guard case .job = grant else { return broken = "the gate is closed for nobody" } }
    }
}
