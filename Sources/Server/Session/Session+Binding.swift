import Pool
import PostgresWire

/// A statement's parameters, on their way to SQLite: long ones are converted for as long as the statement may run.
extension Session {
    /// - Parameter bind: is told whom to ask whether to go on; nobody where the values are short.
    @inline(__always)
    func bind(
        _ parameters: BoundParameters, on connection: PooledConnection, _ bind: (ConversionBounds.Check?) throws(WireError) -> Void
    ) throws(WireError) {
        if parameters.valueBytes > SessionLimits.longParameterBytes { try bindLong(on: connection, bind) } else { try bind(nil) }
    }

    /// The writer, or a snapshot, is kept from others meanwhile, and SQLite is not at work yet: its progress handler asks nobody.
    @inline(never)
    private func bindLong(
        on connection: PooledConnection, _ bind: (ConversionBounds.Check?) throws(WireError) -> Void
    ) throws(WireError) {
        connection.beginRun(self)
        defer { connection.endRun() }
        let check: ConversionBounds.Check = { [unowned self] () throws(WireError) in
            if let reason = connection.reasonToStop() { throw stopError(reason) }
        }
        try bind(check)
        try check()
    }
}
