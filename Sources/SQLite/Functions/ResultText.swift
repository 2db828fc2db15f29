import CSQLite

/// A function's result while it is put together: in SQLite's own memory, which its limits count, and asking now and then whether the
/// statement may go on.
///
/// What fails has set the call's error.
struct ResultText: ~Copyable {
    private let call: FunctionCall
    private var work = FunctionWork()
    private var bytes: UnsafeMutableRawBufferPointer
    private var count = 0

    /// nil: a result of so many bytes would be too long, or there is no memory for it.
    ///
    /// - Parameter capacity: may turn out to be too little.
    init?(_ call: FunctionCall, capacity: Int) {
        guard call.allows(length: capacity), let bytes = Self.memory(nil, max(1, capacity), call) else { return nil }
        (self.call, self.bytes) = (call, bytes)
    }

    deinit { sqlite3_free(bytes.baseAddress) }

    private static func memory(_ old: UnsafeMutableRawPointer?, _ count: Int, _ call: FunctionCall) -> UnsafeMutableRawBufferPointer? {
        guard let memory = sqlite3_realloc64(old, UInt64(count)) else {
            sqlite3_result_error_nomem(call.context)
            return nil
        }
        return UnsafeMutableRawBufferPointer(start: memory, count: count)
    }

    /// False: the call has failed.
    mutating func append(_ part: UnsafeRawBufferPointer) -> Bool {
        guard makeRoom(part.count), work.goesOn(part.count, call) else { return false }
        if let base = part.baseAddress, part.count > 0 { (bytes.baseAddress! + count).copyMemory(from: base, byteCount: part.count) }
        count += part.count
        return true
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) -> Bool {
        guard makeRoom(1), work.goesOn(1, call) else { return false }
        bytes[count] = byte
        count += 1
        return true
    }

    /// The same part so many times: the first is copied, and then what there is of them, twice as much each time.
    mutating func append(_ part: UnsafeRawBufferPointer, times: Int) -> Bool {
        guard times > 0, !part.isEmpty else { return true }
        let start = count
        guard append(part) else { return false }
        let mostAtOnce = part.count * max(1, FunctionWork.bytesPerQuestion / part.count)
        var left = part.count * (times - 1)
        while left > 0 {
            let next = min(left, count - start, mostAtOnce)
            // Before it is said where they are: they may move.
            guard makeRoom(next), append(UnsafeRawBufferPointer(rebasing: bytes[start..<(start + next)])) else { return false }
            left -= next
        }
        return true
    }

    @inline(__always)
    private mutating func makeRoom(_ wanted: Int) -> Bool { wanted <= bytes.count - count || grow(by: wanted) }

    @inline(never)
    private mutating func grow(by wanted: Int) -> Bool {
        let limit = call.lengthLimit
        guard call.allows(length: count + wanted),
            let larger = Self.memory(bytes.baseAddress, min(limit, (count + wanted) * 3 / 2), call)
        else { return false }
        bytes = larger
        return true
    }

    /// The call's result.
    consuming func answer() {
        walpool_result_text_owned(call.context, bytes.baseAddress, UInt64(count))
        discard self
    }
}

/// How much a call has done since it last asked whether the statement may go on: SQLite asks only between its own instructions, and one
/// call may walk over 64 MiB.
struct FunctionWork {
    /// Walked over in a fraction of a millisecond, whatever is done with each byte.
    static let bytesPerQuestion = 64 << 10
    private var left = Self.bytesPerQuestion

    /// False, with the error set: it is to stop. Otherwise `bytes` may be worked on.
    @inline(__always)
    mutating func goesOn(_ bytes: Int, _ call: FunctionCall) -> Bool {
        left -= bytes
        return left > 0 || ask(call)
    }

    @inline(never)
    private mutating func ask(_ call: FunctionCall) -> Bool {
        left = Self.bytesPerQuestion
        guard call.callbacks.onProgress?() == true else { return true }
        call.fail(code: SQLITE_INTERRUPT)
        return false
    }
}
