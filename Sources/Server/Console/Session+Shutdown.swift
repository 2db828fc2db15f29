import Pool
import PostgresWire

/// SHUTDOWN and RELOAD, which are the whole process's affair.
extension Session {
    private func hostProcess() throws(WireError) -> any ServerProcess {
        if let process = server.process.withLock({ $0 }) { return process }
        throw WireError(
            state: .featureNotSupported, message: "this server is part of another program, which has not said how to do that")
    }

    func shutDown(whenClientsHaveLeft: Bool) throws(WireError) {
        let process = try hostProcess()
        guard whenClientsHaveLeft else { return process.shutDown() }
        guard pool.pause == .none else {
            throw WireError(
                state: .objectNotInPrerequisiteState, message: "clients cannot finish while the database is paused",
                hint: "RESUME, then SHUTDOWN WAIT_FOR_CLIENTS; or SHUTDOWN.")
        }
        let clients = server.clientCount
        if clients > 0 { tell("\(clients) clients have yet to leave; nobody else gets in", hint: "SHUTDOWN does not wait for them.") }
        server.drain()
    }

    /// On a thread of its own: reading files and names may take its time.
    func reload() throws(WireError) {
        let outcome: ReloadOutcome
        do { outcome = try hostProcess().reload() } catch let error as ReloadError {
            throw WireError(
                state: .configFileError, message: "the configuration was not changed: \(error.problems.first ?? "it cannot be read")",
                detail: error.problems.count > 1 ? error.problems.joined(separator: "\n") : nil,
                hint: "Nothing of it was applied. walpoold --check-config says what is wrong with the file.")
        } catch let error as WireError {
            throw error
        } catch {
            throw WireError(state: .internalError, message: "\(error)")
        }
        if outcome.applied.isEmpty, outcome.needsRestart.isEmpty { tell("nothing has changed") }
        if !outcome.applied.isEmpty { tell("applied: \(outcome.applied.joined(separator: ", "))") }
        if !outcome.needsRestart.isEmpty {
            tell("needs a restart: \(outcome.needsRestart.joined(separator: ", "))")
        }
    }
}
