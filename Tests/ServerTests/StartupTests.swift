import Glibc
import Testing

@testable import Server

@Suite struct StartupTests {
    @Test func whatIsTold() throws {
        let test = try TestServer()
        let client = try RawClient(test.configuration.socketPath)
        let reply = try client.startUp([("user", "tester"), ("database", "app"), ("application_name", "me")])
        #expect(reply.status == "I" && reply.errors.isEmpty)
        #expect(client.status["server_encoding"] == "UTF8" && client.status["application_name"] == "me")
        #expect(client.processID > 0 && client.key.count == 4)
        let newer = try RawClient(test.configuration.socketPath)
        try newer.startUp([("user", "tester"), ("database", "app")], version: 196610)
        #expect(newer.key.count == 32)
    }

    @Test(arguments: [
        ([("user", "u"), ("database", "other")], "3D000"),
        ([("user", "u")], "3D000"),
        ([("database", "app")], "28000"),
        ([("user", "u"), ("database", "app"), ("replication", "true")], "0A000"),
        ([("user", "u"), ("database", "app"), ("statement_timeout", "soon")], "22023"),
    ])
    func whoIsRefused(_ parameters: [(String, String)], _ state: String) throws {
        let test = try TestServer()
        let client = try RawClient(test.configuration.socketPath)
        let reply = try client.startUp(parameters)
        #expect(reply.errors == [state] && reply.severities == ["FATAL"] && reply.status == nil)
    }

    @Test func encryptionIsDeclinedOnce() throws {
        let test = try TestServer()
        let client = try RawClient(test.configuration.socketPath)
        let sslRequest = RawClient.int32(8) + RawClient.int32(80_877_103)
        client.send(sslRequest)
        #expect(try client.byte() == UInt8(ascii: "N"))
        client.send(RawClient.int32(8) + RawClient.int32(80_877_104))
        #expect(try client.byte() == UInt8(ascii: "N"))
        client.send(sslRequest)
        #expect(try client.reply().errors == ["08P01"])
    }

    @Test func tooManyClients() throws {
        let test = try TestServer { $0.maximumSessions = 2 }
        let clients = try (0..<2).map { _ in try test.connect() }
        let third = try RawClient(test.configuration.socketPath)
        #expect(try third.startUp([("user", "u"), ("database", "app")]).errors == ["53300"])
        #expect(try clients[1].query("SELECT 1").picture == "1 SELECT 1 I")
        clients[0].close()
        try test.until { test.server.table.count == 1 }
        #expect(try test.connect().query("SELECT 1").picture == "1 SELECT 1 I")
    }

    /// A packet that comes byte by byte is one packet.
    @Test func byteByByte() throws {
        let test = try TestServer()
        let client = try RawClient(test.configuration.socketPath)
        for byte in RawClient.startupPacket([("user", "u"), ("database", "app")]) { client.send([byte]) }
        #expect(try client.reply().status == "I")
        for byte in RawClient.message("Q", RawClient.string("SELECT 1, 'a'")) { client.send([byte]) }
        #expect(try client.reply().picture == "1|a SELECT 1 I")
    }

    @Test func silence() throws {
        let test = try TestServer { $0.startupTimeoutMilliseconds = 50 }
        let client = try RawClient(test.configuration.socketPath)
        #expect(try client.isClosedByServer())
    }

    /// B3: a byte, or a question about encryption, must not end the limit.
    @Test(arguments: [[0], RawClient.int32(8) + RawClient.int32(80_877_103)] as [[UInt8]])
    func halfAStartupPacket(_ bytes: [UInt8]) throws {
        let test = try TestServer { $0.startupTimeoutMilliseconds = 50 }
        let client = try RawClient(test.configuration.socketPath)
        client.send(bytes)
        if bytes.count > 1 { #expect(try client.byte() == UInt8(ascii: "N")) }
        #expect(try client.isClosedByServer())
    }

    /// B6: a cancel may name a session that is still starting (process IDs are no secret): for the thread sanitizer.
    @Test func aCancelForASessionThatIsStarting() throws {
        let test = try TestServer()
        let first = try test.connect()
        for n in 1...50 {
            let starting = try RawClient(test.configuration.socketPath)
            let cancel = try RawClient(test.configuration.socketPath)
            // Its number is the next; a wrong key of the right length.
            let guess = first.processID + Int32(2 * n - 1)
            cancel.send(RawClient.int32(16) + RawClient.int32(80_877_102) + RawClient.int32(guess) + [1, 2, 3, 4])
            try starting.startUp([("user", "u"), ("database", "app")])
            #expect(starting.processID == guess)
            #expect(try cancel.isClosedByServer())
            #expect(try starting.query("SELECT 1").picture == "1 SELECT 1 I")
        }
    }
}
