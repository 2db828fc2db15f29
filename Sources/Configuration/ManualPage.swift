/// The manual pages walpoold(8) and walpoold.toml(5), in man(7)'s macros, from the texts that --help and the example file
/// have too.
package enum ManualPage {
    /// walpoold(8).
    package static func daemon(version: String) -> String {
        var page = Roff(title: "walpoold", section: 8, version: version)
        page.section("NAME")
        page.text("walpoold - serves one SQLite database over the PostgreSQL wire protocol")
        page.section("SYNOPSIS")
        page.synopsis("walpoold", "[options] [database]")
        page.section("DESCRIPTION")
        page.text(
            """
            walpoold owns one SQLite database and serves it to the processes of this machine on a Unix socket. Clients speak \
            the PostgreSQL protocol and SQLite's SQL: psql, libpq, psycopg, asyncpg and others connect to the socket's \
            directory. One connection writes and many read, so that writers take turns instead of failing, share commits, and \
            are never starved.
            """)
        page.paragraph(
            """
            Settings come from the command line, else from the configuration file, else from defaults. walpoold.toml(5) lists \
            them all.
            """)
        options(&page)
        console(&page)
        log(&page)
        signals(&page)
        environment(&page)
        files(&page)
        service(&page)
        exitStatus(&page)
        page.section("SEE ALSO")
        page.text("walpoold.toml(5), psql(1), sqlite3(1), systemctl(1), journalctl(1)")
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

    private static func signals(_ page: inout Roff) {
        page.section("SIGNALS")
        page.item(
            "SIGHUP",
            """
            Reads the configuration file again. What can be changed at run time is applied, and the log says key by key what \
            waits for a restart. A file with errors changes nothing.
            """)
        page.item(
            "SIGTERM, SIGINT, SIGQUIT",
            """
            Stops: no new sessions, running statements may go on for shutdown_timeout, the WAL is copied into the database. \
            A second one ends the statements at once.
            """)
        page.item("SIGUSR1, SIGUSR2", "Nothing, but a line in the log: the console has PAUSE and RESUME.")
    }

    private static func environment(_ page: inout Roff) {
        page.section("ENVIRONMENT")
        page.item("RUNTIME_DIRECTORY, XDG_RUNTIME_DIR, TMPDIR", "Where the socket's directory is without socket_directory.")
        page.item("SQLITE_TMPDIR", "Where SQLite's temporary files are, VACUUM's copy above all; without it, beside the database.")
        page.item("STATE_DIRECTORY", "Where a service's database is, as NAME.db, if nothing else says where.")
        page.item(
            "LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES",
            """
            Sockets that the service manager has opened: sd_listen_fds(3). Without them the daemon makes its own.
            """)
        page.item(
            "NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID",
            """
            Where the service manager is told how things are, and how often it wants to be: sd_notify(3), \
            sd_watchdog_enabled(3).
            """)
        page.item("JOURNAL_STREAM", "Says that standard error is the journal's, which gets the log with its fields then.")
    }

    private static func files(_ page: inout Roff) {
        page.section("FILES")
        page.item(ConfigurationFile.standardPath, "The configuration of the system's service.")
        page.item(
            "DATABASE-wal, DATABASE-shm",
            """
            SQLite's own. A stop removes them, unless another process has the database open, or the last checkpoint fails, on a \
            full disk for one, which the log says. Then they stay, as after a kill, and the -wal holds what was committed since \
            the checkpoint before: the database is not whole without it. Nobody may delete them.
            """)
        page.item("DATABASE-maintenance", "When VACUUM ran last.")
    }

    private static func exitStatus(_ page: inout Roff) {
        page.section("EXIT STATUS")
        page.text(
            """
            0 after a stop that was asked for, also where its last checkpoint failed, and after --check-config when all is well; \
            78 when the configuration or the command line is wrong, with all that is wrong on standard error, a line each; so \
            --check-config ends for a directory that is missing or not writable, too; 1 when it cannot start for another reason, \
            such a directory among them, or cannot write to standard output; 74 when the database cannot be served any more after an I/O error, so \
            that a service manager starts it again.
            """)
    }

    /// What the unit files do, and what needs more than the configuration file.
    private static func service(_ page: inout Roff) {
        page.section("SYSTEMD")
        page.text(
            """
            walpoold.socket listens on /run/walpool/.s.PGSQL.5432, for members of the group walpool; the first client starts \
            walpoold.service, which runs as the user walpool. For each further database there are walpoold@NAME.socket and \
            walpoold@NAME.service, with /etc/walpool/NAME.toml, /run/walpool/NAME and /var/lib/walpool/NAME. The keys \
            socket_directory, port and socket_mode count only where the socket unit is masked.
            """)
        page.paragraph(
            """
            The service may write nothing but its directories and /var/backups/walpool, and sees no network. What lies \
            elsewhere must belong to the user walpool and needs a drop-in (systemctl edit walpoold.service):
            """)
        page.verbatim(
            """
            [Service]
            ReadWritePaths=/srv/databases
            """)
        page.paragraph("For files below /home, also:")
        page.verbatim(
            """
            [Service]
            ProtectHome=no
            """)
        page.paragraph("For metrics_address:")
        page.verbatim(
            """
            [Service]
            PrivateNetwork=no
            IPAddressAllow=localhost
            RestrictAddressFamilies=AF_INET AF_INET6
            """)
        page.paragraph(
            """
            Another group may connect with SocketGroup= in a drop-in for walpoold.socket (systemctl edit walpoold.socket). \
            It holds when both units have been stopped and the socket is started again.
            """)
    }

    /// walpoold.toml(5).
    package static func file(version: String) -> String {
        var page = Roff(title: "walpoold.toml", section: 5, version: version)
        page.section("NAME")
        page.text("walpoold.toml - configuration of walpoold(8)")
        page.section("DESCRIPTION")
        page.text(
            """
            The file is TOML, in UTF-8. An unknown key, a value of the wrong type and a value that is impossible are errors, \
            and all of them are told at once, with their lines; walpoold --check-config looks for them without starting \
            anything. An option of the command line wins over the file.
            """)
        page.paragraph(
            """
            Times are milliseconds, or strings with a unit (us, ms, s, min, h, d), such as "500ms" or "7d".
            """)
        page.paragraph(
            """
            SIGHUP and the console's RELOAD read the file again. Most keys change then; of some, it is said with them, new \
            sessions begin with the new value, and some wait for a restart. A file with errors changes nothing.
            """)
        for group in ConfigurationKey.groups {
            page.section(group.title.uppercased())
            for key in group.keys { page.item(key.name, key.purpose, key.usage) }
        }
        for section in ConfigurationSection.all {
            page.section("[[\(section.name)]]")
            page.text("\(section.summary). \(section.details)\(section.change.words.map { " " + $0 } ?? "")")
            for key in section.keys { page.item(key.name, "\(key.summary). Takes \(key.form).") }
            page.paragraph("For example:")
            page.verbatim(section.example)
        }
        page.section("FILES")
        page.item(ConfigurationFile.standardPath, "Read when walpoold is given neither --config nor a database.")
        page.section("SEE ALSO")
        page.text("walpoold(8)")
        return page.source
    }
}

extension ConfigurationKey {
    fileprivate var purpose: String { details.isEmpty ? "\(summary)." : "\(summary). \(details)" }

    fileprivate var usage: String {
        var sentences = ["Takes \(form)."]
        sentences.append("Default: \(defaultInWords ?? defaultValue?.text ?? "none").")
        if let option { sentences.append("Option: --\(option).") }
        if let words = change.words { sentences.append(words) }
        return sentences.joined(separator: " ")
    }
}

extension ConfigurationKey.Change {
    fileprivate var words: String? {
        switch self {
        case .reload: nil
        case .newSessions: "New sessions begin with a new value."
        case .restart: "Needs a restart."
        }
    }
}
