import PostgresWire

/// Looking ahead: has the rest of the transaction arrived already?
///
/// What has arrived whole needs no further message, so it can share a commit with others and can never keep them
/// waiting for its client. What has not keeps the writer until its client has sent the rest.
extension Session {
    enum SegmentShape {
        /// One statement is left to run, and it is the whole transaction.
        case single
        /// Everything up to the transaction's end is here.
        case whole
        case partial
    }

    /// The shape of what follows, the statement at hand included.
    func segmentShape() -> SegmentShape {
        guard state.transaction.savepoints.isEmpty, !isCopyingIn else { return .partial }
        if let query = state.query { return shape(of: query) }
        return shapeOfPipeline()
    }

    /// Follows a transaction through its statements.
    private struct Outlook {
        var isExplicit: Bool
        let hasHeldCursors: Bool
        var statements = 0
        var hasEnded = false
        /// Something comes after the transaction's end: then it is not the last of this segment, and what else comes does not
        /// matter. It is not looked at, or each transaction of a long string would look at all that follow.
        var continues = false

        mutating func meet(_ kind: Query.Kind) {
            if hasEnded {
                continues = true
                return
            }
            statements += 1
            if case .session(let statement) = kind { meet(statement) }
            // Its data comes in messages of their own.
            if case .copy(let copy) = kind, copy.isInput { continues = true }
            if case .transaction(let statement) = kind {
                switch statement {
                case .begin: isExplicit = true
                case .commit(let chain), .rollback(let chain):
                    // Without a block it ends the implicit transaction, and more may follow.
                    if chain || !isExplicit { continues = true }
                    hasEnded = isExplicit
                    isExplicit = false
                // After an error the client may still save what came before a savepoint, so the writer must be kept.
                case .savepoint: continues = true
                default: break
                }
            }
        }

        private mutating func meet(_ statement: SessionStatement) {
            switch statement {
            // What a prepared statement does is looked up only when it is executed.
            case .execute: continues = true
            // A cursor WITH HOLD outlives the group, and where it stands is nothing that a member could go back to.
            case .declare(let cursor): continues = continues || cursor.holds
            case .fetch: continues = continues || hasHeldCursors
            default: break
            }
        }

        var shape: SegmentShape {
            if isExplicit || continues { return .partial }
            return statements == 1 && !hasEnded ? .single : .whole
        }
    }

    private func shape(of query: SessionState.RunningQuery) -> SegmentShape {
        if query.next == query.statements.count - 1 && !state.transaction.isExplicit {
            let head = StatementHead(statementText(query.next, of: query))
            if [.insert, .update, .delete, .replace, .create, .drop, .alter].contains(head.main) { return .single }
        }
        // To look at all of a long one would keep others waiting. It has the writer for itself then, which it needs for long anyway.
        guard query.statements.count - query.next <= SessionLimits.scannedMessages,
            query.sql.count <= server.configuration.connection.sqlLengthLimitBytes
        else { return .partial }
        var outlook = Outlook(isExplicit: state.transaction.isExplicit, hasHeldCursors: hasHeldCursors)
        for index in query.next..<query.statements.count {
            guard let parsed = try? server.registry.query(statementText(index, of: query), state.settings.likeEscape) else {
                return .partial
            }
            outlook.meet(parsed.kind)
            if outlook.continues { return .partial }
        }
        return outlook.shape
    }

    private func shapeOfPipeline() -> SegmentShape {
        var outlook = Outlook(isExplicit: state.transaction.isExplicit, hasHeldCursors: hasHeldCursors)
        var statements = Named()
        var portals = Named()
        var position = state.inputPosition
        for _ in 0..<SessionLimits.scannedMessages {
            guard case .message(let type, let range, let next) = frame(at: position) else { return .partial }
            let body = UnsafeRawBufferPointer(rebasing: input.bytes[range])
            switch type {
            case .sync:
                return outlook.shape
            case .execute:
                guard let message = try? ExecuteMessage(body: body),
                    let query = executed(message.portal, portals)
                else { return .partial }
                if outlook.hasHeldCursors, !message.portal.isEmpty { return .partial }
                outlook.meet(query.kind)
                if outlook.continues { return .partial }
            case .parse:
                guard let message = try? ParseMessage(body: body), (try? requireLength(ofText: message.sql)) != nil,
                    let sql = Self.onlyStatement(message.sql),
                    let query = try? server.registry.query(sql, state.settings.likeEscape)
                else { return .partial }
                statements.set(message.name, query)
            case .bind:
                guard let message = try? BindMessage(body: body) else { return .partial }
                guard let query = statements[message.statement] ?? statement(message.statement)?.query else { return .partial }
                portals.set(message.portal, query)
            case .describe, .close, .flush:
                break
            default:
                return .partial
            }
            position = next
        }
        return .partial
    }

    private func statement(_ name: UnsafeRawBufferPointer) -> PreparedStatement? {
        name.isEmpty ? state.unnamedStatement : state.statements.named(name)
    }

    private func executed(_ name: UnsafeRawBufferPointer, _ portals: Named) -> Query? {
        if let query = portals[name] { return query }
        return (name.isEmpty ? state.unnamedPortal : state.portals[ExactName(String(decoding: name, as: UTF8.self))])?.statement.query
    }

    /// What the messages ahead will have named. Most give no name, and then nothing is looked up.
    private struct Named {
        private var unnamed: Query?
        private var named: [ExactName: Query] = [:]

        mutating func set(_ name: UnsafeRawBufferPointer, _ query: Query) {
            if name.isEmpty { unnamed = query } else { named[ExactName(String(decoding: name, as: UTF8.self))] = query }
        }

        subscript(_ name: UnsafeRawBufferPointer) -> Query? {
            if name.isEmpty { return unnamed }
            return named.isEmpty ? nil : named[ExactName(String(decoding: name, as: UTF8.self))]
        }
    }
}
