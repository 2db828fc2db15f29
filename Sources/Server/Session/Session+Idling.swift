import Pool
import PostgresWire
import Scheduling

/// A session that waits for its client: what memory it keeps, what others may take from it meanwhile, and for how long.
extension Session {
    /// Nothing to do until the client sends something: memory and deadlines of an idle session.
    func becomeIdle() {
        // The positions of a Query message are counted from the front for as long as it goes on.
        if state.query == nil, !isCopyingIn {
            input.drop(state.inputPosition)
            state.inputPosition = 0
            input.releaseMemory(above: SessionLimits.idleBufferBytes)
            out.releaseMemory(above: SessionLimits.idleBufferBytes)
            if let portal = state.unnamedPortal, portal.isClosed {
                portal.releaseMemory(above: SessionLimits.idleBufferBytes)
            }
            if hasSimpleStatement { forgetLargeSimpleStatement() }
        }
        guard case .ready = phase else { return }
        if readerIsOnlyToPrepare { releaseReader() }
        noteIdling()
        if isCopyingIn { return awaitCopyData() }
        if awaiting.until < .distantFuture {
            // What has come since was not enough to begin it anew.
            if awaiting.reason == .idleInTransaction { return }
            // Its client had not read, and has now.
            disarmDeadline()
        }
        guard state.transaction.isExplicit || writerMode == .lease || readerIndex != nil else { return }
        armDeadline(
            .idleInTransaction, afterMilliseconds: state.settings.idleInTransactionTimeoutMilliseconds,
            orAt: blockDeadline)
    }

    /// The last statement of a Query message is nobody's any more, and its text may have a mebibyte.
    func forgetLargeSimpleStatement() {
        hasSimpleStatement = false
        simplePortal.releaseMemory(above: SessionLimits.idleBufferBytes)
        let statement = simplePortal.statement
        let bytes = statement.query.text.bytes.count + statement.parameters.count * MemoryLayout<ParameterType>.stride
        guard bytes > SessionLimits.idleBufferBytes else { return }
        simplePortal.reuse(for: PreparedStatement(server.emptyQuery))
    }

    /// It waits for its client with a connection that others may wait for.
    func noteIdling() {
        if writerMode == .lease, !isIdleHolder {
            isIdleHolder = true
            pool.holderBecameIdle(self)
        }
        if let readerIndex, !isReaderIdle {
            isReaderIdle = true
            pool.readerBecameIdle(readerIndex)
        }
    }

    @inline(__always)
    func endIdling() {
        if isReaderIdle { endReaderIdling() }
        guard isIdleHolder else { return }
        isIdleHolder = false
        pool.holderBecameActive(self)
    }

    func endReaderIdling() {
        isReaderIdle = false
        if let readerIndex { pool.readerBecameActive(readerIndex) }
    }
}
