import Scheduling
import Testing

@testable import Server

@Suite struct NextLookTests {
    private func at(_ nanoseconds: Int64) -> Instant { Instant(nanoseconds: nanoseconds) }

    @Test func oneOfThoseThatAskLooks() {
        let look = NextLook()
        let atFirst = look.instant
        // When nobody wants a look none is due; and only who wants it sooner has news.
        let wanted = [
            look.takeIfDue(at(1)), look.bringForward(to: at(20)), look.bringForward(to: at(10)), look.bringForward(to: at(10)),
            look.bringForward(to: at(15)),
        ]
        #expect(wanted == [false, true, true, false, false])
        let (soonest, taken) = (look.instant, [look.takeIfDue(at(9)), look.takeIfDue(at(10)), look.takeIfDue(at(11))])
        #expect(taken == [false, true, false])
        let afterwards = look.instant
        #expect([atFirst, soonest, afterwards] == [.distantFuture, at(10), .distantFuture])
    }
}
