import Testing

@testable import Scheduling

@Suite struct BatchHoldTests {
    /// n: other events are kept. e: the thread comes to one of them. A number: so many microseconds pass.
    /// The answer is whether what is left after that is to be given to others.
    @Test(arguments: [
        ("", false),
        ("n 1000", false),
        ("n e", false),
        ("n e 50", false),
        ("n e 51", true),
        // The time until the thread came to the first does not count, and the second does not begin it anew.
        ("n 1000 e 40", false),
        ("n e 30 e 20", false),
        ("n e 30 e 21", true),
        // Other events have a time of their own.
        ("n e 51 n", false),
        ("n e 51 n e 50", false),
        ("n e 51 n e 51", true),
    ])
    func isOver(_ steps: String, _ answer: Bool) {
        var hold = BatchHold()
        var now = Instant(nanoseconds: 1_000_000_000)
        for step in steps.split(separator: " ") {
            switch step {
            case "n": hold.restart()
            case "e": hold.comesToEvent(now: now)
            default: now = now.advanced(byNanoseconds: Int64(step)! * 1_000)
            }
        }
        #expect(hold.isOver(now: now) == answer)
    }
}
