import CSQLite

/// One call of an SQL function of the daemon's own: its arguments, and where its result goes.
/// https://www.sqlite.org/appfunc.html
public struct FunctionCall {
    let context: OpaquePointer
    let values: UnsafeMutablePointer<OpaquePointer?>
    /// The connection's, which outlives the call: asked amid long ones whether to go on.
    unowned(unsafe) let callbacks: Callbacks
    /// Of the arguments, whose indexes start at 0.
    public let count: Int

    /// Where there are no arguments there may be no array: an address that nothing is read from.
    static var noValues: UnsafeMutablePointer<OpaquePointer?> {
        UnsafeMutablePointer(bitPattern: MemoryLayout<OpaquePointer?>.alignment)!
    }

    /// Of an argument; call it before any conversion.
    public func storageClass(_ index: Int) -> StorageClass {
        StorageClass(rawValue: sqlite3_value_type(values[index])) ?? .null
    }
    /// Whether that argument is NULL.
    public func isNull(_ index: Int) -> Bool { storageClass(index) == .null }
    /// The argument, converted as CAST does if it is of another storage class. https://www.sqlite.org/c3ref/value_blob.html
    public func integer(_ index: Int) -> Int64 { sqlite3_value_int64(values[index]) }
    /// The same as a real number.
    public func double(_ index: Int) -> Double { sqlite3_value_double(values[index]) }
    /// Valid until the call returns, or the argument is asked for in another form.
    public func bytes(_ index: Int) -> UnsafeRawBufferPointer {
        let start = storageClass(index) == .blob ? sqlite3_value_blob(values[index]) : UnsafeRawPointer(sqlite3_value_text(values[index]))
        // None for want of memory to convert it, or for the zero behind a text: SQLite fails the statement when the call is over.
        guard let start else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[index])))
    }
    /// The same as text; bytes that are no UTF-8 are replaced.
    public func text(_ index: Int) -> String { String(decoding: bytes(index), as: UTF8.self) }
    /// As much of it as a message quotes.
    func quoted(_ index: Int) -> String {
        String(String(decoding: bytes(index).prefix(4 * SQLiteError.quotedCharacters), as: UTF8.self).prefix(SQLiteError.quotedCharacters))
    }
    /// Whether any argument is NULL.
    public var hasNull: Bool { (0..<count).contains { isNull($0) } }

    /// The result. The last call of these counts; without one the result is NULL.
    public func answer(_ value: Int64) { sqlite3_result_int64(context, value) }
    /// A real number; NaN becomes NULL.
    public func answer(_ value: Double) { sqlite3_result_double(context, value) }
    /// 1 or 0.
    public func answer(_ value: Bool) { sqlite3_result_int64(context, value ? 1 : 0) }
    /// Text, or NULL for nil.
    public func answer(_ value: String?) {
        guard var value else { return answerNull() }
        value.withUTF8 { answer(UnsafeRawBufferPointer($0)) }
    }
    /// Text. SQLite itself refuses what is longer than its limit.
    public func answer(_ bytes: UnsafeRawBufferPointer) {
        walpool_result_text(context, bytes.baseAddress ?? UnsafeRawPointer(context), UInt64(bytes.count))
    }
    /// NULL.
    public func answerNull() { sqlite3_result_null(context) }
    /// The argument as it is.
    public func answer(argument index: Int) { sqlite3_result_value(context, values[index]) }
    /// The call has failed with SQLITE_ERROR and this message.
    public func fail(_ message: String) { sqlite3_result_error(context, message, -1) }
    func fail(code: Int32) { sqlite3_result_error_code(context, code) }

    /// What a call takes longer for than a look whether the statement may go on.
    private static let largeBytes = 32 << 10

    /// True, with the error set: the statement is to stop. SQLite asks only every thousand instructions, and a row may have
    /// hundreds of calls with large values.
    var isToStop: Bool {
        guard let onProgress = callbacks.onProgress, hasLargeArgument, onProgress() else { return false }
        fail(code: SQLITE_INTERRUPT)
        return true
    }

    private var hasLargeArgument: Bool {
        for index in 0..<count {
            let type = sqlite3_value_type(values[index])
            if type == SQLITE_TEXT || type == SQLITE_BLOB, sqlite3_value_bytes(values[index]) > Self.largeBytes { return true }
        }
        return false
    }

    /// The longest value the connection allows.
    public var lengthLimit: Int { Int(sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1)) }

    /// False, with the error set: a result of so many bytes would be too long, so it need not be made.
    public func allows(length: Int) -> Bool {
        if length <= lengthLimit { return true }
        sqlite3_result_error_toobig(context)
        return false
    }
}

/// What may be said of a function, https://www.sqlite.org/c3ref/c_deterministic.html
public enum FunctionKind: Sendable {
    /// The same arguments give the same result always: SQLite may call it once, and it may stand in an index.
    case deterministic
    /// Calls with the same arguments may give other results.
    case volatile
    /// Not in views, triggers and the like: who uses those would not know.
    case direct

    var flags: Int32 {
        switch self {
        case .deterministic: SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
        case .volatile: SQLITE_UTF8 | SQLITE_INNOCUOUS
        case .direct: SQLITE_UTF8 | SQLITE_DIRECTONLY
        }
    }
}

extension Connection {
    /// What a function does with one call: it answers or fails.
    public typealias FunctionBody = (FunctionCall) -> Void

    private final class Function {
        let body: FunctionBody
        /// The connection's: it lets go of its functions before it goes.
        unowned(unsafe) let callbacks: Callbacks
        init(_ body: @escaping FunctionBody, _ callbacks: Callbacks) { (self.body, self.callbacks) = (body, callbacks) }
    }

    /// Makes a function known to this connection; a negative number of arguments stands for any.
    public func register(
        _ name: StaticString, _ argumentCount: Int, _ kind: FunctionKind, _ body: @escaping FunctionBody
    ) {
        // SQLite keeps the closure until the connection is closed, and then lets go of it.
        let function = Unmanaged.passRetained(Function(body, callbacks)).toOpaque()
        name.utf8Start.withMemoryRebound(to: CChar.self, capacity: name.utf8CodeUnitCount + 1) { name in
            _ = sqlite3_create_function_v2(
                handle, name, Int32(argumentCount), kind.flags, function,
                { context, count, values in
                    let function = Unmanaged<Function>.fromOpaque(sqlite3_user_data(context)).takeUnretainedValue()
                    let call = FunctionCall(
                        context: context!, values: values ?? FunctionCall.noValues, callbacks: function.callbacks, count: Int(count))
                    if !call.isToStop { function.body(call) }
                }, nil, nil, { Unmanaged<Function>.fromOpaque($0!).release() })
        }
    }
}
