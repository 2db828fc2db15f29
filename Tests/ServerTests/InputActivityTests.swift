import Testing

@testable import Server

/// What ends a client's idleness, and what does not.
@Suite struct InputActivityTests {
    private static let query = RawClient.message("Q", RawClient.string("SELECT 1"))
    private static let flush = RawClient.message("H", [])
    private static let sync = RawClient.message("S", [])
    private static let row = RawClient.message("d", Array("1\n".utf8))
    private static let emptyRow = RawClient.message("d", [])

    @Test(arguments: [
        (query, false, true), (Array(query.dropLast()), false, false), (Array(query.prefix(1)), false, false),
        (flush, false, false), (flush + flush, false, false), (flush + query, false, true),
        (flush + query.dropLast(), false, false), (sync, false, true), (sync, true, false), (row, true, true),
        (emptyRow, true, false), (Array(row.dropLast()), true, false), (emptyRow + flush + sync + row, true, true),
        (RawClient.message("c", []), true, true), (Array("nonsense".utf8), false, true), ([], false, false),
    ])
    func messages(_ input: [UInt8], _ isCopying: Bool, _ isShown: Bool) {
        var activity = InputActivity()
        // Behind one that is handled already.
        (Self.query + input).withUnsafeBytes {
            let result = activity.isShown(by: $0, from: Self.query.count, received: input.count, isCopying: isCopying)
            #expect(result == isShown)
        }
    }

    @Test("A large message that arrives is activity with each piece of that size, and a trickle only when it comes to as much")
    func pieces() {
        let begun = Array(RawClient.message("Q", RawClient.string(String(repeating: "x", count: 100_000))).prefix(1000))
        var activity = InputActivity()
        func isShown(by received: Int) -> Bool {
            begun.withUnsafeBytes { activity.isShown(by: $0, from: 0, received: received, isCopying: false) }
        }
        #expect(isShown(by: SessionLimits.activeBytes))
        #expect(!isShown(by: SessionLimits.activeBytes - 1))
        #expect(isShown(by: 1))
        #expect(!isShown(by: 1))
    }
}
