import Journal
import Server

extension ManualPage {
    /// walpoold(8).
    public static func daemon(version: String) -> String {
        var page = Roff(title: "walpoold", section: 8, version: version)
        page.section("NAME")
        page.text("walpoold - serves one SQLite database over the PostgreSQL wire protocol")
        page.section("SYNOPSIS")
        page.synopsis("walpoold", "[options] [database]")
        page.section("DESCRIPTION")
        page.text("""
            walpoold owns one SQLite database and serves it to the processes of this machine on a Unix socket. Clients speak \
            the PostgreSQL protocol and SQLite's SQL: psql, libpq, psycopg, asyncpg and others connect to the socket's \
            directory. One connection writes and many read, so that writers take turns instead of failing, share commits, and \
            are never starved.
            """)
        page.paragraph("""
            Settings come from the command line, else from the configuration file, else from defaults. walpoold.toml(5) lists \
            them all.
            """)
        options(&page)
        console(&page)
        log(&page)
        service(&page)
        surroundings(&page)
        return page.source
    }

    private static func options(_ page: inout Roff) {
        page.section("OPTIONS")
        let database = ConfigurationKey.named("database")
        page.item("database", "\(database?.summary ?? ""). \(database?.details ?? "")")
        for option in CommandOption.all {
            let term = option.argument.map { "--\(option.name) \($0)" } ?? "--\(option.name)"
            page.item(term, option.details.isEmpty ? "\(option.summary)." : "\(option.summary). \(option.details)")
        }
    }

    private static func surroundings(_ page: inout Roff) {
        page.section("SIGNALS")
        page.item("SIGHUP", """
            Reads the configuration file again. What can be changed at run time is applied, and the log says key by key what \
            waits for a restart. A file with errors changes nothing.
            """)
        page.item("SIGTERM, SIGINT, SIGQUIT", """
            Stops: no new sessions, running statements may go on for shutdown_timeout, the WAL is copied into the database.
            """)
        page.section("ENVIRONMENT")
        page.item("RUNTIME_DIRECTORY, XDG_RUNTIME_DIR, TMPDIR", "Where the socket's directory is without socket_directory.")
        page.item("SQLITE_TMPDIR", "Where VACUUM makes its copy; without it, beside the database.")
        page.section("FILES")
        page.item(ConfigurationFile.standardPath, "The configuration of the system's service.")
        page.item("DATABASE-wal, DATABASE-shm", "SQLite's own, while the database is open.")
        page.item("DATABASE-maintenance", "When VACUUM ran last.")
        page.section("EXIT STATUS")
        page.text("""
            0 after a stop that was asked for, and after --check-config when all is well; 1 when it cannot start, with what \
            is wrong on standard error, a line each; 74 when the database cannot be served any more after an I/O error, so \
            that a service manager starts it again.
            """)
        page.section("SEE ALSO")
        page.text("walpoold.toml(5), psql(1), sqlite3(1), systemctl(1), journalctl(1)")
    }

    private static func console(_ page: inout Roff) {
        page.section("CONSOLE")
        page.text("""
            The database named walpool, or pgbouncer, is the console: psql -h DIRECTORY walpool. Every role may look with SHOW, \
            admins may also command (walpoold.toml(5), [[access]]). Tables have the columns of PgBouncer's where they mean the \
            same.
            """)
        for (syntax, summary) in ConsoleReference.topics + ConsoleReference.commands { page.item(syntax, "\(summary).") }
    }

    private static func log(_ page: inout Roff) {
        page.section("LOG")
        page.text("""
            Lines go to standard error, or, where that is the journal's (JOURNAL_STREAM), to the journal with fields: who, \
            which statement, how long. MESSAGE_ID says what a line is about; for slow statements, for example:
            """)
        page.verbatim("journalctl -u walpoold MESSAGE_ID=\(EventKind.slowStatement.messageID)")
        for kind in EventKind.allCases { page.item(kind.rawValue, kind.messageID) }
    }

    private static func service(_ page: inout Roff) {
        page.section("AS A SERVICE")
        page.text("""
            walpoold.socket holds /run/walpool/.s.PGSQL.5432 and starts walpoold.service with the first client; walpoold@NAME \
            does the same for /etc/walpool/NAME.toml and /run/walpool/NAME. The service may write to /var/lib/walpool and \
            /var/backups/walpool, and speaks Unix sockets only. What needs more gets it by systemctl edit walpoold:
            """)
        page.paragraph("A database or backups elsewhere:")
        page.verbatim("[Service]\nReadWritePaths=/srv/data")
        page.paragraph("metrics_address:")
        page.verbatim("""
            [Service]
            PrivateNetwork=no
            RestrictAddressFamilies=AF_INET AF_INET6
            IPAddressAllow=localhost
            """)
        page.paragraph("Other groups at the socket, by systemctl edit walpoold.socket:")
        page.verbatim("[Socket]\nSocketGroup=www-data")
    }
}
