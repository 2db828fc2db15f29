import PostgresWire

/// What SHOW answers. Where a table is PgBouncer's (https://www.pgbouncer.org/usage.html#show-commands), its columns are
/// those of PgBouncer 1.18 in their order, and ours come after them; times are UTC, durations of ours have their unit in
/// the name.
extension ConsoleTopic {
    var columns: [ConsoleTable.Column] {
        switch self {
        case .help: [text("command"), text("description")]
        case .version: [text("version")]
        case .state: [text("key"), text("value")]
        case .clients: Self.connection + [integer("id"), text("transaction"), text("waits_for"), integer("uid")]
        case .servers: Self.connection + [integer("snapshot_ms")]
        case .sockets, .activeSockets:
            Self.connection
                + ["recv_pos", "pkt_pos", "pkt_remain", "send_pos", "send_remain", "pkt_avail", "send_avail"].map(integer)
        case .pools: Self.pool
        case .databases: Self.database
        case .users: [text("name"), text("pool_mode")]
        case .lists: [text("list"), integer("items")]
        case .config: [text("key"), text("value"), text("default"), text("changeable")]
        case .mem: [text("name"), integer("size"), integer("used"), integer("free"), integer("memtotal")]
        case .dnsHosts: [text("hostname"), integer("ttl"), text("addrs")]
        case .dnsZones: [text("zonename"), integer("serial"), integer("count")]
        case .writer:
            [
                integer("place"), integer("client"), text("user"), text("purpose"), integer("since_ms"),
                integer("idle_ms"), text("since"), text("statement"), text("blocked_by"),
            ]
        case .wal, .maintenance: [text("name"), text("value")]
        case .snapshots: [integer("client"), text("user"), text("owner"), integer("age_ms")]
        case .backups:
            [
                text("name"), text("state"), text("started"), integer("duration_ms"), integer("pages"),
                integer("pages_copied"), integer("bytes"), integer("snapshot_ms"), text("error"),
            ]
        case .stats, .statsTotals, .statsAverages, .statements: statisticsColumns
        }
    }

    /// Of a client or of a server: PgBouncer's columns of SHOW CLIENTS, SERVERS and SOCKETS.
    private static let connection = [
        text("type"), text("user"), text("database"), text("state"), text("addr"), integer("port"), text("local_addr"),
        integer("local_port"), text("connect_time"), text("request_time"), integer("wait"), integer("wait_us"),
        integer("close_needed"), text("ptr"), text("link"), integer("remote_pid"), text("tls"), text("application_name"),
    ]

    private static let pool =
        [text("database"), text("user")]
        + [
            "cl_active", "cl_waiting", "cl_active_cancel_req", "cl_waiting_cancel_req", "sv_active", "sv_active_cancel",
            "sv_being_canceled", "sv_idle", "sv_used", "sv_tested", "sv_login", "maxwait", "maxwait_us",
        ].map(integer)
        + [
            text("pool_mode"), integer("sessions"), integer("readers_limit"), text("writer"), integer("writer_queue"),
            integer("reader_queue"),
        ]

    private static let database =
        [text("name"), text("host"), integer("port"), text("database"), text("force_user")]
        + [integer("pool_size"), integer("min_pool_size"), integer("reserve_pool"), text("pool_mode")]
        + ["max_connections", "current_connections", "paused", "disabled"].map(integer)

    private static func text(_ name: String) -> ConsoleTable.Column { ConsoleTable.Column(name: name, type: .text) }
    private static func integer(_ name: String) -> ConsoleTable.Column { ConsoleTable.Column(name: name, type: .int8) }
    private func text(_ name: String) -> ConsoleTable.Column { Self.text(name) }
    private func integer(_ name: String) -> ConsoleTable.Column { Self.integer(name) }
}
