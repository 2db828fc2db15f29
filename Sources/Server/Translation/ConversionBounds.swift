import PostgresWire
import SQLite

/// What the conversion of a value may take: one as long as a message is some seconds' work, and may become longer than it was sent.
struct ConversionBounds {
    /// Throws where the statement is to stop. SQLite, which asks that of a statement that runs, is not at work yet.
    typealias Check = () throws(WireError) -> Void

    /// Whoever converts asks after so many bytes of the result: some thousand elements of an array, in half a millisecond.
    static let bytesPerCheck = 4 << 10

    /// Of the text that a value becomes: SQLite would refuse a longer one in the end.
    var lengthLimit = SessionLimits.arrayBytes
    /// nil: the value is short, or nobody waits for it.
    var check: Check?

    func requireLength(_ bytes: Int) throws(WireError) {
        if bytes > lengthLimit { throw Self.tooBig }
    }

    /// In SQLite's words and with its SQLSTATE.
    static let tooBig = WireError(state: .stringDataRightTruncation, message: "string or blob too big")
}

extension ConversionBounds {
    /// Of a parameter of this statement.
    init(_ statement: Statement, _ check: Check?) { self.init(lengthLimit: statement.lengthLimit, check: check) }
}

extension JSONSyntax {
    /// Asks who waits for it.
    static func isValid(_ bytes: UnsafeRawBufferPointer, _ bounds: ConversionBounds) throws(WireError) -> Bool {
        try isValid(bytes, askingEvery: ConversionBounds.bytesPerCheck) { () throws(WireError) in try bounds.check?() }
    }
}
