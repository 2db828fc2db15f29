import PostgresWire

/// Whether what a client sends ends its idleness, which idle_in_transaction_session_timeout and writer_idle_limit are about.
///
/// A whole message does that asks for something. That bytes came is not enough: who is stuck half-way through a message, and
/// sends one byte of it now and then, or a Flush, would keep the writer from everybody for as long as it likes.
struct InputActivity {
    /// Received since it was last shown, while the client was idle.
    private var bytes = 0

    /// - Parameters:
    ///   - input: what has come and is not handled yet begins at `position` of it.
    ///   - received: how many bytes of it came last.
    mutating func isShown(
        by input: UnsafeRawBufferPointer, from position: Int, received: Int, isCopying: Bool
    ) -> Bool {
        bytes += received
        guard bytes >= SessionLimits.activeBytes || Self.holdsRequest(input, from: position, isCopying) else { return false }
        bytes = 0
        return true
    }

    private static func holdsRequest(_ input: UnsafeRawBufferPointer, from position: Int, _ isCopying: Bool) -> Bool {
        var position = position
        while true {
            switch FrameDecoder.next(in: input, at: position, maximumBodyLength: SessionLimits.messageBytes) {
            case .incomplete: return false
            // It ends the session.
            case .invalid: return true
            case .message(let type, let body, let next):
                if isRequest(type, bytes: body.count, isCopying) { return true }
                position = next
            }
        }
    }

    private static func isRequest(_ type: FrontendMessageType, bytes: Int, _ isCopying: Bool) -> Bool {
        switch type {
        case .flush: false
        // "The backend will ignore Flush and Sync messages received during copy-in mode."
        // https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-COPY
        case .sync: !isCopying
        case .copyData: bytes > 0
        default: true
        }
    }
}
