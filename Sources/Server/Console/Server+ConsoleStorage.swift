import Pool
import Scheduling

/// The tables about the files: the WAL, and the snapshots that keep it from being emptied.
extension Server {
    func showWAL(_ rows: inout ConsoleTable, _ now: Instant) {
        let status = pool.walStatus
        let history = status.checkpoints
        let oldest = pool.snapshots.min { $0.began < $1.began }
        var values: [(String, ConsoleTable.Value)] = [
            ("frames", .init(status.frames)), ("frames_copied", .init(status.copiedFrames)),
            ("bytes", .init(status.frames * status.frameBytes)), ("limit_bytes", .init(status.limitBytes)),
            ("gate_closed", .init(status.isGateClosed)),
            ("checkpoints_complete", .init(history.completed)), ("checkpoints_incomplete", .init(history.incomplete)),
            ("checkpoints_failed", .init(history.failed)), ("gate_closings", .init(history.gateClosings)),
            ("snapshots_ended", .init(history.snapshotsEnded)),
        ]
        if let last = history.last {
            values += [
                ("last_checkpoint", .text(UTCTime.text(of: last.ended, now: now))),
                ("last_checkpoint_mode", .text("\(last.mode)")),
                ("last_checkpoint_result", .text(Self.describe(last))),
                ("last_checkpoint_ms", .init(last.milliseconds)),
            ]
        }
        if let oldest {
            values += [
                ("oldest_snapshot_ms", .init(now.milliseconds(since: oldest.began))),
                ("oldest_snapshot_owner", .text(oldest.client.map { "client \($0)" } ?? "backup")),
            ]
        }
        for (name, value) in values { rows.append([.text(name), value.asText]) }
    }

    static func describe(_ outcome: CheckpointHistory.Outcome) -> String {
        guard !outcome.isComplete else { return "complete" }
        return "\(outcome.copiedFrames) of \(outcome.frames) frames copied" + (outcome.isBusy ? ", busy" : "")
    }

    func showSnapshots(_ rows: inout ConsoleTable, _ now: Instant) {
        let users = userNames
        for snapshot in pool.snapshots.sorted(by: { $0.began < $1.began }) {
            rows.append([
                snapshot.client.map { .init($0) } ?? .null, .init(snapshot.client.flatMap { users[$0] }),
                snapshot.client == nil ? "backup" : "client", .init(now.milliseconds(since: snapshot.began)),
            ])
        }
    }
}
