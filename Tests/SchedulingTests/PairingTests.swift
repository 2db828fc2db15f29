import Testing

@testable import Scheduling

@Suite struct PairingTests {
    /// A letter: an event of that client, 10 µs after the one before. A digit: so many milliseconds pass besides.
    /// The answer is at which events, counted from 1, two clients were found.
    @Test(arguments: [
        (String(repeating: "ab", count: 31), []),
        // The first of all tells of nobody before it.
        ("a" + String(repeating: "ba", count: 32), [65]),
        (String(repeating: "ab", count: 97), [65, 129, 193]),
        // One that has most of the events, or all.
        (String(repeating: "a", count: 200), []),
        (String(repeating: "aaab", count: 50), []),
        (String(repeating: "aab", count: 32), []),
        (String(repeating: "aabab", count: 20), [66]),
        // A third begins it anew, and what comes behind it may be two.
        (String(repeating: "ab", count: 30) + "c" + String(repeating: "ab", count: 30), []),
        (String(repeating: "abc", count: 100), []),
        (String(repeating: "ab", count: 20) + String(repeating: "ca", count: 33), [105]),
        // With pauses a processor is free.
        (String(repeating: "ab", count: 20) + "2" + String(repeating: "ab", count: 20), [65]),
        (String(repeating: "ab", count: 20) + "3" + String(repeating: "ab", count: 20), []),
    ] as [(String, [Int])])
    func found(_ steps: String, _ answers: [Int]) {
        var pairing = Pairing()
        var now = Instant(nanoseconds: 1_000_000_000)
        var given: [Int] = []
        var events = 0
        for step in steps {
            if let milliseconds = step.wholeNumberValue {
                now = now.advanced(byMilliseconds: Int64(milliseconds))
                continue
            }
            events += 1
            now = Instant(nanoseconds: now.nanoseconds + 10_000)
            if pairing.came(UInt64(step.asciiValue!), now: now) { given.append(events) }
        }
        #expect(given == answers)
    }
}
