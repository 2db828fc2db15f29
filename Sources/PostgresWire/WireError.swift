/// An error or a notice as it goes over the wire.
///
/// Severity, SQLSTATE and message cannot be absent: a client, or a pooler in between, may rely on them
/// (CVE-2026-6666 was a crash on a missing SQLSTATE).
public struct WireError: Error, Sendable {
    /// The severities of https://www.postgresql.org/docs/current/protocol-error-fields.html that are used here; the raw value is
    /// the word that is sent.
    public enum Severity: String, Sendable {
        case error = "ERROR"
        case fatal = "FATAL"
        case warning = "WARNING"
        case notice = "NOTICE"
    }

    /// Fields `S` and `V`. After a fatal one the server closes the connection.
    public var severity: Severity
    /// Field `C`.
    public var state: SQLState
    /// Field `M`: "This should be accurate but terse (typically one line)."
    public var message: String
    /// Field `D`; nil: it is not sent, like any of the following.
    public var detail: String?
    /// Field `H`: what to do about it.
    public var hint: String?
    /// "The first character has index 1, and positions are measured in characters not bytes."
    public var position: Int?
    /// Field `s`: the schema of the table.
    public var schema: String?
    /// Field `t`: the table that the error is about.
    public var table: String?
    /// Field `c`: the column of it.
    public var column: String?
    /// Field `n`: the name of the constraint that a row breaks.
    public var constraint: String?
    /// "An indication of the context in which the error occurred": for COPY, the line and the column.
    public var context: String?
    /// PostgreSQL's own routine, where clients go by it.
    public var routine: String?
    /// For the log, and never sent: the message may have in it what a client gave as a parameter.
    public var mayQuoteParameters = false

    /// An error unless another severity is given. What cannot be given here is nil or false.
    public init(
        severity: Severity = .error, state: SQLState, message: String, detail: String? = nil, hint: String? = nil,
        position: Int? = nil, schema: String? = nil, table: String? = nil, column: String? = nil,
        constraint: String? = nil
    ) {
        self.severity = severity
        self.state = state
        self.message = message
        self.detail = detail
        self.hint = hint
        self.position = position
        self.schema = schema
        self.table = table
        self.column = column
        self.constraint = constraint
    }

    /// 08P01 as an ERROR: the message is bad, but its end is known, so the session can go on.
    static func protocolViolation(_ message: String) -> WireError {
        WireError(state: .protocolViolation, message: message)
    }

    /// 08P01 as FATAL: where the next message begins is not known any more.
    static func lostSynchronization(_ message: String, detail: String? = nil, hint: String? = nil) -> WireError {
        WireError(severity: .fatal, state: .protocolViolation, message: message, detail: detail, hint: hint)
    }
}

extension OutputBuffer {
    /// ErrorResponse ('E'). What has to follow, ReadyForQuery or the end of the connection, is for the caller to see to.
    public func error(_ error: WireError) {
        report(UInt8(ascii: "E"), error)
    }

    /// A warning or a piece of news. A client has to expect one between any two messages:
    /// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-ASYNC
    public func notice(_ notice: WireError) {
        report(UInt8(ascii: "N"), notice)
    }

    /// The fields in the order in which PostgreSQL sends them. S is the severity in the server's language, V the same
    /// and never translated: here both are English.
    private func report(_ type: UInt8, _ error: WireError) {
        let mark = beginMessage(type)
        field("S", error.severity.rawValue)
        field("V", error.severity.rawValue)
        field("C", error.state.code)
        field("M", error.message)
        if let detail = error.detail { field("D", detail) }
        if let hint = error.hint { field("H", hint) }
        if let position = error.position {
            append(UInt8(ascii: "P"))
            appendDecimal(Int64(position))
            append(0 as UInt8)
        }
        if let context = error.context { field("W", context) }
        if let schema = error.schema { field("s", schema) }
        if let table = error.table { field("t", table) }
        if let column = error.column { field("c", column) }
        if let constraint = error.constraint { field("n", constraint) }
        if let routine = error.routine { field("R", routine) }
        append(0 as UInt8)
        close(mark)
    }

    /// SQLite's words may quote a value of many megabytes, of which nobody wants to read more, and the buffer takes all of it.
    static var longestFieldBytes: Int { 16 << 10 }

    private func field(_ code: Unicode.Scalar, _ value: String) {
        append(UInt8(ascii: code))
        appendCString(value.utf8.count <= Self.longestFieldBytes ? value : Self.beginning(of: value))
    }

    private static func beginning(of value: String) -> String {
        var bytes = Array(value.utf8.prefix(longestFieldBytes))
        // Not in the middle of a character.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self) + "…"
    }
}
