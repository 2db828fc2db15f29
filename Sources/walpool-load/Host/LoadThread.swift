import CLinux
import Glibc
import PostgresWire
import Synchronization
import Workload

/// One thread of the generator with its share of the clients: they wait in one epoll, and whatever a client receives is
/// counted and answered by its next request at once.
///
/// Made by the main thread, then used by the one thread that calls `run`, and looked at again when that has ended:
/// `@unchecked Sendable` says so. What others may look at meanwhile is atomic.
final class LoadThread: @unchecked Sendable {
    let server: ServerAddress
    let poller: Int32
    let clients: UnsafeMutableBufferPointer<ClientState>
    private let firstClient: UnsafeMutablePointer<ClientState>
    /// Of each class of the workload: what its clients do, and what they have done.
    let programs: [ClassProgram]
    let tallies: [Tally]
    /// Of a client's transaction, while it has one.
    var failures: [ClientFailure?]
    let retries: Int
    let out = OutputBuffer(initialCapacity: 64 << 10)
    let input: UnsafeMutableRawPointer
    /// Where is received of several at once.
    let slots = UnsafeMutableRawPointer.allocate(byteCount: ClientTransfers.capacity * slotBytes, alignment: 16)
    /// Where a value is written before it is put into a message, and where it is computed.
    let text: UnsafeMutablePointer<UInt8>
    let stack: UnsafeMutablePointer<Value>
    /// Of the clients that one `epoll_wait` tells of: what is received together, and the requests that answer it.
    var ring = walpool_ring()
    var gathered = ClientTransfers()
    var unsentTogether = ClientTransfers()
    /// Requests wait in `out` until all that were received are read.
    var sendsTogether = false
    var timers = TimerQueue()
    /// When the clock was last read: reading it is a part of what a transaction costs here.
    var clock: Int64 = 0
    var start: Int64 = 0
    var until: Int64 = 0
    /// How many clients are not done.
    var active = 0
    /// What broke the run before it began.
    var failure: LoadError?
    /// For the line that tells how far the run is.
    let progress = Atomic<Int>(0)
    var finished = 0
    /// Clients whose connection ended in the middle of the run, and who had no other.
    let lost = Atomic<Int>(0)
    /// Clients to which the server still owed an answer when the run was given up.
    var unanswered = 0
    let stopTime: StopTime
    /// Becomes readable when that is set.
    let wakeDescriptor: Int32

    /// What is read at once: as much as a Unix socket holds by default.
    static let inputBytes = 256 << 10
    /// All connections together.
    static let connectNanoseconds: Int64 = 60_000_000_000
    /// Between two attempts to connect.
    static let reconnectNanoseconds: Int64 = 1_000_000

    /// - Parameter share: which clients of which programs are this thread's.
    init(
        server: ServerAddress, programs: [ClassProgram], share: [(program: Int, number: Int)], settings: RunSettings,
        retries: Int, stopTime: StopTime, wake: Int32
    ) throws(LoadError) {
        self.server = server
        self.programs = programs
        self.retries = retries
        self.stopTime = stopTime
        wakeDescriptor = wake
        poller = walpool_epoll_create()
        guard poller >= 0, walpool_epoll_set(poller, 1, wake, WALPOOL_LEVEL, Self.wakeToken) == 0 else {
            throw .system("epoll")
        }
        let tallies = programs.map { Tally($0.clientClass) }
        self.tallies = tallies
        firstClient = .allocate(capacity: share.count)
        clients = UnsafeMutableBufferPointer(start: firstClient, count: share.count)
        _ = clients.initialize(
            from: share.map { program, number in
                ClientState(
                    program: programs[program], tally: tallies[program], number: number,
                    draws: settings.draws(classIndex: program, client: number))
            })
        failures = Array(repeating: nil, count: share.count)
        input = .allocate(byteCount: Self.inputBytes, alignment: 16)
        text = .allocate(capacity: programs.map(\.plan.mostBytesOfValue).max() ?? 0)
        stack = .allocate(capacity: ClassPlan.stackCapacity)
    }

    /// Called before the start, by the thread that sets it.
    func beginMeasuring(from: Int64, until: Int64) {
        for tally in tallies { tally.begin(from: from, until: until) }
    }

    static let wakeToken = UInt64.max

    func client(_ index: Int) -> UnsafeMutablePointer<ClientState> { firstClient + index }

    // MARK: Its life

    /// Connects all clients, and returns when they are ready.
    func connectAll() throws(LoadError) {
        clock = Clock.now
        let deadline = clock + Self.connectNanoseconds
        for index in clients.indices where !clients[index].connectsEachTime {
            while try !connect(index) { try handleEventsBeforeRun(until: clock + Self.reconnectNanoseconds, deadline) }
        }
        while clients.contains(where: { !$0.connectsEachTime && $0.phase != .waiting }) {
            try handleEventsBeforeRun(until: deadline, deadline)
        }
    }

    private func handleEventsBeforeRun(until end: Int64, _ deadline: Int64) throws(LoadError) {
        handleEvents(until: end)
        if let failure { throw failure }
        guard clock < deadline else { throw LoadError("the server did not accept all connections within a minute") }
    }

    /// Runs from the common start to the end.
    func run(start: Int64, until: Int64) {
        self.start = start
        self.until = until
        Clock.sleep(until: start)
        for index in clients.indices {
            if clients[index].transactions.isEmpty { clients[index].isDone = true } else { active += 1 }
            scheduleNext(index, now: start)
        }
        clock = Clock.now
        while clock < self.until { handleEvents(until: self.until) }
        noteUnfinished()
        drain()
        giveUp()
        for index in clients.indices { disconnect(index) }
    }
}
