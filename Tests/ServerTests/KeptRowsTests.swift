import PostgresWire
import SQLite
import Testing

@testable import Server

@Suite struct KeptRowsTests {
    /// A row that is in no database.
    private final class Row: RowValues {
        enum Value { case integer(Int64), real(Double), text([UInt8]), blob([UInt8]), null }
        private let values: [Value]
        private let bytes: [UnsafeRawBufferPointer]

        init(_ values: [Value]) {
            self.values = values
            bytes = values.map { value in
                guard case .text(let bytes) = value else {
                    guard case .blob(let bytes) = value else { return UnsafeRawBufferPointer(start: nil, count: 0) }
                    return Self.copy(bytes)
                }
                return Self.copy(bytes)
            }
        }

        deinit { bytes.forEach { $0.deallocate() } }

        private static func copy(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            copy.copyBytes(from: bytes)
            return UnsafeRawBufferPointer(copy)
        }

        func storageClass(_ column: Int) -> StorageClass {
            switch values[column] {
            case .integer: .integer
            case .real: .real
            case .text: .text
            case .blob: .blob
            case .null: .null
            }
        }
        func integer(_ column: Int) -> Int64 { if case .integer(let value) = values[column] { value } else { 0 } }
        func double(_ column: Int) -> Double { if case .real(let value) = values[column] { value } else { 0 } }
        func text(_ column: Int) -> UnsafeRawBufferPointer { bytes[column] }
        func blob(_ column: Int) -> UnsafeRawBufferPointer { bytes[column] }
    }

    @Test func givesWhatWasPutIn() {
        let kept = KeptRows(columns: 4)
        #expect(kept.append(Row([.integer(.min), .real(-0.0), .text([0x61, 0, 0x62]), .null])) == .kept)
        #expect(kept.append(Row([.null, .integer(7), .blob([]), .text(Array(repeating: 0x78, count: 100_000))])) == .kept)
        #expect(!kept.hasRow)
        #expect(kept.step())
        #expect((0..<4).map { kept.storageClass($0) } == [.integer, .real, .text, .null])
        #expect(kept.integer(0) == .min && kept.double(1).bitPattern == (-0.0).bitPattern)
        #expect(Array(kept.text(2)) == [0x61, 0, 0x62])
        #expect(kept.step() && kept.hasRow)
        #expect((0..<4).map { kept.storageClass($0) } == [.null, .integer, .blob, .text])
        #expect(kept.integer(1) == 7 && kept.blob(2).isEmpty && kept.text(3).count == 100_000)
        #expect(!kept.step() && !kept.hasRow && !kept.step())
    }

    /// Of a row that does not fit nothing is kept, and what was before it is whole.
    @Test func tooLarge() {
        let kept = KeptRows(columns: 2)
        #expect(kept.append(Row([.integer(1), .text([0x61])]), limitBytes: 40) == .kept)
        let bytes = kept.byteCount
        #expect(kept.append(Row([.integer(2), .text(Array(repeating: 0x78, count: 100))]), limitBytes: 40) == .tooLarge)
        #expect(kept.byteCount == bytes)
        #expect(kept.step() && kept.integer(0) == 1 && Array(kept.text(1)) == [0x61])
        #expect(!kept.step())
    }

    @Test func noRows() {
        let none = KeptRows(columns: 3)
        #expect(!none.step() && none.byteCount == 0)
    }

    @Test(arguments: [
        (SQLState.numericValueOutOfRange, true), (.undefinedTable, true), (.featureNotSupported, true), (.queryCanceled, false),
        (.programLimitExceeded, false), (.outOfMemory, false), (.serializationFailure, false), (.ioError, false),
        (.lockNotAvailable, false), (.adminShutdown, false), (.dataCorrupted, false),
    ])
    func whoseErrorItIs(_ state: SQLState, _ isOfItsQuery: Bool) {
        #expect(WireError(state: state, message: "").isOfItsQuery == isOfItsQuery)
        #expect(!WireError(severity: .fatal, state: state, message: "").isOfItsQuery)
    }
}
