import Glibc
import POSIX
import Pool
import PostgresWire
import SQLite
import Scheduling

/// The rows of what the console shows. Each look takes one copy under one lock at a time and holds nobody up: nothing
/// here waits in a queue or reads the database.
extension Server {
    /// - Parameter viewer: who looks; statements of others are for administrators.
    func consoleTable(_ topic: ConsoleTopic, for viewer: Session) -> ConsoleTable {
        var rows = ConsoleTable(topic)
        let now = MonotonicClock.now
        switch topic {
        case .help: showHelp(&rows)
        case .version:
            rows.append([.text("Walpool \(ServerVersion.walpool), SQLite \(SQLiteLibrary.version), protocol 3.2")])
        case .state: showState(&rows)
        case .clients: showClients(&rows, now)
        case .servers: showServers(&rows, now)
        case .sockets, .activeSockets: showSockets(&rows, now, viewer)
        case .pools: showPools(&rows, now)
        case .databases: showDatabases(&rows)
        case .users: showUsers(&rows)
        case .lists: showLists(&rows)
        case .config: showConfiguration(&rows)
        case .mem: showMemory(&rows)
        case .dnsHosts, .dnsZones: break
        case .writer: showWriter(&rows, now, withStatement: (try? viewer.requireAdmin(for: "SHOW WRITER")) != nil)
        case .wal: showWAL(&rows, now)
        case .snapshots: showSnapshots(&rows, now)
        case .maintenance: showMaintenance(&rows)
        case .backups: showBackups(&rows, now)
        case .stats, .statsTotals, .statsAverages, .statements: showStatistics(topic, &rows, now)
        }
        return rows
    }

    private func showHelp(_ rows: inout ConsoleTable) {
        for (syntax, summary) in ConsoleReference.topics + ConsoleReference.commands {
            rows.append([.text(syntax), .text(summary)])
        }
    }

    private func showState(_ rows: inout ConsoleTable) {
        let pause = pool.pause
        let isBeginning = if case .beginning = pause { true } else { false }
        let isComplete = if case .complete = pause { true } else { false }
        let states = [
            ("active", pause == .none), ("paused", isComplete), ("suspended", false), ("pausing", isBeginning),
            ("draining", stopping.isDraining.load(ordering: .relaxed)),
        ]
        for (name, isSo) in states { rows.append([.text(name), .init(isSo)]) }
    }

    private func showBackups(_ rows: inout ConsoleTable, _ now: Instant) {
        for backup in [pool.backups.running, pool.backups.last].compactMap({ $0 }) {
            let status = backup.status
            rows.append([
                .text(backup.name), .text(status.phase.rawValue), .text(UTCTime.text(of: backup.began)),
                .init((status.ended ?? now).milliseconds(since: backup.began)), .init(status.pages),
                .init(status.copiedPages), .init(status.bytes),
                backup.snapshotBegan.map { .init(now.milliseconds(since: $0)) } ?? .null,
                .init(status.error.map { "\($0)" }),
            ])
        }
    }
}

extension UTCTime {
    /// The wall clock at a moment of the monotonic one, as the two stand now.
    static func text(of instant: Instant) -> String {
        text(seconds(of: instant, now: MonotonicClock.now, wallNanoseconds: SystemClock.nanoseconds(CLOCK_REALTIME)))
    }

    /// Rounded once, or a moment would move by a second from look to look.
    static func seconds(of instant: Instant, now: Instant, wallNanoseconds: Int64) -> Int64 {
        (wallNanoseconds &- (now.nanoseconds &- instant.nanoseconds)) / 1_000_000_000
    }
}
