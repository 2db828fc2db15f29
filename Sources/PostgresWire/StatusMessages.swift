// Messages about the connection itself: what a session says before the first query and between queries.
// https://www.postgresql.org/docs/current/protocol-message-formats.html
extension OutputBuffer {
    /// AuthenticationOk ('R' and 0): nothing more is asked of the client.
    public func authenticationOk() {
        let mark = beginMessage(UInt8(ascii: "R"))
        append32(0)
        close(mark)
    }

    /// The key is four bytes up to protocol 3.0 and 4 to 256 bytes from 3.2 on; libpq 18 refuses a longer one on 3.0.
    public func backendKeyData(processID: Int32, key: [UInt8]) {
        let mark = beginMessage(UInt8(ascii: "K"))
        append32(processID)
        key.withUnsafeBytes { append($0) }
        close(mark)
    }

    /// ParameterStatus ('S'): what a setting is at the start, or from now on.
    public func parameterStatus(_ name: String, _ value: String) {
        let mark = beginMessage(UInt8(ascii: "S"))
        appendCString(name)
        appendCString(value)
        close(mark)
    }

    /// Tells the client which minor version will be spoken and which `_pq_.` options are not known.
    ///
    /// What PostgreSQL puts on the wire (SendNegotiateProtocolVersion in backend_startup.c) is the whole version
    /// number, 0x0003 and the minor, and never one newer than the client asked for, which libpq would refuse: pass
    /// the `effectiveMinor` of the startup message.
    public func negotiateProtocolVersion(newestMinor: Int32, unsupported: [String]) {
        let mark = beginMessage(UInt8(ascii: "v"))
        append32(StartupMessage.majorVersion << 16 | newestMinor)
        append32(Int32(truncatingIfNeeded: unsupported.count))
        for option in unsupported { appendCString(option) }
        close(mark)
    }

    /// ReadyForQuery ('Z'): the server waits for the next query.
    @inlinable public func readyForQuery(_ status: TransactionStatus) {
        let mark = beginMessage(UInt8(ascii: "Z"))
        append(status.rawValue)
        close(mark)
    }

    /// Ends a message that is far from the limit by its nature; were it not, it is dropped.
    @inlinable @inline(__always)
    func close(_ mark: Int) {
        _ = endMessage(mark)
    }
}
