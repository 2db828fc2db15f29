import CLinux
import Glibc
import Pool
import SQLite
import Scheduling

/// The metrics of OpenMetrics' page: all names and what they mean. Each look copies under one lock at a time.
extension Server {
    /// - Parameter worker: runs who waited for a connection that was looked at.
    func metricsText(_ format: ExpositionFormat, _ worker: Worker?) -> String {
        metrics.scrapes.wrappingAdd(1, ordering: .relaxed)
        collect(worker)
        let now = MonotonicClock.now
        var page = Exposition(format)
        writeSessions(&page)
        writeStatements(&page)
        writeQueues(&page, now)
        writeFiles(&page, now)
        writeCaches(&page)
        page.end()
        return page.text
    }

    /// Has every connection tell what it has counted.
    func collect(_ worker: Worker?) {
        for resumption in pool.collect() {
            if let worker { worker.enqueue(resumption) } else { ready.enqueue(resumption) }
        }
    }

    /// The timer: averages are taken once a minute, and SQLite's counters have 32 bits.
    func endStatisticsPeriod(_ worker: Worker, now: Instant) {
        collect(worker)
        metrics.endPeriodIfDue(now: now)
    }

    private func writeSessions(_ page: inout Exposition) {
        let sum = metrics.sum
        let view = pool.view
        let waiting = Set((view.writerQueue + view.readerQueue).map(\.client))
        var states = ["active": 0, "idle": 0, "starting": 0, "waiting": 0]
        for session in table.sessions {
            let isActive = session.activity.load(ordering: .relaxed).isStatement
            let state =
                session.introduction == nil
                ? "starting"
                : waiting.contains(session.clientID) ? "waiting" : isActive ? "active" : "idle"
            states[state, default: 0] += 1
        }
        page.gauge(
            "walpool_build_info", "The versions of Walpool and SQLite; always 1.",
            samples: [(["version": ServerVersion.walpool, "sqlite": SQLiteLibrary.version], 1)])
        page.gauge(
            "walpool_start_time_seconds", "When the daemon was started, in seconds since 1970.", unit: .seconds,
            metrics.startedWallSeconds)
        let reload = reloading.last.withLock { $0 }
        page.gauge(
            "walpool_config_last_reload_successful",
            "0 while the configuration file, as it was last read, is refused: the next start would not take it; else 1.",
            reload.isRefused ? 0 : 1)
        page.gauge(
            "walpool_config_last_reload_success_timestamp_seconds",
            "When the configuration file was last taken, at the start or since, in seconds since 1970.", unit: .seconds,
            reload.takenWallSeconds)
        page.gauge(
            "walpool_sessions", "Sessions by what they are doing: starting, idle, active, or waiting for a connection.",
            samples: states.sorted { $0.key < $1.key }.map { (["state": $0.key], Double($0.value)) })
        page.gauge(
            "walpool_sessions_limit", "Sessions that are admitted at a time (max_sessions).", current { $0.maximumSessions })
        page.counter("walpool_connections", "Connections that were accepted.", sum[.sessions])
        page.counter(
            "walpool_scrapes", "How often these metrics were asked for, this time included.", metrics.scrapes.load(ordering: .relaxed))
        page.counter(
            "walpool_received_bytes", "Bytes received from clients, and from those who look: the console, these metrics.", unit: .bytes,
            sum[.receivedBytes] + sum[.lookingReceivedBytes])
        page.counter(
            "walpool_sent_bytes", "Bytes sent to clients, and to those who look.", unit: .bytes,
            sum[.sentBytes] + sum[.lookingSentBytes])
    }

    private func writeStatements(_ page: inout Exposition) {
        let sum = metrics.sum
        page.counter(
            "walpool_statements", "Statements that were run, by kind; a session answers transaction and session by itself.",
            samples: StatementKind.allCases.map { (["kind": $0.name], Double(sum[$0])) })
        page.durations(
            "walpool_statement_duration_seconds",
            "How long statements took that SQLite ran, without waiting in a queue and without the commit.", sum.statementDurations)
        page.counter("walpool_rows", "Rows returned to clients.", sum[.rows])
        page.counter("walpool_transactions", "Transactions that ended, well or not.", sum[.transactions])
        page.counter(
            "walpool_transaction_seconds", "Time in transactions, idle in them or not.", unit: .seconds,
            samples: [([:], Double(sum[.transactionNanoseconds]) / 1e9)])
        page.counter(
            "walpool_query_seconds", "Time spent answering clients, without waiting in a queue.", unit: .seconds,
            samples: [([:], Double(sum[.queryNanoseconds]) / 1e9)])
        page.counter(
            "walpool_wait_seconds", "Time clients waited in a queue for the writer or a reader.", unit: .seconds,
            samples: [([:], Double(sum[.waitNanoseconds]) / 1e9)])
        page.counter(
            "walpool_errors", "Errors that clients were told, by SQLSTATE.",
            samples: metrics.errorsByState.map { (["sqlstate": $0.state], Double($0.count)) })
    }

    private func writeQueues(_ page: inout Exposition, _ now: Instant) {
        let view = pool.view
        let statistics = pool.statistics
        let usage = statistics.writer
        page.gauge(
            "walpool_queue_length", "Clients that wait for the writer or for a reader.",
            samples: [
                (["connection": "writer"], Double(view.writerQueue.count { $0.purpose != .job })),
                (["connection": "reader"], Double(view.readerQueue.count)),
            ])
        page.gauge("walpool_paused", "1 while the console's PAUSE holds new transactions back.", pool.isPausingNow ? 1 : 0)
        page.gauge(
            "walpool_longest_wait_seconds", "How long the client has waited that has waited longest.", unit: .seconds,
            samples: [([:], Double(view.longestWaitMilliseconds(now: now)) / 1000)])
        page.durations("walpool_writer_wait_seconds", "From asking for the writer to having it.", usage.waits)
        page.durations(
            "walpool_writer_hold_seconds", "From having the writer to giving it back, by who had it.",
            samples: [
                (["holder": "group"], usage.groupHolds), (["holder": "transaction"], usage.transactionHolds),
                (["holder": "job"], usage.jobHolds),
            ])
        page.histogram(
            "walpool_group_transactions", "Transactions that shared a commit.", divisor: 1, samples: [([:], usage.groupMembers)])
        page.durations(
            "walpool_commit_seconds", "How long SQLite's COMMIT took; with synchronous = full that includes the sync.",
            statistics.commits)
        page.counter(
            "walpool_writer_evictions", "Transactions ended because they kept the writer idle while others waited.",
            metrics.evictions.load(ordering: .relaxed))
        page.counter(
            "walpool_busy_retries", "Milliseconds-long pauses in which the writer waited for another process's lock.",
            statistics.outsiderWaitMilliseconds)
        page.gauge(
            "walpool_readers", "Open read-only connections by whether somebody has them.",
            samples: [
                (["state": "active"], Double(view.readersInUse)),
                (["state": "idle"], Double(view.readersOpen - view.readersInUse)),
            ])
        page.gauge("walpool_readers_limit", "Read-only connections there may be (readers).", view.readersLimit)
        page.counter(
            "walpool_reader_evictions", "Snapshots ended because they kept a reader idle while others waited for one.",
            metrics.readerEvictions.load(ordering: .relaxed))
        page.durations(
            "walpool_reader_wait_seconds", "How long clients waited for a reader that found none idle.", metrics.sum.readerWaits)
    }
}
