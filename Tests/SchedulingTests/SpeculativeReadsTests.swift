import Testing

@testable import Scheduling

@Suite struct SpeculativeReadsTests {
    /// Commits, and whether the client's next request was there behind each answer that was followed by a look: a space is a commit that
    /// is answered without one.
    @Test(arguments: [
        ("yyyy", "yyyy"),
        // Twice as many are passed over each time.
        ("nnn", "n n  n"),
        // What was found once ends that.
        ("nnyn", "n n  yn"),
    ])
    func looks(_ outcomes: String, _ picture: String) {
        var reads = SpeculativeReads()
        var drawn = ""
        for outcome in outcomes {
            while !reads.begin() { drawn += " " }
            drawn.append(outcome)
            reads.ended(inVain: outcome == "n")
        }
        #expect(drawn == picture)
    }

    /// A client that thinks between its commits costs next to nothing.
    @Test func aSlowClient() {
        var reads = SpeculativeReads()
        var looks = 0
        for _ in 1...1_000 where reads.begin() {
            looks += 1
            reads.ended(inVain: true)
        }
        // Behind 1, 2, 4 … 32 that were passed over, and then behind 64 each time.
        #expect(looks == 7 + (1_000 - 7 - 63) / (Backoff.most + 1))
    }
}
