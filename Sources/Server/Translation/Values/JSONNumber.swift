import PostgresWire

/// A JSON text that is nothing but a number, for a column declared JSON or JSONB: its affinity is NUMERIC, as the name has no more to say
/// to SQLite, and makes a number of such a text (https://www.sqlite.org/datatype3.html#determination_of_column_affinity).
enum JSONNumber: Equatable {
    case integer(Int64)
    case real(Double)
    /// As a double it would be another number, infinity or zero.
    case lost

    /// nil: it is something else.
    ///
    /// - Parameter text: JSON.
    init?(_ text: UnsafeRawBufferPointer) {
        let text = TextCodec.trimmed(text)
        guard let first = text.first, isDigit(first) || first == UInt8(ascii: "-") else { return nil }
        guard let written = DecimalNumber(String(decoding: text, as: UTF8.self)) else {
            self = .lost
            return
        }
        // Shortest digits that read back as the same double, and so what a client gets that reads it.
        let kept = TextCodec.parseDouble(text).flatMap { value in DecimalNumber("\(value)").map { (value, $0) } }
        if let whole = written.integer {
            self = .integer(whole)
        } else if let (value, digits) = kept, digits.isEqual(to: written) {
            self = .real(value)
        } else {
            self = .lost
        }
    }

    static func error(_ text: UnsafeRawBufferPointer) -> WireError {
        let shown = String(decoding: TextCodec.trimmed(text).prefix(SessionLimits.quotedCharacters), as: UTF8.self)
        return WireError(
            state: .numericValueOutOfRange, message: "the JSON number \(shown) cannot be stored in a column declared JSON",
            detail: "SQLite makes a number of it there, which would be another one.", hint: "Declare the column TEXT.")
    }
}
