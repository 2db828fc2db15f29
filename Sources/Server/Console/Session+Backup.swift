import Glibc
import Pool
import PostgresWire

/// BACKUP TO 'name'.
extension Session {
    /// How often the client hears how far it is.
    private static let noticesPerBackup = 10

    func backUp(to name: String) throws(WireError) {
        guard let directory = server.current({ $0.backupDirectory }) else {
            throw WireError(
                state: .objectNotInPrerequisiteState, message: "no directory for backups is configured",
                hint: "Name one with backup_directory in the configuration file.")
        }
        var told = 0
        let made: Backup.Status
        do throws(BackupError) {
            made = try pool.backups.make(
                name, in: directory, for: self,
                onStep: { status in
                    let tenths = Self.noticesPerBackup * status.copiedPages / max(1, status.pages)
                    guard tenths > told, status.copiedPages < status.pages else { return }
                    told = tenths
                    tell("\(status.copiedPages) of \(status.pages) pages copied")
                },
                onCopy: {
                    let (problem, next) = pool.lookIntoFiles()
                    if let next { server.ready.enqueue(next) }
                    return problem
                })
        } catch {
            throw Self.wireError(error)
        }
        tell(
            "\(directory)/\(name): \(made.bytes) bytes, checked and on the disk", hint: made.remark)
    }

    private static func wireError(_ error: BackupError) -> WireError {
        func failure(_ state: SQLState, _ hint: String? = nil) -> WireError {
            WireError(state: state, message: "\(error)", hint: hint)
        }
        return switch error {
        case .unusableName: failure(.invalidName, "Give a plain file name, such as 'app-2026-01-31.db'.")
        case .alreadyRunning: failure(.objectInUse, "SHOW BACKUPS says how far it is.")
        case .fileExists: failure(.duplicateFile, "A backup never replaces a file.")
        case .noRoom: failure(.diskFull)
        case .system(_, _, let number): failure(Self.state(of: number))
        case .damaged:
            failure(
                .dataCorrupted, "PRAGMA integrity_check in the database itself says whether that is damaged, too.")
        case .cancelled: failure(.queryCanceled, "A larger wal_limit_bytes leaves more time for it.")
        case .sqlite(let error): ErrorTranslation.wireError(error)
        case .stopped(let reason): ErrorTranslation.wireError(reason)
        }
    }

    private static func state(of errorNumber: Int32) -> SQLState {
        switch errorNumber {
        case ENOENT, ENOTDIR: .undefinedFile
        case EACCES, EPERM, EROFS: .insufficientPrivilege
        case ENOSPC, EDQUOT: .diskFull
        default: .ioError
        }
    }
}
