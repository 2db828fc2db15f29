import Testing

@testable import Scheduling

@Suite struct ProgressCheckTests {
    typealias Activity = ProgressCheck.Activity

    /// One look each 500 ms, with a limit of 1000 ms. `writer` a letter for each look:
    ///
    /// - `-` nobody has the writer; `g` it was granted and nobody has begun; `G` the same, granted anew
    /// - `w` the same thread is at it and has not run since the last look; `r` it has run; `n` it is another's turn
    ///
    /// Expected: `.` progress, `X` stuck.
    @Test(arguments: [
        ("------", "......"),
        // Granted, and nobody ever begins.
        ("gggggg", "..XXXX"),
        // Handed from one to the next without anybody getting anywhere is still handing on.
        ("gGgGgG", "......"),
        // A thread that hangs.
        ("wwwwww", "..XXXX"),
        // A statement of an hour: its thread runs.
        ("wrrrrr", "......"),
        ("wrrwww", "....XX"),
        // Late progress counts.
        ("wwwrww", "..X..X"),
        ("www-ww", "..X..."),
        // Another's turn, without the processor time having moved: threads are not told apart by it.
        ("nnnnnn", "......"),
        ("gwwwww", "...XXX"),
        ("w-w-w-", "......"),
    ])
    func writer(_ looks: String, _ expected: String) {
        #expect(findings(looks) { .init(writer: $0) } == expected)
    }

    /// With synchronous = pipelined a sync that hangs holds nobody up on the writer.
    @Test(arguments: [("wwww", "..XX"), ("wrrr", "...."), ("nnnn", "...."), ("----", "....")])
    func sync(_ looks: String, _ expected: String) {
        #expect(findings(looks) { .init(sync: $0) } == expected)
    }

    /// A checkpoint or VACUUM may be silent for four times as long, but not for ever.
    @Test(arguments: [("wwwwwwwwwww", "........XXX"), ("wrwwwwwwwww", ".........XX"), ("rrrrrrrrrrr", "...........")])
    func jobs(_ looks: String, _ expected: String) {
        #expect(findings(looks) { .init(writer: $0, isJob: true) } == expected)
    }

    @Test func saysWhatIsStuckAndForHowLong() {
        var check = ProgressCheck(silenceMilliseconds: 1000)
        let hangs = ProgressCheck.Activities(
            writer: .resting, sync: .working(change: 7, processorNanoseconds: 1))
        #expect(check.look(hangs, at: after(5000)) == .progress)
        #expect(check.look(hangs, at: after(5999)) == .progress)
        #expect(check.look(hangs, at: after(6000)) == .stuck(.sync, forMilliseconds: 1000))
        let both = ProgressCheck.Activities(writer: .granted(change: 1), sync: hangs.sync)
        #expect(check.look(both, at: after(6500)) == .stuck(.sync, forMilliseconds: 1500))
        #expect(check.look(both, at: after(7500)) == .stuck(.writer, forMilliseconds: 1000))
    }

    /// The process was stopped (a debugger, SIGSTOP, a virtual machine that was put aside), and everybody in it.
    @Test func aLateLookBlamesNobody() {
        var check = ProgressCheck(silenceMilliseconds: 1000)
        let atWork = ProgressCheck.Activities(writer: .working(change: 1, processorNanoseconds: 5))
        #expect(check.look(atWork, at: after(500)) == .progress)
        #expect(check.look(atWork, at: after(3_600_000)) == .progress)
        #expect(check.look(atWork, at: after(3_600_900)) == .progress)
        #expect(check.look(atWork, at: after(3_601_000)) == .stuck(.writer, forMilliseconds: 1000))
    }

    private func after(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: 0).advanced(byMilliseconds: milliseconds) }

    private func findings(_ looks: String, _ activities: (Activity) -> ProgressCheck.Activities) -> String {
        var check = ProgressCheck(silenceMilliseconds: 1000)
        var result = ""
        var change = 1
        var processor: Int64 = 10
        for (index, look) in looks.enumerated() {
            switch look {
            case "G", "n": change += 1
            case "r": processor += 1
            default: break
            }
            let activity: Activity =
                switch look {
                case "-": .resting
                case "g", "G": .granted(change: change)
                default: .working(change: change, processorNanoseconds: processor)
                }
            let finding = check.look(activities(activity), at: after(Int64(index + 1) * 500))
            result += finding == .progress ? "." : "X"
        }
        return result
    }
}
