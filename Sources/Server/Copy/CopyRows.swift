import Glibc
import PostgresWire

/// A value that was decoded: itself, or where its bytes are.
struct CopyValue: Equatable {
    enum Kind: UInt8 {
        case null, integer, real, text, blob
        /// A text that is longer than what it was made of.
        case made
    }

    var kind: Kind
    var count: Int32 = 0
    /// The integer, the real's bit pattern, or the offset of the first byte in `CopyRows` or in its made texts.
    var bits: Int64 = 0
}

/// What a client has sent of a COPY FROM and is not inserted yet: complete rows, decoded, and the bytes behind them.
///
/// Values are decoded in place: no form of a value that COPY knows is shorter than what it stands for. Offsets count
/// from the beginning of the storage and stay good until `removeRows`.
final class CopyRows {
    private(set) var base: UnsafeMutablePointer<UInt8>?
    private var capacity = 0
    /// Where the first byte lies that no complete row has.
    var decoded = 0
    private(set) var count = 0
    /// Where the rows begin that are here.
    private var firstRow = 0
    private(set) var values: ContiguousArray<CopyValue> = []
    /// The line on which each row ends.
    private(set) var lines: ContiguousArray<Int> = []
    /// Texts of binary dates, UUIDs and decimals.
    private var made: ContiguousArray<UInt8> = []

    deinit { free(base) }

    /// How many rows there are.
    var rows: Int { lines.count }
    var undecoded: Int { count - decoded }

    /// As much as is inserted in one go.
    var isFull: Bool {
        decoded - firstRow + made.count >= CopyLimits.bufferBytes || values.count >= CopyLimits.bufferedValues
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws(WireError) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        // Moved only when that costs no more than what has been decoded since.
        if rows == 0, decoded > 0, decoded >= undecoded { dropDecoded() }
        if capacity - count < bytes.count {
            let wanted = max(capacity * 2, count + bytes.count)
            guard let grown = realloc(base, wanted) else {
                throw WireError(state: .outOfMemory, message: "there is no memory for the rows of COPY")
            }
            base = grown.assumingMemoryBound(to: UInt8.self)
            capacity = wanted
        }
        memcpy(base! + count, source, bytes.count)
        count += bytes.count
    }

    private func dropDecoded() {
        guard let base else { return }
        if undecoded > 0 { memmove(base, base + decoded, undecoded) }
        count -= decoded
        decoded = 0
        firstRow = 0
    }

    @inline(__always)
    func append(_ value: CopyValue) { values.append(value) }

    func make(_ text: String) -> CopyValue {
        defer { made.append(contentsOf: text.utf8) }
        return CopyValue(kind: .made, count: Int32(text.utf8.count), bits: Int64(made.count))
    }

    func withMade<E: Error>(_ value: CopyValue, _ body: (UnsafeRawBufferPointer) throws(E) -> Void) throws(E) {
        try made.withUnsafeBufferPointer { bytes throws(E) in
            let all = UnsafeRawBufferPointer(bytes)
            try body(UnsafeRawBufferPointer(rebasing: all[Int(value.bits)..<Int(value.bits) + Int(value.count)]))
        }
    }

    /// The row whose values were appended last is complete.
    @inline(__always)
    func endRow(line: Int, next: Int) {
        lines.append(line)
        decoded = next
    }

    /// The rows have been inserted.
    func removeRows() {
        values.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        made.removeAll(keepingCapacity: true)
        firstRow = decoded
    }

    /// Whatever else has arrived means nothing.
    func discardRest() { decoded = count }

    func bytes(_ value: CopyValue) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base.map { $0 + Int(value.bits) }, count: Int(value.count))
    }
}
