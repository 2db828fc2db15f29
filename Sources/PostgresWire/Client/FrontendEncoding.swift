// The messages a client sends, encoded as the server's own are.
// https://www.postgresql.org/docs/current/protocol-message-formats.html
extension OutputBuffer {
    /// StartupMessage of protocol 3.0. It has no type byte.
    public func startup(_ parameters: [(String, String)]) {
        let mark = beginPacket(code: StartupMessage.majorVersion << 16)
        for (name, value) in parameters {
            appendCString(name)
            appendCString(value)
        }
        append(0 as UInt8)
        endPacket(mark)
    }

    /// CancelRequest, on a connection of its own.
    public func cancelRequest(processID: Int32, key: UnsafeRawBufferPointer) {
        let mark = beginPacket(code: 80_877_102)
        append32(processID)
        append(key)
        endPacket(mark)
    }

    private func beginPacket(code: Int32) -> Int {
        let mark = end
        append32(0)
        append32(code)
        return mark
    }

    private func endPacket(_ mark: Int) {
        guard end - mark <= Self.maximumMessageLength, end - mark >= 8 else { return truncate(toEnd: mark) }
        patch32(Int32(end - mark), atEnd: mark)
    }

    /// Query ('Q'): statements of the simple query, up to the text's first NUL.
    public func query(_ sql: String) {
        let mark = beginMessage(UInt8(ascii: "Q"))
        appendCString(sql)
        close(mark)
    }

    /// - Parameter name: empty for the unnamed statement.
    public func parse(name: String, sql: String, types: [TypeOID] = []) {
        let mark = beginMessage(UInt8(ascii: "P"))
        appendCString(name)
        appendCString(sql)
        append16(Int16(truncatingIfNeeded: types.count))
        for type in types { append32(Int32(bitPattern: type.rawValue)) }
        close(mark)
    }

    /// Executes the unnamed portal to its end.
    public func execute() {
        let mark = beginMessage(UInt8(ascii: "E"))
        appendCString("")
        append32(0)
        close(mark)
    }

    /// Sync ('S'): ends an extended query, also one that has failed. ReadyForQuery answers it.
    public func sync() { empty(UInt8(ascii: "S")) }
    /// Terminate ('X'): the server closes the connection and answers nothing.
    public func terminate() { empty(UInt8(ascii: "X")) }
}
