import POSIX
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
            ("bytes", .init(status.frames * status.frameBytes)), ("file_bytes", .init(walFileBytes)),
            ("limit_bytes", .init(status.limitBytes)),
            ("gate_closed", .init(status.isGateClosed)),
            ("checkpoints_complete", .init(history.completed)), ("checkpoints_incomplete", .init(history.incomplete)),
            ("checkpoints_failed", .init(history.failed)), ("gate_closings", .init(history.gateClosings)),
            ("snapshots_ended", .init(history.snapshotsEnded)),
        ]
        if let last = history.last {
            values += [
                ("last_checkpoint", .text(UTCTime.text(of: last.ended))),
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

    func showMaintenance(_ rows: inout ConsoleTable) {
        let status = pool.maintenanceStatus
        var values: [(String, ConsoleTable.Value)] = [("activity", .text(Self.describe(status.activity)))]
        if case .running(let milliseconds, let percent) = status.activity {
            values.append(("running_ms", .init(milliseconds)))
            if let percent { values.append(("copied_percent", .init(percent))) }
        }
        values += [
            ("interval_s", .init(status.configuration.intervalSeconds)),
            ("minimum_free_percent", .init(status.configuration.minimumFreePercent)),
        ]
        if let due = status.nextDue { values.append(("next_due", .text(UTCTime.text(due)))) }
        if let record = status.record {
            values.append(("base", .text(UTCTime.text(record.base))))
            if let success = record.lastSuccess {
                values += [
                    ("last_success", .text(UTCTime.text(success.at))),
                    ("last_success_ms", .init(success.durationMilliseconds)),
                    ("last_success_bytes_freed", .init(success.bytesFreed)),
                ]
            }
            if let failure = record.lastFailure {
                values += [
                    ("last_failure", .text(UTCTime.text(failure.at))), ("last_failure_reason", .text(failure.reason)),
                ]
            }
        }
        for (name, value) in values { rows.append([.text(name), value.asText]) }
    }

    private static func describe(_ activity: MaintenanceStatus.Activity) -> String {
        switch activity {
        case .queued: "waits for the writer"
        case .running: "running"
        case .shrinking: "done; the file gets shorter once no older snapshot is left"
        case .queuedBehindShrinking: "waits until the last one's file gets shorter, once no older snapshot is left"
        case .waiting(let waiting):
            switch waiting {
            case .off: "off"
            case .clockToSettle: "waits for the clock to settle"
            case .interval: "waits for the interval to pass"
            case .window: "waits for its window"
            case .moreFreePages: "waits for more free pages"
            case .retry: "waits before it tries again"
            }
        }
    }
}
