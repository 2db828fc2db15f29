import PostgresWire
import SQLite

/// One parameter of a statement, as SQLite counts them: to it `$1` and `$1::date` are two.
struct ParameterSlot: Sendable, Equatable {
    /// SQLite's index, from 1.
    var index: Int
    /// PostgreSQL's number, from 1; several indexes may share one.
    var number: Int
    /// Which of `StatementParameters.casts` it is; nil: what is known of its number holds of it.
    var cast: Int32?
}

/// SQLite's own refusals, of a value that is too long or for want of memory, become the client's error here.
extension Statement {
    @inline(__always)
    func bindNull(_ slot: ParameterSlot) throws(WireError) {
        do { try bindNull(slot.index) } catch { throw ErrorTranslation.wireError(error) }
    }

    @inline(__always)
    func bind(_ value: Int64, at slot: ParameterSlot) throws(WireError) {
        do { try bind(value, at: slot.index) } catch { throw ErrorTranslation.wireError(error) }
    }

    @inline(__always)
    func bind(_ value: Double, at slot: ParameterSlot) throws(WireError) {
        do { try bind(value, at: slot.index) } catch { throw ErrorTranslation.wireError(error) }
    }

    @inline(__always)
    func bindText(inPlace bytes: UnsafeRawBufferPointer, at slot: ParameterSlot) throws(WireError) {
        do { try bindText(inPlace: bytes, at: slot.index) } catch { throw ErrorTranslation.wireError(error) }
    }

    @inline(__always)
    func bindBlob(inPlace bytes: UnsafeRawBufferPointer, at slot: ParameterSlot) throws(WireError) {
        do { try bindBlob(inPlace: bytes, at: slot.index) } catch { throw ErrorTranslation.wireError(error) }
    }

    func bindText(copying text: String, at slot: ParameterSlot) throws(WireError) {
        do { try bindText(copying: text, at: slot.index) } catch { throw ErrorTranslation.wireError(error) }
    }

    func bindBlob(copying bytes: [UInt8], at slot: ParameterSlot) throws(WireError) {
        do {
            try bytes.withUnsafeBufferPointer { bytes throws(SQLiteError) in
                try bindBlob(copying: UnsafeRawBufferPointer(bytes), at: slot.index)
            }
        } catch { throw ErrorTranslation.wireError(error) }
    }
}
