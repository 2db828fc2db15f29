// Messages that answer one step of a query.
// https://www.postgresql.org/docs/current/protocol-message-formats.html
extension OutputBuffer {
    /// A command tag without a count: "BEGIN", "CREATE TABLE".
    public func commandComplete(_ tag: StaticString) {
        let mark = beginMessage(UInt8(ascii: "C"))
        append(tag)
        append(0 as UInt8)
        close(mark)
    }

    /// A command tag with a count: "SELECT 5"; "For an INSERT command, the tag is INSERT oid rows", where oid is
    /// always 0 nowadays, so the tag to pass is "INSERT 0".
    public func commandComplete(_ tag: StaticString, count: Int64) {
        let mark = beginMessage(UInt8(ascii: "C"))
        append(tag)
        append(UInt8(ascii: " "))
        appendDecimal(count)
        append(0 as UInt8)
        close(mark)
    }

    /// A command tag that is made at run time. It ends at a NUL.
    public func commandComplete(_ tag: String) {
        let mark = beginMessage(UInt8(ascii: "C"))
        appendCString(tag)
        close(mark)
    }

    /// EmptyQueryResponse ('I'): in place of CommandComplete, where there is no statement in the query string.
    @inlinable public func emptyQueryResponse() { empty(UInt8(ascii: "I")) }
    /// ParseComplete ('1').
    @inlinable public func parseComplete() { empty(UInt8(ascii: "1")) }
    /// BindComplete ('2').
    @inlinable public func bindComplete() { empty(UInt8(ascii: "2")) }
    /// CloseComplete ('3'): also of a name that there was nothing of.
    @inlinable public func closeComplete() { empty(UInt8(ascii: "3")) }
    /// NoData ('n'): in place of RowDescription, where a Describe is for what returns no rows.
    @inlinable public func noData() { empty(UInt8(ascii: "n")) }
    /// PortalSuspended ('s'): in place of CommandComplete, where Execute's limit of rows is reached.
    @inlinable public func portalSuspended() { empty(UInt8(ascii: "s")) }
    /// CopyDone ('c'): behind the last CopyData of a COPY TO. CommandComplete still follows.
    @inlinable public func copyDone() { empty(UInt8(ascii: "c")) }

    /// The server waits for CopyData; every column has the overall format.
    public func copyInResponse(columns: Int, format: Format) {
        copyResponse(UInt8(ascii: "G"), columns: columns, format: format)
    }

    /// CopyData follows; every column has the overall format. CopyData itself is `beginMessage` with 'd', the bytes, and
    /// `endMessage`.
    public func copyOutResponse(columns: Int, format: Format) {
        copyResponse(UInt8(ascii: "H"), columns: columns, format: format)
    }

    private func copyResponse(_ type: UInt8, columns: Int, format: Format) {
        let mark = beginMessage(type)
        append(UInt8(truncatingIfNeeded: format.rawValue))
        append16(Int16(truncatingIfNeeded: columns))
        for _ in 0..<max(columns, 0) { append16(format.rawValue) }
        close(mark)
    }

    /// A message that is its type alone; the length counts itself.
    @inlinable @inline(__always)
    func empty(_ type: UInt8) {
        append(type)
        append32(4)
    }
}
