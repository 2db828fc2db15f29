import Testing

@testable import Scheduling

/// Local seconds of a moment in the week that began on Sunday, the 4th of January 1970: day 0 is that Sunday.
private func at(_ day: Int64, _ hour: Int64, _ minute: Int64 = 0, _ second: Int64 = 0) -> Int64 {
    ((day + 3) * 24 + hour) * 3600 + minute * 60 + second
}

@Suite struct MaintenanceWindowTests {
    /// From which moment on it is open, and at which it is not any more.
    @Test(
        arguments: [
            ("daily 02:00-04:00", at(0, 2), at(0, 4)),
            ("02:00-04:00", at(3, 2), at(3, 4)),
            ("Sun 03:00-05:00", at(0, 3), at(0, 5)),
            ("sat 23:00-01:30", at(6, 23), at(7, 1, 30)),
            ("Mon,Wed,Fri 00:00-00:01", at(3, 0), at(3, 0, 1)),
            ("Sat 22:00-24:00", at(6, 22), at(7, 0)),
            ("tue 00:00-24:00", at(2, 0), at(3, 0)),
            ("daily 23:59-00:00", at(1, 23, 59), at(2, 0)),
        ] as [(String, Int64, Int64)])
    func edges(_ text: String, _ opens: Int64, _ closes: Int64) throws {
        let window = try #require(MaintenanceWindow(text))
        #expect(!window.contains(localSeconds: opens - 1))
        #expect(window.contains(localSeconds: opens))
        #expect(window.contains(localSeconds: closes - 1))
        #expect(!window.contains(localSeconds: closes))
        // The same a week, and many years, before and after.
        for weeks in [-3000, -1, 1, 3000] as [Int64] {
            #expect(window.contains(localSeconds: opens + weeks * 604_800))
            #expect(!window.contains(localSeconds: closes + weeks * 604_800))
        }
        #expect(window.nextOpening(localSeconds: opens - 1) == opens)
        #expect(window.nextOpening(localSeconds: opens) == opens)
        #expect(window.nextOpening(localSeconds: closes - 1) == closes - 1)
        #expect(window.nextOpening(localSeconds: closes) > closes)
        #expect(window.nextOpening(localSeconds: closes) <= opens + 604_800)
    }

    @Test func otherDaysAreNotTheWindow() throws {
        let window = try #require(MaintenanceWindow("Sun 23:00-01:00"))
        #expect((0..<7).filter { window.contains(localSeconds: at($0, 23, 30)) } == [0])
        #expect((0..<7).filter { window.contains(localSeconds: at($0, 0, 30)) } == [1])
        #expect(window.nextOpening(localSeconds: at(1, 1)) == at(7, 23))
    }

    @Test func any() throws {
        let window = try #require(MaintenanceWindow("any"))
        #expect(window == .any)
        #expect(window.contains(localSeconds: at(4, 17, 3)) && window.contains(localSeconds: -1))
        #expect(window.nextOpening(localSeconds: 12345) == 12345)
    }

    @Test(arguments: [
        "", " ", "never", "daily", "Sun", "03:00", "Sun 03:00", "Sun 03:00-", "Sun 03:00-03:00", "Sun 24:00-03:00", "Sun 3:00-05:00",
        "Sun 03:60-05:00", "Sun 03:00-25:00", "Sun 03:00-24:01", "Son 03:00-05:00", "Sun, 03:00-05:00", "Sun,,Mon 03:00-05:00",
        "Sun Mon 03:00-05:00", "Sun 03:00 - 05:00", "Sun 03:00-05:00-07:00", "Sun +3:00-05:00", "Sun 03:00:00-05:00:00",
        "any 03:00-05:00", "Sun 03.00-05.00",
    ])
    func refused(_ text: String) { #expect(MaintenanceWindow(text) == nil) }

    @Test(
        "A window is shown in the form in which it is read",
        arguments: [
            ("any", "any"), ("daily 02:00-04:00", "daily 02:00-04:00"), ("sat,SUN 23:00-01:00", "Sun,Sat 23:00-01:00"),
            ("Mon 00:00-24:00", "Mon 00:00-24:00"), ("03:30-24:00", "daily 03:30-24:00"), ("daily 00:00-24:00", "any"),
            ("tue 22:05-00:00", "Tue 22:05-24:00"),
        ])
    func shown(text: String, expected: String) throws {
        let window = try #require(MaintenanceWindow(text))
        #expect("\(window)" == expected)
        #expect(MaintenanceWindow(expected) == window)
    }
}
