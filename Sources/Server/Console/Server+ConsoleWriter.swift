import POSIX
import Pool
import Scheduling

/// SHOW WRITER: who has the writer, since when and with what, and who waits for it.
extension Server {
    /// By client number.
    var userNames: [ClientID: String] {
        var names: [ClientID: String] = [:]
        for session in table.sessions { names[session.clientID] = session.introduction?.user }
        return names
    }

    func showWriter(_ rows: inout ConsoleTable, _ now: Instant, withStatement: Bool) {
        let view = pool.view
        let users = userNames
        let since: [ConsoleTable.Value] = [.text(UTCTime.text(of: view.holderSince))]
        let age = ConsoleTable.Value(now.milliseconds(since: view.holderSince))
        let blocker: ConsoleTable.Value = view.outsiderWaitBegan == nil ? .null : "another process"
        switch view.holder {
        case .nobody: break
        case .group:
            let member = longMember.withLock { $0 }
            rows.append(
                [
                    .init(0), member.map { .init($0.client) } ?? .null, .init(member.flatMap { users[$0.client] }), "group", age,
                    .null,
                ] + since + [withStatement ? .init(member?.statement) : .null, blocker])
        case .transaction(let client, _, let idleSince):
            rows.append(
                [
                    .init(0), .init(client), .init(users[client]), "transaction", age,
                    idleSince.map { .init(now.milliseconds(since: $0)) } ?? .null,
                ] + since + [withStatement ? .init(holderStatementText(client)) : .null, blocker])
        case .job(let client):
            rows.append([.init(0), .null, .null, .text(Self.describeJob(client)), age, .null] + since + [.null, blocker])
        }
        for (index, waiter) in view.writerQueue.enumerated() {
            let isJob = waiter.purpose == .job
            rows.append([
                .init(index + 1), isJob ? .null : .init(waiter.client), .init(users[waiter.client]),
                .text(isJob ? Self.describeJob(waiter.client) : Self.describe(waiter.purpose)),
                .init(now.milliseconds(since: waiter.since)), .null, .text(UTCTime.text(of: waiter.since)), .null, .null,
            ])
        }
    }

    static func describe(_ holder: WriterQueue.Holder) -> String {
        switch holder {
        case .nobody: "free"
        case .group: "group"
        case .transaction(let client, _, _): "client \(client)"
        case .job(let client): describeJob(client)
        }
    }

    static func describeJob(_ client: ClientID) -> String { WriterJob(client: client).map { "\($0)" } ?? "job" }

    private static func describe(_ purpose: WriterQueue.Purpose?) -> String { purpose.map { "\($0)" } ?? "" }
}
