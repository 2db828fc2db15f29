import PostgresWire
import SQLite

/// A value that is not what its column was announced as. Sending it anyway would be a silently wrong answer.
struct ColumnMismatch: Error {
    var column: Int
    var found: StorageClass
    var announced: TypeOID
    /// It is what became of integers that were too large together.
    var isOverflow = false
    /// There was no memory for the row.
    var hasLackedMemory = false

    /// The row is too large, and no column of it is another than was announced.
    static func ofRow(in out: OutputBuffer) -> ColumnMismatch {
        ColumnMismatch(column: -1, found: .blob, announced: .bytea, hasLackedMemory: out.hasLackedMemory)
    }
}

extension WireError {
    /// Of a row that did not fit into a message.
    static func rowDoesNotFit(lacksMemory: Bool) -> WireError {
        lacksMemory
            ? WireError(state: .outOfMemory, message: "out of memory", detail: "There was none for a row of the result.")
            : WireError(state: .programLimitExceeded, message: "a row is larger than 1 GB")
    }
}

/// The result columns of one run of a statement: how each is announced and in which format it goes out.
///
/// Open columns get their type from the first row. In text format an integer, a real and a text look the same
/// whatever the column is called, so while the announcement is still unsent it is corrected when a later row turns out
/// to be wider; afterwards such a row is an error.
struct RowEncoder {
    struct Column {
        var type: TypeOID
        var format: Format
        /// The type may still be corrected.
        var isOpen: Bool
        /// Every value so far was NULL, so nothing has been promised but the name.
        var isUndecided: Bool
        /// Where the type stands in the output; -1 when it was never written there.
        var typePosition = -1
        /// With result_typing = declared: the type is the column's own, and values are made into it.
        var isDeclared = false
    }

    var columns: [Column] = []
    /// With result_typing = text, everything is text: a blob then goes out as bytea's hex.
    var isAllText = false

    /// Open columns are what the client was told before, whatever the first row is. Returns whether there are any.
    mutating func keep(_ announced: [TypeOID]) -> Bool {
        var hasOpen = false
        for index in columns.indices where columns[index].isOpen {
            hasOpen = true
            (columns[index].type, columns[index].isOpen, columns[index].isUndecided) = (announced[index], false, false)
        }
        return hasOpen
    }

    /// Encodes a statement's current row, or a kept one.
    @inline(__always)
    mutating func encodeRow<Row: RowValues>(_ row: Row, into out: OutputBuffer) throws(ColumnMismatch) {
        let start = out.end
        let mark = out.beginDataRow(columns: columns.count)
        for index in 0..<columns.count {
            let column = columns[index]
            if column.format == .text && !column.isOpen {
                switch (row.storageClass(index), column.type) {
                case (.null, _):
                    out.fieldNull()
                    continue
                case (.integer, .int8):
                    out.fieldIntegerText(row.integer(index))
                    continue
                case (.text, .text):
                    out.fieldText(row.text(index))
                    continue
                default:
                    break
                }
            }
            do { try encodeOther(index, row, into: out) } catch {
                // Half a row must never be sent.
                out.truncate(toEnd: start)
                throw error
            }
        }
        guard out.endDataRow(mark) else { throw .ofRow(in: out) }
    }

    /// Everything but the three commonest cases.
    @inline(never)
    private mutating func encodeOther<Row: RowValues>(
        _ index: Int, _ row: Row, into out: OutputBuffer
    ) throws(ColumnMismatch) {
        let found = row.storageClass(index)
        if found == .null { return out.fieldNull() }
        if columns[index].isOpen { try fit(found, index, into: out) }
        let type = columns[index].type
        if columns[index].isDeclared {
            guard DeclaredValue.encode(row, index, type, columns[index].format, into: out) else {
                throw ColumnMismatch(column: index, found: found, announced: type)
            }
            return
        }
        if columns[index].format == .text {
            try encodeText(index, row, found, as: type, into: out)
        } else {
            try encodeBinary(index, row, found, as: type, into: out)
        }
    }

    private func encodeText(
        _ index: Int, _ row: some RowValues, _ found: StorageClass, as type: TypeOID, into out: OutputBuffer
    ) throws(ColumnMismatch) {
        switch (found, type) {
        case (.integer, .bool):
            out.fieldBoolText(try boolean(row.integer(index), index))
        case (.integer, .int8), (.integer, .text), (.integer, .float8):
            out.fieldIntegerText(row.integer(index))
        case (.real, .float8), (.real, .text):
            out.fieldDoubleText(row.double(index))
        case (.text, .text):
            out.fieldText(row.text(index))
        case (.blob, .bytea):
            out.fieldByteaText(row.blob(index))
        case (.blob, .text) where isAllText:
            out.fieldByteaText(row.blob(index))
        default:
            throw mismatch(row, index, found)
        }
    }

    private func encodeBinary(
        _ index: Int, _ row: some RowValues, _ found: StorageClass, as type: TypeOID, into out: OutputBuffer
    ) throws(ColumnMismatch) {
        switch (found, type) {
        case (.integer, .bool):
            out.fieldBoolBinary(try boolean(row.integer(index), index))
        case (.integer, .int8):
            out.fieldBinary(row.integer(index))
        case (.integer, .float8):
            // Binary has no room for an integer that a double cannot hold exactly.
            guard let exact = Double(exactly: row.integer(index)) else {
                throw ColumnMismatch(column: index, found: found, announced: type)
            }
            out.fieldBinary(exact)
        case (.real, .float8):
            out.fieldBinary(row.double(index))
        case (_, .text):
            // A text is the same bytes in both formats.
            try encodeText(index, row, found, as: type, into: out)
        case (.blob, .bytea):
            out.fieldText(row.blob(index))
        default:
            throw mismatch(row, index, found)
        }
    }

    private func mismatch(_ row: some RowValues, _ index: Int, _ found: StorageClass) -> ColumnMismatch {
        let type = columns[index].type
        let isOverflow = type == .int8 && found == .real && row.double(index).magnitude >= 0x1p63
        return ColumnMismatch(column: index, found: found, announced: type, isOverflow: isOverflow)
    }

    private func boolean(_ value: Int64, _ index: Int) throws(ColumnMismatch) -> Bool {
        guard value == 0 || value == 1 else {
            throw ColumnMismatch(column: index, found: .integer, announced: .bool)
        }
        return value == 1
    }

    /// Widens an open column's announced type to hold `found`, while that is still possible.
    private mutating func fit(
        _ found: StorageClass, _ index: Int, into out: OutputBuffer
    ) throws(ColumnMismatch) {
        let column = columns[index]
        let wanted = found.openType
        if wanted == column.type {
            columns[index].isUndecided = false
            return
        }
        let wider: TypeOID
        switch (column.type, wanted) {
        case _ where column.isUndecided: wider = wanted
        case (.int8, .float8): wider = .float8
        case (.float8, .int8): return
        case (.text, .int8), (.text, .float8): return
        case (.int8, .text), (.float8, .text): wider = .text
        default: throw ColumnMismatch(column: index, found: found, announced: column.type)
        }
        let isUnsent = column.typePosition >= 0 && column.typePosition >= out.start
        // A binary image already made for an earlier row cannot be taken back, except when there was none.
        guard isUnsent, column.format == .text || column.isUndecided else {
            if column.isUndecided && column.type == .text && wanted != .bytea {
                columns[index].isUndecided = false
                return
            }
            throw ColumnMismatch(column: index, found: found, announced: column.type)
        }
        columns[index].type = wider
        columns[index].isUndecided = false
        out.patchType(wider, at: column.typePosition)
    }
}
