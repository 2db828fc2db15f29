import PostgresWire
import Workload

/// A piece of what is sent for a round: bytes that are always the same, or what differs.
///
/// The bytes and the pieces stand in memory that is never given back: there are a few for each statement of a workload, and
/// they are used to the end of the process. Nobody writes to them after they are made.
enum RequestPiece {
    case bytes(UnsafeRawBufferPointer)
    /// The type byte and room for the length.
    case open(UInt8)
    /// Writes the length of what was opened.
    case close
    /// A parameter of Bind: its length and its text.
    case parameter(Program)
    /// A literal in the text of a query.
    case literal(Program)
}

/// What is sent at once, up to a Sync or a Query, and answered by one ReadyForQuery.
struct Round {
    let pieces: UnsafeBufferPointer<RequestPiece>
    let statements: Int
    /// How long the client waits before it.
    let holdNanoseconds: Int64
}

/// Collects pieces; adjoining bytes become one.
struct RequestTemplate {
    private var pieces: [RequestPiece] = []
    private let constant = OutputBuffer()

    /// Messages that are always the same.
    mutating func add(_ encode: (OutputBuffer) -> Void) { encode(constant) }

    mutating func add(_ piece: RequestPiece) {
        flush()
        pieces.append(piece)
    }

    mutating func addBytes(_ text: String) { constant.append(text) }

    private mutating func flush() {
        guard constant.count > 0 else { return }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: constant.count, alignment: 1)
        copy.copyMemory(from: constant.readable)
        constant.consume(constant.count)
        pieces.append(.bytes(UnsafeRawBufferPointer(copy)))
    }

    mutating func finish(statements: Int, holdNanoseconds: Int64) -> Round {
        flush()
        let copy = UnsafeMutableBufferPointer<RequestPiece>.allocate(capacity: pieces.count)
        _ = copy.initialize(from: pieces)
        return Round(pieces: UnsafeBufferPointer(copy), statements: statements, holdNanoseconds: holdNanoseconds)
    }
}

extension RequestTemplate {
    /// Parse, Bind, Execute of one statement.
    ///
    /// - Parameter name: of the prepared statement; nil to parse it each time.
    mutating func addExtended(_ sql: String, name: String?, parameters: [Program]) {
        if name == nil { add { $0.parse(name: "", sql: sql) } }
        add(.open(UInt8(ascii: "B")))
        add { out in
            out.appendCString("")
            out.appendCString(name ?? "")
            // No formats: all parameters are text.
            out.append16(0)
            out.append16(Int16(truncatingIfNeeded: parameters.count))
        }
        for program in parameters { add(.parameter(program)) }
        // No formats: all columns are text.
        add { $0.append16(0) }
        add(.close)
        add { $0.execute() }
    }

    /// The text of one statement with its values in place.
    mutating func addText(_ statement: Statement, sql: String, parameters: [Program]) {
        guard !parameters.isEmpty else { return addBytes(sql) }
        for piece in statement.pieces {
            switch piece {
            case .text(let text): addBytes(text)
            case .parameter(let index): add(.literal(parameters[index]))
            }
        }
    }
}
