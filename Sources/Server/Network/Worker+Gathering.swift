import Pool
import Scheduling

/// The time in which a group gathers: see `GroupGathering`.
extension Worker {
    /// The events there are while a group gathers, or the group's beginning: every thread that begins to wait meanwhile wakes
    /// for it. Those who come are mostly members, who are put in the queue in a few microseconds.
    func handleWhileGathering(until end: Instant, _ now: inout Instant) -> Bool {
        // `handle` begins the group, since what it does may be long or stuck as any event may.
        // Others may poll, and what comes now and is no member shall not wait for many of them.
        let most = UnsafeMutableBufferPointer(rebasing: words.prefix(EventBatch.mostBesideOthers))
        crew.beginsToWait()
        let count = server.poller.waitForEvents(most, until: end)
        crew.hasWaited()
        hasAskedForEvents()
        batch.keep(words[0..<count])
        receiveTogether()
        return handle(batch.take() ?? Server.wakeUpEvent, &now)
    }

    /// The group that was just answered may come back and be the next one: see `GroupGathering`.
    func letGather(_ plan: GroupGathering.Plan) {
        if let next = pool.releaseWriter(gathering: plan) {
            enqueue(next)
        } else if isLong || note.isReplaced.load(ordering: .relaxed) {
            leaveGathering()
        }
    }

    func endGathering() {
        if let next = pool.endGathering() { enqueue(next) }
    }

    /// This thread will not wait for events for a while, and those that wait already would not wake when a gathering ends.
    func leaveGathering() {
        if pool.gatheringEnd != nil { ready.wakeOne() }
    }
}
