import Glibc
import Workload

/// One client of a thread: a connection, and where its transaction is.
///
/// A plain struct in memory of the thread's own, reached by a pointer: nothing in it counts references, because its loop is
/// what the server competes with for the processor.
struct ClientState {
    enum Phase: UInt8 {
        /// There is no connection; for a client that connects each time, between two transactions.
        case unconnected
        /// The server's queue of connections was full: tries again, in a transaction.
        case retrying
        /// The startup message is sent.
        case connecting
        /// The statements to be prepared are sent.
        case preparing
        /// Waits for its next start, or for the end.
        case waiting
        /// A round is sent.
        case running
        /// Waits before it sends the next round.
        case holding
        /// ROLLBACK is sent.
        case rollingBack
    }

    var phase = Phase.unconnected
    var descriptor: Int32 = -1
    /// What the client does, and where it is counted. The thread's arrays own both.
    let program: Unmanaged<ClassProgram>
    let tally: Unmanaged<Tally>
    /// Within its class, from 0.
    let number: Int
    let connectsEachTime: Bool
    let readBytesPerSecond: Int
    let transactions: UnsafeBufferPointer<TransactionProgram>
    let schedule: Schedule
    var draws: Draws
    /// What they were when the transaction began, for one that begins again.
    var drawsAtStart: Draws
    let values: UnsafeMutablePointer<Value>

    var transaction = 0
    var round = 0
    /// When it was meant to begin.
    var began: Int64 = 0
    var lastEnd: Int64 = 0
    var started = 0
    var statements = 0
    /// Statements of the round that the server says it has done.
    var completed = 0
    var rows = 0
    var attempt = 0
    var holdUntil: Int64 = 0
    /// It is in the thread's `failures`.
    var hasFailed = false
    /// Neither a transaction is running nor will another be.
    var isDone = false

    /// Bytes of a row that is not looked at and has not arrived in full.
    var skip = 0
    /// The start of a message that has not arrived in full.
    var carry = ByteStore()
    /// Its request is among those that are sent together.
    var isSentTogether = false
    /// What the socket did not take yet.
    var unsent = ByteStore()

    init(program: ClassProgram, tally: Tally, number: Int, draws: Draws) {
        let clientClass = program.clientClass
        self.program = .passUnretained(program)
        self.tally = .passUnretained(tally)
        self.number = number
        connectsEachTime = clientClass.connectsEachTime
        readBytesPerSecond = clientClass.readBytesPerSecond
        transactions = program.transactions
        schedule = Schedule(clientClass, client: number)
        self.draws = draws
        drawsAtStart = draws
        // To the end of the process, like the client.
        values = .allocate(capacity: program.plan.valueCapacity)
        values.initialize(repeating: Value(integer: 0), count: program.plan.valueCapacity)
    }
}

/// Why a transaction has not succeeded.
struct ClientFailure {
    /// A SQLSTATE.
    let state: String
    let message: String
}

/// Bytes kept for later, which most clients never need.
struct ByteStore {
    private(set) var bytes = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private(set) var count = 0

    var stored: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<count]) }

    mutating func set(_ source: UnsafeRawBufferPointer) {
        if bytes.count < source.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 1)
            larger.copyMemory(from: source)
            bytes.deallocate()
            bytes = larger
        } else if let base = source.baseAddress, let place = bytes.baseAddress {
            // The source may be a part of what is stored.
            memmove(place, base, source.count)
        }
        count = source.count
    }

    mutating func clear() { count = 0 }
}
