import Testing

@testable import Scheduling

@Suite struct BacklogTests {
    /// f: a thread got all the events it takes. l: one less. Upper case: while two share them. A digit: so many times 5 ms pass.
    /// The answer is at which of these others were to know, counted from 1.
    @Test(
        arguments: [
            (String(repeating: "f", count: 15), []),
            (String(repeating: "f", count: 16), [16]),
            (String(repeating: "f", count: 33), [16, 32]),
            // One behind the other, however long that takes.
            (String(repeating: "f", count: 10) + "l" + String(repeating: "f", count: 15), []),
            (String(repeating: "f9", count: 16), [31]),
            // While two share them, as many in a window are enough.
            (String(repeating: "FLL", count: 15), []),
            (String(repeating: "FLL", count: 16), [46]),
            (String(repeating: "FL", count: 8) + "5" + String(repeating: "FL", count: 8), []),
            (String(repeating: "FL", count: 8) + "4" + String(repeating: "FL", count: 8), [32]),
        ] as [(String, [Int])])
    func told(_ steps: String, _ answers: [Int]) {
        var backlog = Backlog()
        var now = Instant(nanoseconds: 1_000_000_000)
        var given: [Int] = []
        for (index, step) in steps.enumerated() {
            if let number = Int64(String(step)) {
                now = now.advanced(byMilliseconds: number * 5)
                continue
            }
            let events = step.lowercased() == "f" ? 8 : 7
            if backlog.took(events, of: 8, isShared: step.isUppercase, now: now) { given.append(index + 1) }
        }
        #expect(given == answers)
    }
}
