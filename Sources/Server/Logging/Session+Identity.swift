import CLinux
import Journal
import Logging
import Pool
import PostgresWire
import Scheduling

/// Who a session is, and what it is at, for the log.
extension Session {
    /// Only for the thread that owns the session; others have its `introduction`.
    var identity: Logger.Metadata {
        Self.identity(processID, user: userName, application: state.settings.applicationName, peer)
    }

    static func identity(
        _ processID: Int32, user: String, application: String, _ peer: walpool_peer?, prefix: String = ""
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["\(prefix)session": "\(processID)"]
        if !user.isEmpty { metadata["\(prefix)user"] = "\(user)" }
        if !application.isEmpty { metadata["\(prefix)application"] = "\(application)" }
        identify(peer, in: &metadata, prefix: prefix)
        return metadata
    }

    /// The process that connected.
    static func identify(_ peer: walpool_peer?, in metadata: inout Logger.Metadata, prefix: String = "") {
        guard let peer else { return }
        metadata["\(prefix)peer_pid"] = "\(peer.process)"
        metadata["\(prefix)peer_uid"] = "\(peer.user)"
    }

    /// Whose lines are limited together.
    var limitKey: UInt32 { peer?.user ?? .max }

    func admitsLine(_ kind: EventKind, now: Instant = MonotonicClock.now) -> Bool {
        eventLog.admits(kind, user: limitKey, now: now, server.deadlines)
    }

    // MARK: The statement at hand

    /// A statement's text as the client sent it, and the portal with its parameters, if it has one.
    struct StatementAtHand {
        var sql: UnsafeRawBufferPointer
        var portal: Portal?

        var text: String { LogText.cut(String(decoding: sql, as: UTF8.self), toBytes: LogLimits.sqlBytes) }
    }

    /// The statement of the message that is being handled: such a message is not consumed before it is done. Its text lies
    /// where the message does. nil: there is none, as for Sync.
    var statementAtHand: StatementAtHand? {
        guard case .ready = phase else { return nil }
        if let query = state.query {
            guard query.next < query.statements.count else {
                return StatementAtHand(sql: UnsafeRawBufferPointer(rebasing: input.bytes[query.sql]))
            }
            return StatementAtHand(sql: statementText(query.next, of: query))
        }
        // Its Execute is long gone.
        if let copy = state.copyIn { return StatementAtHand(sql: copy.text.bytes) }
        guard case .message(let type, let range, _) = frame(at: state.inputPosition) else { return nil }
        return try? statement(of: type, UnsafeRawBufferPointer(rebasing: input.bytes[range]))
    }

    private func statement(of type: FrontendMessageType, _ body: UnsafeRawBufferPointer) throws(WireError) -> StatementAtHand? {
        switch type {
        case .execute: return try StatementAtHand(portal(named: ExecuteMessage(body: body).portal))
        case .parse: return try StatementAtHand(sql: ParseMessage(body: body).sql)
        case .query: return try StatementAtHand(sql: QueryMessage(body: body).sql)
        case .bind:
            return try StatementAtHand(sql: statement(named: BindMessage(body: body).statement).query.sent.bytes)
        case .describe:
            let message = try DescribeMessage(body: body)
            guard message.kind == .portal else {
                return try StatementAtHand(sql: statement(named: message.name).query.sent.bytes)
            }
            return try StatementAtHand(portal(named: message.name))
        default: return nil
        }
    }

    // MARK: Parameters

    /// `$1 = 'a', $2 = NULL`, each cut; nil unless they are to be logged.
    func loggedParameters(of portal: Portal?) -> String? {
        guard let portal, portal.parameters.count > 0 else { return nil }
        let configuration = eventLog.configuration
        guard configuration.parameters else { return nil }
        let count = min(portal.parameters.count, LogLimits.parameters)
        var texts = (1...count).map { number in
            "$\(number) = \(Self.literal(portal.parameters.value(number), configuration.parameterMaximumBytes))"
        }
        if portal.parameters.count > count { texts.append("…") }
        return texts.joined(separator: ", ")
    }

    private static func literal(_ value: (format: Format, bytes: UnsafeRawBufferPointer?), _ limit: Int) -> String {
        guard let bytes = value.bytes else { return "NULL" }
        if value.format == .text {
            let start = String(decoding: bytes.prefix(limit + 4), as: UTF8.self)
            return "'\(LogText.cut(start, toBytes: limit))'"
        }
        let digits = bytes.prefix(limit).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "'\\x\(digits)\(bytes.count > limit ? "…" : "")'"
    }
}

extension Session.StatementAtHand {
    init(_ portal: Portal) { self.init(sql: portal.statement.query.sent.bytes, portal: portal) }
}
