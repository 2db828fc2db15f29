import Pool
import PostgresWire
import SQLite

/// COPY FROM STDIN. While it lasts the client's messages are CopyData, CopyDone and CopyFail, and anything else ends it
/// (https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY).
///
/// Rows are decoded as they arrive and kept up to a limit; only then, or at the end, is the writer taken. From there on
/// the session is a holder like any other: one that waits for its client while somebody waits for the writer is evicted.
extension Session {
    func beginCopyIn(_ copy: CopyStatement, _ options: CopyOptions, _ query: Query) throws(WireError) -> Wait? {
        guard case .table(let table) = copy.source else { return nil }
        if role == .reader { throw Self.readersCannotWrite("execute COPY FROM") }
        if isReadOnly {
            throw WireError(
                state: .readOnlySQLTransaction, message: "cannot execute COPY FROM in a read-only transaction")
        }
        guard options.batchRows == nil || (!state.transaction.isExplicit && writerMode == .none) else {
            throw WireError(
                state: .activeSQLTransaction, message: "COPY with BATCH cannot run inside a transaction",
                hint: "It commits as it goes. Send it by itself, without BEGIN.")
        }
        var wait: Wait?
        guard let (found, schema) = try copyTable(table, options, &wait) else { return wait }
        let insert = try self.query(for: found.insert)
        // What is wrong with it is said now.
        _ = try analysis(of: insert, &wait)
        if let wait { return wait }
        state.copyIn = CopyIn(found, in: schema, options, text: query.text, insert: insert, typing: state.settings.typing)
        isCopyingIn = true
        out.copyInResponse(columns: found.columns.count, format: options.wireFormat)
        return nil
    }

    /// Where the next message of the client begins.
    var copyPosition: Int {
        get { state.query?.end ?? state.inputPosition }
        set { if state.query != nil { state.query?.end = newValue } else { state.inputPosition = newValue } }
    }

    /// Handles what the client has sent; nil when the COPY is done.
    func continueCopyIn(_ copy: CopyIn) throws(WireError) -> Wait? {
        countBeginning()
        while true {
            while copy.mustInsert(hasWriter: writerMode != .none) {
                if let wait = try insertRows(of: copy) { return wait }
                try copy.decode(isLast: false)
            }
            switch frame(at: copyPosition) {
            case .incomplete:
                let now = MonotonicClock.now
                countProgress(of: copy, now: now)
                if let reason = reasonToStop(now: now) { throw stopError(reason) }
                return .input
            case .invalid(let error): throw error
            case .message(let type, let range, let next):
                let body = UnsafeRawBufferPointer(rebasing: input.bytes[range])
                switch type {
                case .copyData:
                    try copy.take(body)
                    copyPosition = next
                // "The backend will ignore Flush and Sync messages received during copy-in mode."
                case .flush, .sync: copyPosition = next
                case .copyDone:
                    if let wait = try finishCopyIn(copy) { return wait }
                    copyPosition = next
                    endCopyIn(copy)
                    return nil
                case .terminate: return .closed
                default: throw abandonedCopy(type, body, next)
                }
            }
        }
    }

    /// The error for a message that ends the COPY. In the extended protocol `fail` skips the message by itself.
    private func abandonedCopy(_ type: FrontendMessageType, _ body: UnsafeRawBufferPointer, _ next: Int) -> WireError {
        if state.query != nil { copyPosition = next }
        guard type == .copyFail else {
            let digits = String(type.rawValue, radix: 16, uppercase: true)
            return WireError(
                state: .protocolViolation, message: "unexpected message type 0x\(digits) during COPY from stdin")
        }
        let reason = (try? CopyFailMessage(body: body)).map { String(decoding: $0.reason, as: UTF8.self) } ?? ""
        var error = WireError(state: .queryCanceled, message: "COPY from stdin failed: \(reason)")
        // psycopg sends its exception's text, which may quote a row.
        error.mayQuoteParameters = true
        return error
    }

    /// The client has sent everything: what is left of it is decoded and inserted. Done again from its start when the
    /// writer had to be waited for.
    private func finishCopyIn(_ copy: CopyIn) throws(WireError) -> Wait? {
        repeat {
            try copy.decode(isLast: true)
            if copy.rows.rows > 0, let wait = try insertRows(of: copy) { return wait }
        } while !copy.decoder.hasEnded || copy.rows.undecoded > 0
        if copy.rowsInBatch > 0 { try commitBatch(of: copy) }
        return nil
    }

    private func endCopyIn(_ copy: CopyIn) {
        marks.commit = out.end
        out.commandComplete("COPY", count: copy.inserted)
        running.times.rows = Int(copy.inserted)
        // A simple query finishes its statements by itself.
        if state.query == nil { finishStatement() }
        forgetCopyIn()
    }

    /// Whether it is over or has failed.
    func forgetCopyIn() {
        guard isCopyingIn else { return }
        if let copy = state.copyIn { countRun(of: copy) }
        isCopyingIn = false
        state.copyIn = nil
    }

    private func commitBatch(of copy: CopyIn) throws(WireError) {
        // The commit's time is nobody's run.
        countProgress(of: copy, now: MonotonicClock.now)
        try commitWork()
        holdCursors()
        countTransactionEnd()
        copy.rowsInBatch = 0
        copy.committed = copy.inserted
    }

    // MARK: Inserting

    /// Inserts all rows that are decoded; nil when they are.
    private func insertRows(of copy: CopyIn) throws(WireError) -> Wait? {
        if hasPortals(besides: nil), let wait = try fixResults(before: nil) { return wait }
        if let wait = try acquireWriter() { return wait }
        countTransactionBeginning()
        if copy.schema != pool.writer.schemaVersion {
            try copy.table.requireSame(as: look(copy.table.wanted, pool.writer))
            copy.schema = pool.writer.schemaVersion
        }
        try insertDecoded(copy, on: pool.writer)
        let rows = copy.rows.rows
        copy.rows.removeRows()
        if let batch = copy.options.batchRows {
            copy.rowsInBatch += rows
            if copy.rowsInBatch >= batch { try commitBatch(of: copy) }
        }
        return nil
    }

    private func insertDecoded(_ copy: CopyIn, on writer: Writer) throws(WireError) {
        if writerMode == .lease { server.noteHolderStatement(clientID, copy.text) }
        let lease: PreparedLease
        do { lease = try writer.statement(for: copy.insert.text, self) } catch {
            throw preparationError(error, copy.insert, writer)
        }
        try requireOpenTransaction(for: lease)
        writer.connection.beginCountingChanges(for: state.counters)
        defer {
            writer.giveBack(lease)
            state.counters = writer.connection.endCountingChanges(countsRows: true)
        }
        writer.beginRun(self)
        defer { writer.endRun() }
        try copy.rows.values.withUnsafeBufferPointer { values throws(WireError) in
            try insert(values, copy, lease.statement, writer)
        }
    }

    private func insert(
        _ values: UnsafeBufferPointer<CopyValue>, _ copy: CopyIn, _ statement: Statement, _ writer: Writer
    ) throws(WireError) {
        let rows = copy.rows
        let columns = copy.decoder.columns.count
        var value = 0
        for row in 0..<rows.rows {
            do {
                for index in 1...columns {
                    try Self.bind(values[value], rows, at: index, to: statement)
                    value += 1
                }
                _ = try statement.step()
                statement.reset()
            } catch {
                var failed = stepError(error, writer, copy.insert, hasParameters: true)
                failed.position = nil
                failed.context = copy.decoder.context(line: rows.lines[row])
                throw failed
            }
            if copy.isView || writer.connection.changes > 0 { copy.inserted += 1 }
        }
    }

    /// The bytes stay where they are until the statement is given back.
    @inline(__always)
    private static func bind(
        _ value: CopyValue, _ rows: CopyRows, at index: Int, to statement: Statement
    ) throws(SQLiteError) {
        switch value.kind {
        case .null: try statement.bindNull(index)
        case .integer: try statement.bind(value.bits, at: index)
        case .real: try statement.bind(Double(bitPattern: UInt64(bitPattern: value.bits)), at: index)
        case .text: try statement.bindText(inPlace: rows.bytes(value), at: index)
        case .blob: try statement.bindBlob(inPlace: rows.bytes(value), at: index)
        case .made: try rows.withMade(value) { text throws(SQLiteError) in try statement.bindText(copying: text, at: index) }
        }
    }
}
