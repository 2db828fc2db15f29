import Glibc
import POSIX
import Pool
import Scheduling

/// The metrics about the files: the database, the WAL, what keeps it from being emptied, upkeep, backups, and the caches.
extension Server {
    func writeFiles(_ page: inout Exposition, _ now: Instant) {
        let wal = pool.walStatus
        let history = wal.checkpoints
        let snapshots = pool.snapshots
        page.gauge("walpool_database_size_bytes", "The database file's size.", unit: .bytes, Self.bytes(ofFile: configuration.databasePath))
        page.gauge(
            "walpool_wal_size_bytes", "What the WAL holds, copied into the database or not.", unit: .bytes, wal.frames * wal.frameBytes)
        page.gauge(
            "walpool_wal_file_size_bytes", "The -wal file's size, which later commits write over from its beginning.", unit: .bytes,
            walFileBytes)
        page.gauge(
            "walpool_wal_uncopied_bytes", "What the WAL holds that no checkpoint has copied into the database.", unit: .bytes,
            max(0, wal.frames - wal.copiedFrames) * wal.frameBytes)
        page.gauge("walpool_wal_limit_bytes", "The size the WAL does not outgrow (wal_limit_bytes).", unit: .bytes, wal.limitBytes)
        page.counter(
            "walpool_checkpoints", "Checkpoints by result; an incomplete one left something in the WAL.",
            samples: [
                (["result": "complete"], Double(history.completed)), (["result": "incomplete"], Double(history.incomplete)),
                (["result": "failed"], Double(history.failed)),
            ])
        page.durations("walpool_checkpoint_duration_seconds", "How long checkpoints took.", pool.statistics.checkpoints)
        page.gauge("walpool_gate_closed", "1 while new reads wait because the WAL must be emptied.", wal.isGateClosed ? 1 : 0)
        page.counter("walpool_gate_closings", "How often new reads had to wait because the WAL had to be emptied.", history.gateClosings)
        page.gauge("walpool_snapshots", "Snapshots that clients and backups keep.", snapshots.count)
        page.gauge(
            "walpool_snapshot_oldest_age_seconds", "The age of the oldest of them; 0 when there is none.", unit: .seconds,
            samples: [([:], snapshots.map { Double(now.nanoseconds &- $0.began.nanoseconds) / 1e9 }.max().map { max(0, $0) } ?? 0)])
        page.counter("walpool_snapshots_ended", "Snapshots ended because they kept the WAL from being emptied.", history.snapshotsEnded)
        page.counter("walpool_recoveries", "How often the database was opened anew after an I/O error.", pool.statistics.recoveries)
        writeMaintenance(&page)
        writeBackups(&page)
    }

    /// With what a checkpoint or a rolled-back transaction has left in it.
    var walFileBytes: Int { Self.bytes(ofFile: (Directory.resolved(configuration.databasePath) ?? configuration.databasePath) + "-wal") }

    private static func bytes(ofFile path: String) -> Int {
        var file = stat()
        return stat(path, &file) == 0 ? Int(file.st_size) : 0
    }

    private func writeMaintenance(_ page: inout Exposition) {
        let statistics = pool.statistics
        let status = pool.maintenanceStatus
        let success = status.record?.lastSuccess
        let isRunning = if case .running = status.activity { true } else { false }
        page.counter(
            "walpool_vacuums", "VACUUMs since the start, by result.",
            samples: [
                (["result": "succeeded"], Double(statistics.vacuumsSucceeded)),
                (["result": "failed"], Double(statistics.vacuumsFailed)),
            ])
        page.gauge("walpool_vacuum_running", "1 while VACUUM runs.", isRunning ? 1 : 0)
        page.gauge(
            "walpool_vacuum_last_success_timestamp_seconds", "When VACUUM last succeeded, in seconds since 1970; 0 for never.",
            unit: .seconds, Int(success?.at ?? 0))
        page.gauge(
            "walpool_vacuum_last_duration_seconds", "How long that took.", unit: .seconds,
            samples: [([:], Double(success?.durationMilliseconds ?? 0) / 1000)])
        page.gauge(
            "walpool_vacuum_last_freed_bytes", "By how much it made the file shorter.", unit: .bytes, Int(success?.bytesFreed ?? 0))
        page.gauge(
            "walpool_vacuum_next_timestamp_seconds", "When the next is due, in seconds since 1970; 0 when it is off.",
            unit: .seconds, Int(status.nextDue ?? 0))
    }

    private func writeBackups(_ page: inout Exposition) {
        let counts = pool.backups.counts
        page.counter(
            "walpool_backups", "Backups since the start, by result.",
            samples: [(["result": "succeeded"], Double(counts.succeeded)), (["result": "failed"], Double(counts.failed))])
        page.gauge("walpool_backup_running", "1 while a backup is made.", pool.backups.running == nil ? 0 : 1)
        page.gauge(
            "walpool_backup_last_success_timestamp_seconds",
            "When the last backup since the start succeeded, in seconds since 1970; 0 for none.", unit: .seconds,
            Int(counts.lastSuccess?.at ?? 0))
        page.gauge(
            "walpool_backup_last_duration_seconds", "How long that took.", unit: .seconds,
            samples: [([:], Double(counts.lastSuccess?.durationMilliseconds ?? 0) / 1000)])
        page.gauge("walpool_backup_last_size_bytes", "What is in it.", unit: .bytes, counts.lastSuccess?.bytes ?? 0)
    }

    func writeCaches(_ page: inout Exposition) {
        let statistics = pool.statistics
        let connections: [(String, ConnectionUsage)] = [
            ("reader", statistics.readerConnections), ("writer", statistics.writerConnection),
        ]
        func samples(_ count: (ConnectionUsage) -> Int) -> [(labels: Exposition.Labels, value: Double)] {
            connections.map { (["connection": $0.0], Double(count($0.1))) }
        }
        page.counter("walpool_statement_cache_hits", "Statements that were found prepared.", samples: samples(\.statementHits))
        page.counter("walpool_statement_cache_misses", "Statements that had to be prepared.", samples: samples(\.statementMisses))
        page.counter(
            "walpool_page_cache_hits", "Pages that were found in a connection's cache; those a reader has mapped are not counted.",
            samples: samples(\.pageHits))
        page.counter(
            "walpool_page_cache_misses", "Pages that had to be read; those a reader has mapped are not counted.",
            samples: samples(\.pageMisses))
        page.counter("walpool_page_cache_writes", "Pages that were written.", samples: samples(\.pageWrites))
        page.gauge("walpool_page_cache_size_bytes", "Memory of all page caches.", unit: .bytes, statistics.pageCacheBytes)
    }
}
