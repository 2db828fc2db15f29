import Glibc

@testable import Pool
@testable import Scheduling
@testable import Server

/// Runs one input of the session target and checks what holds for each.
final class SessionRules {
    private let host: FuzzServer
    private var clients: [FuzzClient?] = Array(repeating: nil, count: SessionInput.clients)
    private var bystander: FuzzClient
    private var cancellations: [FuzzClient] = []

    /// A client that waits longer for its answer, with nothing in its way, waits for ever.
    private static let hangMilliseconds: Int64 = 10_000

    static func check(_ input: UnsafeRawBufferPointer) {
        guard !input.isEmpty else { return }
        let input = SessionInput(input)
        FuzzDirectory.reset()
        let rules = SessionRules(FuzzServer(directory: FuzzDirectory.path, choice: input.configuration))
        Watchdog.shared.begin(rules.host.server)
        for step in input.steps { rules.take(step) }
        rules.endSessions()
        Watchdog.shared.end()
        rules.checkWhatIsLeft()
    }

    private init(_ host: FuzzServer) {
        self.host = host
        bystander = Self.bystander(host)
        settle()
        require(bystander.conversation.isStarted, "a session starts")
    }

    private static func bystander(_ host: FuzzServer) -> FuzzClient {
        let client = FuzzClient(path: host.socketPath)
        client.send(Greeting.startup([("user", "bystander"), ("database", "app"), ("statement_timeout", "0")]))
        return client
    }

    private var everybody: [FuzzClient] { clients.compactMap { $0 } + cancellations + [bystander] }

    // MARK: Steps

    private func take(_ step: SessionInput.Step) {
        switch step.action {
        case .send:
            client(step.client).send(step.bytes)
            settle()
        case .post: client(step.client).send(step.bytes)
        case .hangUp:
            clients[step.client] = nil
            settle()
        case .reading: changeReading(step)
        case .cancel: cancel(step)
        case .wait:
            var milliseconds: Int64 = 10
            for _ in 0..<step.choice { milliseconds *= 10 }
            for client in everybody where !client.isReading || !client.conversation.isStarted {
                client.conversation.mayBeCutOff = true
            }
            host.timePasses(milliseconds: milliseconds)
            settle()
        case .connect:
            guard clients[step.client]?.isConnected != true else { return }
            connect(step.client, step.choice)
            settle()
        case .oneEvent:
            _ = host.handleEvent()
        }
    }

    private func client(_ number: Int) -> FuzzClient {
        if let client = clients[number], client.isConnected { return client }
        return connect(number, 0)
    }

    @discardableResult
    private func connect(_ number: Int, _ choice: UInt8) -> FuzzClient {
        let client = FuzzClient(path: host.socketPath)
        require(client.isConnected || host.isDraining, "the server listens")
        clients[number] = client
        client.send(Greeting.bytes(choice))
        return client
    }

    private func changeReading(_ step: SessionInput.Step) {
        guard let client = clients[step.client] else { return }
        switch step.choice {
        case 0: client.isReading = false
        case 2: client.shutDown()
        default: client.isReading = true
        }
        settle()
    }

    private func cancel(_ step: SessionInput.Step) {
        guard let target = clients[step.client]?.conversation, !target.key.isEmpty, cancellations.count < 8 else { return }
        var key = target.key
        if step.choice & 1 != 0 { key[0] ^= 1 }
        let request = FuzzClient(path: host.socketPath)
        request.send(Greeting.cancel(processID: target.processID, key: key))
        cancellations.append(request)
        settle()
        cancellations.removeAll { !$0.isConnected }
    }

    // MARK: Until nothing more happens

    /// The server handles all there is to handle; then everybody has been answered, or waits for a reason.
    ///
    /// - Parameter sessions: so many are left then, if it is known. Only KILL makes a bystander's one of those that go.
    private func settle(sessions: Int? = nil) {
        let hang = MonotonicClock.now.advanced(byMilliseconds: Self.hangMilliseconds)
        repeat {
            handleEverything()
            // Those who wait for the end of a pause do not hear that their client has gone.
            if sessions != nil { host.endPause() }
            let isAnswered = everybody.allSatisfy { $0.isContent() || host.isQueued($0.conversation.processID) }
            let left = bystander.isConnected ? sessions : 0
            if isAnswered, sessions == nil || left == host.server.table.count { return }
            waitForAnything()
        } while MonotonicClock.now < hang
        let unanswered = everybody.filter { !$0.isContent() }.map(\.conversation.description)
        require(false, "everybody is answered, sessions \(host.server.table.count): \(unanswered)")
    }

    private func handleEverything() {
        while true {
            let handled = host.handleEvent()
            var received = false
            for client in everybody where client.pull() { received = true }
            if !handled && !received { return }
        }
    }

    /// A command of the console runs on a thread of its own; nothing else can come from elsewhere.
    private func waitForAnything() {
        var waiting = everybody.map { pollfd(fd: $0.pollDescriptor, events: Int16(POLLIN), revents: 0) }
        waiting.append(pollfd(fd: host.server.poller.descriptor, events: Int16(POLLIN), revents: 0))
        _ = poll(&waiting, nfds_t(waiting.count), 2)
    }

    // MARK: The end

    private func endSessions() {
        for client in everybody { client.isReading = true }
        settle()
        for number in clients.indices {
            clients[number] = nil
            settle()
        }
        cancellations = []
        settle(sessions: 1)
        replaceKilledBystander()
    }

    private func replaceKilledBystander() {
        guard !bystander.isConnected else { return }
        require(bystander.conversation.errors == ["57P01"], "nobody else's session ends, but by KILL")
        guard !host.isDraining else { return }
        bystander = Self.bystander(host)
        settle(sessions: 1)
    }

    private func checkWhatIsLeft() {
        host.checkNothingIsHeld()
        if bystander.isConnected { checkBystander() }
        bystander.hangUp()
        settle(sessions: 0)
        host.checkNothingIsHeld()
        host.stop()
    }

    /// Whoever did nothing of all that can read and write as before.
    private func checkBystander() {
        let name = "\"of the bystander 5d41402abc4b2a76\""
        for (sql, tag) in [
            ("CREATE TABLE \(name)(x)", "CREATE TABLE"), ("INSERT INTO \(name) VALUES (1)", "INSERT 0 1"),
            ("SELECT x FROM \(name)", "SELECT 1"), ("DROP TABLE \(name)", "DROP TABLE"),
        ] {
            var query = FrontendWriter()
            query.byte(UInt8(ascii: "Q"))
            query.int32(sql.utf8.count + 5)
            bystander.send(query.bytes + Array(sql.utf8) + [0])
            settle()
            require(
                bystander.conversation.tags.last == tag && bystander.conversation.errors.isEmpty,
                "a bystander can go on: \(sql) \(bystander.conversation.description)")
        }
    }
}
