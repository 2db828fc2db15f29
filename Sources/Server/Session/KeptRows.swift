import PostgresWire
import SQLite

/// What is left of a portal's result, in memory, when its statement cannot stay where it stands.
///
/// Of each value its storage class and what it holds are kept, not what a client is told of it: formats and types may still be
/// asked for, and a kept row is encoded as the statement's own would have been.
final class KeptRows: RowValues {
    private let bytes = OutputBuffer()
    /// Where the values of the row it stands on begin in `bytes`.
    private var places: [Int]
    /// Where the row behind it begins.
    private var next = 0
    /// Behind the one it stands on.
    private var left = 0
    /// It stands on a row that has not been sent.
    private(set) var hasRow = false
    /// What is said where the rows end, if they do not end well.
    var error: WireError?
    /// Of a statement that wrote and returns what it has written.
    var changes: Int64 = 0

    init(columns: Int) { places = Array(repeating: 0, count: columns) }

    /// A run that failed before its first row.
    init(_ error: WireError) {
        places = []
        self.error = error
    }

    var byteCount: Int { bytes.count }

    // MARK: Filling

    /// What became of a row.
    enum Appended { case kept, tooLarge, noMemory }

    /// Keeps a row, or nothing of it.
    func append(_ row: some RowValues, limitBytes: Int = .max) -> Appended {
        let start = bytes.end
        for column in places.indices {
            let stored = row.storageClass(column)
            var fits = true
            bytes.append(UInt8(truncatingIfNeeded: stored.rawValue))
            switch stored {
            case .null: break
            case .integer: bytes.append64(UInt64(bitPattern: row.integer(column)))
            case .real: bytes.append64(row.double(column).bitPattern)
            case .text: fits = append(row.text(column), limitBytes)
            case .blob: fits = append(row.blob(column), limitBytes)
            }
            guard fits, !bytes.hasHole, bytes.count <= limitBytes else {
                bytes.truncate(toEnd: start)
                return bytes.hasHole ? .noMemory : .tooLarge
            }
        }
        left += 1
        return .kept
    }

    /// False when it is too large, which its length is enough to tell.
    private func append(_ value: UnsafeRawBufferPointer, _ limitBytes: Int) -> Bool {
        bytes.append64(UInt64(value.count))
        guard value.count <= limitBytes &- bytes.count else { return false }
        bytes.append(value)
        return true
    }

    // MARK: Reading

    /// Goes to the next row; false at the end.
    @discardableResult
    func step() -> Bool {
        hasRow = left > 0
        guard hasRow else { return false }
        left -= 1
        for column in places.indices {
            places[column] = next
            next += 1
            switch storageClass(column) {
            case .null: break
            case .integer, .real: next += 8
            case .text, .blob: next += 8 + Int(word(at: next))
            }
        }
        return true
    }

    func storageClass(_ column: Int) -> StorageClass {
        StorageClass(rawValue: Int32(bytes.readable[places[column]])) ?? .null
    }

    func integer(_ column: Int) -> Int64 { Int64(bitPattern: word(at: places[column] + 1)) }
    func double(_ column: Int) -> Double { Double(bitPattern: word(at: places[column] + 1)) }
    func text(_ column: Int) -> UnsafeRawBufferPointer { blob(column) }

    func blob(_ column: Int) -> UnsafeRawBufferPointer {
        let start = places[column] + 9
        return UnsafeRawBufferPointer(rebasing: bytes.readable[start..<(start + Int(word(at: start - 8)))])
    }

    private func word(at place: Int) -> UInt64 {
        UInt64(bigEndian: bytes.readable.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
}
