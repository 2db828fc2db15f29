/// One column of a result, as RowDescription tells it.
public struct FieldDescription: Sendable {
    /// "The field name." What is behind a NUL in it is not sent.
    public var name: String
    /// The table's object ID if the column is a table's column, otherwise zero.
    public var tableOID: UInt32
    /// The column's attribute number in that table, otherwise zero.
    public var attributeNumber: Int16
    /// Of which two fields are made: "the object ID of the field's data type" and "the data type size".
    public var type: TypeOID
    /// "The meaning of the modifier is type-specific", as the length of a varchar; -1: there is none.
    public var typeModifier: Int32
    /// What the values come in. For Describe of a statement it "is not yet known and will always be zero", which is text.
    public var format: Format

    /// A column of no table, in the text format, if no more is said.
    public init(
        name: String, tableOID: UInt32 = 0, attributeNumber: Int16 = 0, type: TypeOID,
        typeModifier: Int32 = -1, format: Format = .text
    ) {
        self.name = name
        self.tableOID = tableOID
        self.attributeNumber = attributeNumber
        self.type = type
        self.typeModifier = typeModifier
        self.format = format
    }
}

// https://www.postgresql.org/docs/current/protocol-message-formats.html, RowDescription and ParameterDescription
extension OutputBuffer {
    /// RowDescription ('T'). The number of fields has 16 bits: a result of SQLite's has far fewer columns.
    public func rowDescription(_ fields: [FieldDescription]) {
        encodeRowDescription(fields) { _ in }
    }

    /// Also records where each type OID sits, so that `patch32` can correct it while the message is unsent.
    /// A type's size follows its OID directly: patch it with `patchType(_:at:)`.
    public func rowDescription(_ fields: [FieldDescription], oidPositions: inout [Int]) {
        oidPositions.removeAll(keepingCapacity: true)
        encodeRowDescription(fields) { oidPositions.append($0) }
    }

    /// Replaces a type announced by an unsent RowDescription: its OID and, right behind it, its size.
    public func patchType(_ type: TypeOID, at oidPosition: Int) {
        patch32(Int32(bitPattern: type.rawValue), atEnd: oidPosition)
        // The size shares its word with the upper half of the type modifier, which is not ours to change: only two
        // bytes are written.
        precondition(oidPosition + 6 <= end, "patching what is not in the buffer")
        guard let storage else { return }
        (storage + (oidPosition + 4 - shift)).storeBytes(of: type.size.bigEndian, as: Int16.self)
    }

    @inline(__always)
    private func encodeRowDescription(_ fields: [FieldDescription], _ oidAt: (Int) -> Void) {
        let mark = beginMessage(UInt8(ascii: "T"))
        append16(Int16(truncatingIfNeeded: fields.count))
        for field in fields {
            appendCString(field.name)
            append32(Int32(bitPattern: field.tableOID))
            append16(field.attributeNumber)
            oidAt(end)
            append32(Int32(bitPattern: field.type.rawValue))
            append16(field.type.size)
            append32(field.typeModifier)
            append16(field.format.rawValue)
        }
        close(mark)
    }

    /// ParameterDescription ('t'): the types of a statement's parameters, `$1` first, and 65,535 at most.
    public func parameterDescription(_ oids: [TypeOID]) {
        let mark = beginMessage(UInt8(ascii: "t"))
        append16(Int16(truncatingIfNeeded: oids.count))
        for oid in oids { append32(Int32(bitPattern: oid.rawValue)) }
        close(mark)
    }
}
