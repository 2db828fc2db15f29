import TestSupport
import Testing

@testable import Scheduling

@Suite struct PollerCensusTests {
    /// j: a thread starts. l: a polling thread will be long. b: a long thread is back.
    /// What each step answers: P poll, S stand by; W wakes one of the reserve, - wakes none.
    @Test(
        arguments: [
            // target, steps, answers, active, reserve
            (1, "", "", 0, 0),
            (1, "jj", "PS", 1, 1),
            // The second one watches.
            (3, "jjjj", "PSPP", 3, 1),
            // And goes on with that: one less polls.
            (3, "jjjjl", "PSPP-", 2, 1),
            (3, "jjjjlb", "PSPP-P", 3, 1),
            (3, "jjjjll", "PSPP--", 1, 1),
            (3, "jjjjllb", "PSPP--P", 2, 1),
            (3, "jjjjllbb", "PSPP--PP", 3, 1),
            (3, "jjjjjl", "PSPPSW", 3, 1),
            (3, "jjjjjlb", "PSPPSWS", 3, 2),
            // Unless nobody else is left to poll; whoever comes then watches.
            (2, "jjl", "PSW", 1, 0),
            (2, "jjlb", "PSWS", 1, 1),
            (2, "jjlbj", "PSWSP", 2, 1),
            (2, "jjllbb", "PSW-PS", 1, 1),
            (2, "jjllj", "PSW-P", 1, 0),
            (1, "jjjlll", "PSSWW-", 0, 0),
            (1, "jjjlllbbb", "PSSWW-PSS", 1, 2),
            // One of four is counted twice, and all are long: who is back first polls.
            (1, "jjjjlllllb", "PSSSWWW--P", 0, 0),
        ] as [(Int, String, String, Int, Int)])
    func script(_ target: Int, _ steps: String, _ answers: String, _ active: Int, _ reserve: Int) {
        var census = PollerCensus(target: target)
        var given = ""
        for step in steps {
            switch step {
            case "j": given += census.join() == .poll ? "P" : "S"
            case "l": given += census.willBeLong() ? "W" : "-"
            default: given += census.joinAgain() == .poll ? "P" : "S"
            }
        }
        #expect(given == answers)
        #expect(census.active == active)
        #expect(census.reserve == reserve)
        #expect(census.long == steps.filter { $0 == "l" }.count - steps.filter { $0 == "b" }.count)
    }

    /// Everything is at long work that can be: somebody still polls, and somebody else watches over who does.
    @Test(arguments: [(1, 1), (2, 3), (2, 8), (8, 3), (64, 8), (2, 256)])
    func enoughThreads(_ cores: Int, _ readers: Int) {
        var census = PollerCensus(target: max(2, cores), quickTarget: cores / 2)
        for _ in 0..<PollerCensus.threads(cores: cores, readers: readers) { _ = census.join() }
        // The readers, the connection that only prepares, the writer, a sync.
        for _ in 0..<(readers + 1 + 1 + 1) { _ = census.willBeLong() }
        #expect(census.active >= 1 && census.reserve >= 1)
    }

    /// It said that it would be long just when it was found to be stuck: two were called for one, and it is counted back
    /// before it joins.
    @Test func oneThreadReplacedTwice() {
        var census = PollerCensus(target: 2)
        for _ in 0..<5 { _ = census.join() }
        _ = census.willBeLong()
        _ = census.willBeLong()
        #expect(census.active == 2 && census.reserve == 1)
        census.wasCountedTwice()
        let role = census.joinAgain()
        #expect(role == .standBy && census.reserve == 2 && census.long == 0)
    }

    /// Who comes back just as it is found to be stuck has nobody called in its place, and the last of the reserve watches on. Who was
    /// counted as long before is counted back.
    @Test(arguments: [
        // threads, found stuck, found back, called, active, reserve, long
        (2, 1, 0, 1, 1, 0, 1), (2, 1, 1, 0, 1, 1, 0), (5, 1, 1, 0, 1, 4, 0), (5, 2, 1, 1, 1, 3, 1), (5, 0, 1, 0, 2, 4, -1),
    ])
    func asTheWatcherFindsThem(_ threads: Int, _ stuck: Int, _ back: Int, _ called: Int, _ active: Int, _ reserve: Int, _ long: Int) {
        var census = PollerCensus(target: 2, quickTarget: 1)
        for _ in 0..<threads { _ = census.join() }
        #expect(census.wereFound(stuck: stuck, back: back) == called)
        #expect(census.active == active && census.reserve == reserve && census.long == long)
    }

    /// s: an event was slow (100 us). h: one took half of the window. k: a thread will block. b: there is a backlog. e: a polling thread
    /// looks between two events. A digit: so many times 5 ms pass.
    /// Answers of s, h, k and b are how many of the reserve are woken.
    @Test(
        arguments: [
            // quick target, full target, threads, steps, answers, active
            (1, 3, 6, "e", "P", 1),
            (1, 3, 6, "sssssss", "0000000", 1),
            (1, 3, 6, "ssssssss", "00000002", 3),
            (1, 3, 6, "sssssss5s", "00000000", 1),
            (1, 3, 6, "h", "2", 3),
            (1, 3, 6, "k", "2", 3),
            (1, 3, 6, "kk", "20", 3),
            (1, 3, 3, "k", "1", 2),
            // Somebody watches.
            (1, 3, 2, "kb", "00", 1),
            // It holds for a window after the last reason, then threads stand by as they come from their events.
            (1, 3, 6, "k3ee", "2PP", 3),
            (1, 3, 6, "k4eee", "2SSP", 1),
            (1, 3, 6, "k3k3e4ee", "20PSS", 1),
            (2, 3, 6, "k4ee", "1SP", 2),
            // A backlog calls one, and holds as long.
            (1, 3, 6, "b", "1", 2),
            (1, 3, 6, "bb3ee", "10PP", 2),
            (1, 3, 6, "b4ee", "1SP", 1),
            (1, 3, 6, "b3b3e4ee", "10PSP", 1),
            (2, 4, 6, "b", "1", 3),
            (1, 2, 1, "b", "0", 1),
            // Beside commits it calls nobody, and what is left of it when they end holds on.
            (1, 3, 6, "bk", "11", 3),
            (1, 3, 6, "k2b2eee4e", "20SPPS", 1),
            (1, 3, 6, "b2k3ee1ee", "11PPSS", 1),
            // The target is the same for both: nothing to change.
            (3, 3, 6, "b4e", "0P", 3),
            (3, 3, 6, "k9e", "0P", 3),
        ] as [(Int, Int, Int, String, String, Int)])
    func slowEventsCallMoreThreads(
        _ quick: Int, _ full: Int, _ threads: Int, _ steps: String, _ answers: String, _ active: Int
    ) {
        var census = PollerCensus(target: full, quickTarget: quick)
        for _ in 0..<threads { _ = census.join() }
        #expect(census.active == min(quick, threads))
        // Far from zero, where the first window would have begun.
        var now = Instant(nanoseconds: 1_000_000_000)
        var given = ""
        for step in steps {
            switch step {
            case "s": given += String(census.wasSlow(100_000, now: now))
            case "h": given += String(census.wasSlow(PollerCensus.slowShareNanoseconds, now: now))
            case "k": given += String(census.willBlock(now: now))
            case "b": given += String(census.hasBacklog(now: now))
            case "e": given += census.betweenEvents(now: now) == .poll ? "P" : "S"
            default: now = now.advanced(byMilliseconds: Int64(String(step))! * 5)
            }
        }
        #expect(given == answers)
        #expect(census.active == active)
        #expect(census.active + census.reserve == threads)
    }

    /// After any sequence exactly `target` threads poll, as long as so many are not long and one more watches; the others stand by.
    @Test(arguments: 1...20)
    func simulation(_ seed: Int) {
        var random = SeededGenerator(state: UInt64(seed))
        let target = Int.random(in: 1...6, using: &random)
        let threads = Int.random(in: 1...(target + 8), using: &random)
        var census = PollerCensus(target: target)
        var polling = 0, standing = 0, long = 0, started = 0

        func arrives(_ role: PollerCensus.Role) { if role == .poll { polling += 1 } else { standing += 1 } }

        for _ in 0..<5_000 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0 where started < threads:
                started += 1
                arrives(census.join())
            case 1 where polling > 0:
                polling -= 1
                long += 1
                if census.willBeLong() {
                    // The woken thread has been counted as polling: it does not join again.
                    #expect(standing > 0)
                    standing -= 1
                    polling += 1
                }
            case 2 where long > 0:
                long -= 1
                arrives(census.join())
            default: continue
            }
            #expect(census.active == polling && census.reserve == standing)
            let available = started - long
            #expect(census.active == min(target, max(available - 1, min(available, 1))))
            #expect(census.active + census.reserve + long == started)
        }
        #expect(started == threads)
    }
}
