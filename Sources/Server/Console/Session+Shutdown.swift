import Journal
import Logging
import Pool
import PostgresWire

/// SHUTDOWN and RELOAD, which are the whole process's affair.
extension Session {
    func shutDown(whenClientsHaveLeft: Bool) throws(WireError) {
        guard whenClientsHaveLeft else {
            server.log.notice(.stopping, "an administrator stops the daemon", metadata: whoGives("SHUTDOWN"))
            guard server.requestShutdown() else {
                throw WireError(
                    state: .featureNotSupported, message: "this server is part of another program, which alone can stop it")
            }
            return
        }
        guard pool.pause == .none else {
            throw WireError(
                state: .objectNotInPrerequisiteState, message: "clients cannot finish while the database is paused",
                hint: "RESUME, then SHUTDOWN WAIT_FOR_CLIENTS; or SHUTDOWN.")
        }
        let clients = server.clientCount
        if clients > 0 {
            tell(
                "clients that have yet to leave: \(clients); nobody else gets in",
                hint: "SHUTDOWN in a console that is open already, or SIGTERM (systemctl stop), does not wait for them.")
        }
        server.drain(whoGives("SHUTDOWN WAIT_FOR_CLIENTS"))
        endPauseBesideDrain()
    }

    /// The lines that follow are the daemon's, and know of nobody.
    private func whoGives(_ command: String) -> Logger.Metadata { identity.merging(["command": "\(command)"]) { $1 } }

    /// On a thread of its own: files and the names in them may take their time.
    func reload() throws(WireError) {
        server.log.notice(.reloaded, "an administrator has the configuration read again", metadata: whoGives("RELOAD"))
        switch server.reload() {
        case .applied(let changes, let needRestart, let doubts):
            if changes.isEmpty, needRestart.isEmpty, doubts.isEmpty { tell("nothing has changed") }
            for change in changes { tell(change) }
            for change in needRestart { tell("needs a restart: \(change)") }
            for doubt in doubts { tell(doubt) }
        case .refused(let problems):
            throw WireError(
                state: .configFileError, message: "the configuration was not read again, and nothing has changed",
                detail: problems.joined(separator: "\n"))
        }
    }
}
