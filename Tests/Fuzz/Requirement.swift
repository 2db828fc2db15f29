/// What must hold for every input. A fuzzer learns of a broken rule only from a process that dies.
func require(
    _ condition: Bool, _ rule: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !condition { fatalError("broken rule: \(rule())", file: file, line: line) }
}

/// Runs `work` on a copy that is exactly as large as the bytes are, so that the address sanitizer sees reading beyond.
func onExactCopy<Result>(
    _ bytes: UnsafeRawBufferPointer, _ work: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyMemory(from: bytes)
    return try work(UnsafeRawBufferPointer(copy))
}

/// Takes an input apart from its front. At the end everything is zero.
struct InputReader {
    private(set) var rest: UnsafeRawBufferPointer

    init(_ input: UnsafeRawBufferPointer) { rest = input }

    mutating func byte() -> UInt8 {
        guard let first = rest.first else { return 0 }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
        return first
    }

    mutating func integer() -> UInt64 {
        var value: UInt64 = 0
        for _ in 0..<8 { value = value << 8 | UInt64(byte()) }
        return value
    }

    mutating func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        let taken = UnsafeRawBufferPointer(rebasing: rest.prefix(count))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(taken.count))
        return taken
    }
}
