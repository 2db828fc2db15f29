import Testing

@testable import Server

@Suite struct NetworkAddressTests {
    @Test(
        arguments: [
            ([2, 32, 0, 4, 10, 0, 0, 1], false, "10.0.0.1"), ([2, 24, 0, 4, 10, 0, 0, 1], false, "10.0.0.1/24"),
            ([2, 32, 1, 4, 10, 0, 0, 1], true, "10.0.0.1/32"), ([2, 0, 1, 4, 0, 0, 0, 0], true, "0.0.0.0/0"),
            ([3, 128, 0, 16] + Array(repeating: 0, count: 15) + [1], false, "::1"),
            ([3, 10, 0, 16, 254, 128] + Array(repeating: 0, count: 14), true, "fe80::/10"),
            // Too short, too long, of a family that is none, with more bits than it has.
            ([], false, nil), ([2, 32, 0, 4, 10, 0, 0], false, nil), ([2, 32, 0, 4, 10, 0, 0, 1, 1], false, nil),
            ([4, 32, 0, 4, 10, 0, 0, 1], false, nil),
            ([2, 33, 0, 4, 10, 0, 0, 1], false, nil), ([2, 32, 0, 16, 10, 0, 0, 1], false, nil), ([3, 32, 0, 4, 10, 0, 0, 1], false, nil),
            ([2, 32, 0], false, nil),
        ] as [([UInt8], Bool, String?)])
    func addresses(bytes: [UInt8], isNetwork: Bool, text: String?) {
        #expect(bytes.withUnsafeBytes { NetworkAddressCodec.text($0, isNetwork: isNetwork) } == text)
    }
}
