import Journal
import Server

/// Parts of walpoold(8) that are lists of the server's and of the log's.
extension ManualPage {
    /// What SHOW HELP says, for whoever is not connected.
    static func console(_ page: inout Roff) {
        page.section("CONSOLE")
        page.text(
            """
            The database named walpool, or pgbouncer, is the console: psql -h DIRECTORY walpool. Every role may look with SHOW, \
            admins may also command (walpoold.toml(5), [[access]]). Tables have the columns of PgBouncer's where they mean the \
            same.
            """)
        for (syntax, summary) in ConsoleReference.topics + ConsoleReference.commands { page.item(syntax, "\(summary).") }
    }

    /// What each kind of line means, and the number by which journalctl finds it.
    static func log(_ page: inout Roff) {
        page.section("LOG")
        page.text(
            """
            Lines go to standard error, each behind its time in UTC unless that is a terminal. Where standard error is the \
            journal's (JOURNAL_STREAM), they go to the journal with fields: who, which statement, how long. MESSAGE_ID says \
            what a line is about; for slow statements, for example:
            """)
        page.verbatim("journalctl -u walpoold MESSAGE_ID=\(EventKind.slowStatement.messageID)")
        for kind in EventKind.allCases { page.item(kind.rawValue, "\(kind.summary).", "MESSAGE_ID=\(kind.messageID)") }
    }
}
