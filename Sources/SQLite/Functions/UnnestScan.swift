import CSQLite

/// The arrays of one call of unnest(), which advance together.
///
/// They are read here and not by statements with json_each(): each of those would keep all that it reads twice, and "out of memory" in one
/// would end its transaction, as it is a statement of the same connection.
final class UnnestScan {
    enum Failure: Error { case isNoArray, isMalformed, outOfMemory, isStopped }

    /// What a long array is read for before it is asked whether the statement may go on: half a millisecond.
    private static let bytesPerCheck = 64 << 10
    /// True: it is to stop.
    private let isToStop: () -> Bool

    init(isToStop: @escaping () -> Bool) { self.isToStop = isToStop }

    private struct Column {
        var elements: JSONElements
        var current: JSONElements.Element?
    }

    /// A copy, for SQLite's own is only good until the scan has begun.
    private(set) var argument: OpaquePointer?
    /// nil: NULL, which has no elements.
    private var arrays: [Column?] = []
    /// Arrays without their escapes, in SQLite's memory, which is counted.
    private var unescaped: [UnsafeMutableRawPointer] = []
    private(set) var row: Int64 = 0
    private(set) var isDone = true

    deinit { clear() }

    private func clear() {
        arrays = []
        for memory in unescaped { sqlite3_free(memory) }
        unescaped = []
        sqlite3_value_free(argument)
        argument = nil
    }

    /// Begins with an argument: an array, or where there are several columns an array of so many.
    func begin(_ value: OpaquePointer?, columns: Int) throws(Failure) {
        clear()
        argument = sqlite3_value_dup(value)
        guard let argument else { throw .outOfMemory }
        arrays = try columns == 1 ? [array(argument)] : split(argument, columns)
        row = 0
        advance()
    }

    private func text(_ value: OpaquePointer) throws(Failure) -> UnsafeRawBufferPointer? {
        switch sqlite3_value_type(value) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB: throw .isNoArray
        default: break
        }
        guard let start = sqlite3_value_text(value) else { throw .outOfMemory }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
    }

    private func array(_ value: OpaquePointer) throws(Failure) -> Column? {
        guard let text = try text(value) else { return nil }
        return try array(text)
    }

    /// All of it is looked at first: a statement that is content with the beginning of an array is told of what is wrong behind it.
    private func array(_ text: UnsafeRawBufferPointer) throws(Failure) -> Column {
        let isValid = try JSONSyntax.isValid(text, askingEvery: Self.bytesPerCheck) { () throws(Failure) in
            if isToStop() { throw .isStopped }
        }
        guard isValid else { throw .isMalformed }
        return Column(elements: try elements(of: text))
    }

    private func elements(of text: UnsafeRawBufferPointer) throws(Failure) -> JSONElements {
        do { return try JSONElements(text) } catch { throw Self.failure(error) }
    }

    private func next(of elements: inout JSONElements) throws(Failure) -> JSONElements.Element? {
        do { return try elements.next() } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: JSONElements.Failure) -> Failure { error == .isNoArray ? .isNoArray : .isMalformed }

    /// json_array() has made it of arrays that are texts, or its own.
    private func split(_ value: OpaquePointer, _ columns: Int) throws(Failure) -> [Column?] {
        guard let text = try text(value) else { throw .isNoArray }
        var outer = try elements(of: text)
        var arrays: [Column?] = []
        while let element = try next(of: &outer) {
            switch element {
            case .null: arrays.append(nil)
            case .nested(let text), .text(let text): arrays.append(try array(text))
            case .escapedText(let written): arrays.append(try array(try unescape(written)))
            case .integer, .real: throw .isNoArray
            }
        }
        guard arrays.count == columns else { throw .isNoArray }
        return arrays
    }

    /// A zero stands behind it, as behind SQLite's own texts.
    private func unescape(_ written: UnsafeRawBufferPointer) throws(Failure) -> UnsafeRawBufferPointer {
        guard let memory = sqlite3_malloc64(UInt64(written.count + 1)) else { throw .outOfMemory }
        unescaped.append(memory)
        let buffer = UnsafeMutableRawBufferPointer(start: memory, count: written.count + 1)
        guard let count = JSONElements.unescape(written, into: buffer) else { throw .isMalformed }
        buffer[count] = 0
        return UnsafeRawBufferPointer(rebasing: buffer[..<count])
    }

    // MARK: Rows

    /// To the next row; done where no array has an element left.
    func advance() {
        row += 1
        isDone = true
        for index in arrays.indices {
            // Each has been found to be well-formed.
            let element = try? arrays[index]?.elements.next()
            arrays[index]?.current = element
            if element != nil { isDone = false }
        }
    }

    /// The row's element of that array; NULL behind its end.
    func answer(_ column: Int, _ context: OpaquePointer?) {
        switch arrays[column]?.current {
        case nil, .null: break
        case .integer(let value): sqlite3_result_int64(context, value)
        case .real(let value): sqlite3_result_double(context, value)
        case .text(let text): walpool_result_text(context, text.baseAddress ?? UnsafeRawPointer(context), UInt64(text.count))
        case .escapedText(let written): answer(escaped: written, context)
        case .nested(let text):
            walpool_result_text(context, text.baseAddress, UInt64(text.count))
            // For SQLite's functions of JSON it is a value and no text: https://www.sqlite.org/json1.html#interface_overview
            sqlite3_result_subtype(context, UInt32(UInt8(ascii: "J")))
        }
    }

    private func answer(escaped written: UnsafeRawBufferPointer, _ context: OpaquePointer?) {
        guard let memory = sqlite3_malloc64(UInt64(written.count)) else { return sqlite3_result_error_nomem(context) }
        guard let count = JSONElements.unescape(written, into: .init(start: memory, count: written.count)) else {
            sqlite3_free(memory)
            return sqlite3_result_error(context, "malformed JSON: there is a NUL in a string", -1)
        }
        walpool_result_text_owned(context, memory, UInt64(count))
    }
}
