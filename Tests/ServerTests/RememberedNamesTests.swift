import Scheduling
import Testing

@testable import Server

/// The system is asked once a minute for each name, by one session.
@Suite struct RememberedNamesTests {
    private let names = RememberedNames()

    private func name(_ number: UInt32, atSecond second: Int64, _ answer: String?) -> (name: String?, wasAsked: Bool) {
        var wasAsked = false
        let name = names.name(of: number, now: Instant(nanoseconds: second * 1_000_000_000)) { asked in
            #expect(asked == number)
            wasAsked = true
            return answer
        }
        return (name, wasAsked)
    }

    @Test func onceAMinute() {
        #expect(name(1, atSecond: 10, "ada") == ("ada", true))
        #expect(name(1, atSecond: 69, "other") == ("ada", false))
        #expect(name(2, atSecond: 69, "bob") == ("bob", true))
        #expect(name(1, atSecond: 70, "eve") == ("eve", true))
        #expect(name(1, atSecond: 71, nil) == ("eve", false))
    }

    ///     one                    another
    ///     asks again, a minute later
    ///                            gets the name of before
    ///     has the new one
    ///                            gets that
    @Test func whileOneAsksAgain() {
        #expect(name(1, atSecond: 0, "ada") == ("ada", true))
        let asked = names.name(of: 1, now: Instant(nanoseconds: 60_000_000_000)) { _ in
            #expect(name(1, atSecond: 61, "other") == ("ada", false))
            return "eve"
        }
        #expect(asked == "eve")
        #expect(name(1, atSecond: 62, "other") == ("eve", false))
    }

    /// The directory is down: who was known stays so.
    @Test func whatCannotBeLookedUp() {
        func failing(atSecond second: Int64) -> String? {
            names.name(of: 1, now: Instant(nanoseconds: second * 1_000_000_000)) { (_) throws(AccountNames.LookUpError) in
                throw AccountNames.LookUpError(message: "down")
            }
        }
        #expect(failing(atSecond: 0) == nil)
        #expect(name(1, atSecond: 1, "ada") == ("ada", true))
        #expect(failing(atSecond: 61) == "ada")
        #expect(name(1, atSecond: 62, "eve") == ("ada", false))
        #expect(name(1, atSecond: 121, "eve") == ("eve", true))
    }

    @Test func whatDoesNotExistIsAskedForEachTime() {
        #expect(name(1, atSecond: 0, nil) == (nil, true))
        #expect(name(1, atSecond: 1, "ada") == ("ada", true))
        // It is gone.
        #expect(name(1, atSecond: 61, nil) == (nil, true))
        #expect(name(1, atSecond: 62, nil) == (nil, true))
    }

    @Test func howMany() {
        for number in 0..<UInt32(ServerLimits.rememberedNames) { #expect(name(number, atSecond: 0, "x").wasAsked) }
        #expect(!name(0, atSecond: 1, "x").wasAsked)
        #expect(name(UInt32.max, atSecond: 1, "x").wasAsked)
        #expect(name(0, atSecond: 1, "x").wasAsked)
    }

    @Test func aReloadForgets() {
        #expect(name(1, atSecond: 0, "ada") == ("ada", true))
        names.forget()
        #expect(name(1, atSecond: 1, "eve") == ("eve", true))
    }
}
