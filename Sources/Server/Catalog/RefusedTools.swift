import PostgresWire

/// Programs that could only fail half-way, told so at once by the name they connect with.
enum RefusedTools {
    static func check(applicationName: String) throws(WireError) {
        guard applicationName == "pg_dump" || applicationName == "pg_dumpall" else { return }
        throw WireError(
            severity: .fatal, state: .featureNotSupported,
            message: "\(applicationName) does not work here: it writes PostgreSQL's own definitions",
            hint: "BACKUP in the console (database \"walpool\") copies the database while it is in use.")
    }
}
