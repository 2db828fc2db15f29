import Server

extension ConfigurationKey {
    static let upkeep: [ConfigurationKey] = [
        vacuumInterval,
        vacuumWindow,
        .integer(
            "vacuum_min_free", \.server.pool.maintenance.minimumFreePercent, 0...99, unit: "per cent", .reload,
            "Share of free pages below which VACUUM is not worth it; 0: any free page is"),
        .boolean(
            "vacuum_analyze", \.server.pool.analyzesAlways, .reload,
            "ANALYZE before VACUUM also where there are no statistics yet",
            details: "That adds the table sqlite_stat1 to the schema. Where there are statistics they are always renewed."),
        .text(
            "backup_directory", \.server.backupDirectory, form: "a directory's path", defaultInWords: "none",
            example: "/var/backups/walpool", .reload, "Where the console's BACKUP puts its files",
            details: "Without it there are no backups. The daemon's user must be able to write there."),
    ]

    /// The longest interval: what is due less often than that is better asked for.
    private static let longestVacuumIntervalMilliseconds: Int64 = 366 * 86_400_000

    private static let vacuumInterval = ConfigurationKey(
        "vacuum_interval", form: "0, or a time from 1s to 366d", change: .reload, "From one VACUUM to the next; 0: never",
        value: { ConfigurationValue(milliseconds: $0.server.pool.maintenance.intervalSeconds * 1000) },
        set: { (name, value, settings) throws(StartError) in
            let milliseconds = try time(name, value, upTo: longestVacuumIntervalMilliseconds)
            // Stored times are seconds.
            guard milliseconds == 0 || milliseconds >= 1000 else {
                throw wrong(name, "0 (never) or at least a second, such as \"7d\"", value)
            }
            settings.server.pool.maintenance.intervalSeconds = milliseconds / 1000
        })

    private static let vacuumWindow = ConfigurationKey(
        "vacuum_window", form: "\"any\", or days and hours such as \"Sat,Sun 23:00-05:00\"", change: .reload,
        "When VACUUM may begin, in local time",
        details: """
            "any", "daily 02:00-04:00", "Sun 03:00-05:00", "Sat,Sun 23:00-01:00". The days are those on which the window \
            opens. What has begun is not stopped when it closes.
            """,
        value: { .string("\($0.server.pool.maintenance.window)") },
        set: { (name, value, settings) throws(StartError) in
            guard case .string(let text) = value else { throw wrong(name, "a string", value) }
            guard let window = ServerConfiguration.Window(text) else {
                throw wrong(name, "\"any\", \"daily 02:00-04:00\", or days such as \"Sat,Sun 23:00-05:00\"", value)
            }
            settings.server.pool.maintenance.window = window
        })
}
