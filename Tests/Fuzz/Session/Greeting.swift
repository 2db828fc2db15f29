/// How a client of the session target introduces itself.
enum Greeting {
    /// By the choice of its step: most are what a driver sends.
    static func bytes(_ choice: UInt8) -> [UInt8] {
        switch choice {
        case 1: []
        case 2: startup([("user", "tester"), ("database", "walpool")])
        case 3: request(80_877_103) + startup(ordinary)
        case 4: startup(ordinary + [("application_name", "fuzz"), ("_pq_.thing", "1")], version: 0x0003_0002)
        case 5: startup(ordinary + [("options", "-c result_typing=text -c lock_timeout=1s")])
        default: startup(ordinary)
        }
    }

    private static let ordinary = [("user", "tester"), ("database", "app")]

    private static func request(_ code: Int) -> [UInt8] {
        var packet = FrontendWriter()
        packet.int32(8)
        packet.int32(code)
        return packet.bytes
    }

    static func startup(_ parameters: [(String, String)], version: Int = 0x0003_0000) -> [UInt8] {
        var body = FrontendWriter()
        body.int32(version)
        for (name, value) in parameters { body.bytes += Array(name.utf8) + [0] + Array(value.utf8) + [0] }
        body.byte(0)
        var packet = FrontendWriter()
        packet.int32(body.bytes.count + 4)
        return packet.bytes + body.bytes
    }

    static func cancel(processID: Int32, key: [UInt8]) -> [UInt8] {
        var packet = FrontendWriter()
        packet.int32(12 + key.count)
        packet.int32(80_877_102)
        packet.int32(Int(processID))
        return packet.bytes + key
    }
}
