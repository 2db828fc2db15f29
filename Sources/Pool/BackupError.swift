import Glibc
import SQLite

/// Why there is no backup. Nothing is left of one that failed.
package enum BackupError: Error, Sendable {
    /// The name cannot be a backup's; in words for the person who chose it.
    case unusableName(String)
    /// Another one is being made: to this name.
    case alreadyRunning(String)
    /// The path of a file that has the name already.
    case fileExists(String)
    /// The file system has no room for the copy.
    case noRoom(neededBytes: Int, freeBytes: Int)
    /// A system call failed.
    case system(call: String, path: String, errorNumber: Int32)
    case sqlite(SQLiteError)
    /// What integrity_check said of the copy.
    case damaged(String)
    /// Whoever asked for it was told to stop.
    case stopped(StopReason)
    /// The daemon needed the snapshot to end; in words for whoever asked for the backup.
    case cancelled(String)
}

extension BackupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unusableName(let why): "this cannot be a backup's name: \(why)"
        case .alreadyRunning(let name): "a backup to \"\(name)\" is being made"
        case .fileExists(let path): "\(path) exists already"
        case .noRoom(let needed, let free):
            "the backup needs \(needed) bytes, and its file system has \(free) left"
        case .system(let call, let path, let number): "\(call) \(path): \(String(cString: strerror(number)))"
        case .sqlite(let error): "\(error.message) (SQLite result code \(error.extendedCode))"
        case .damaged(let finding): "the copy did not pass its check and was removed: \(finding)"
        case .stopped(let reason): reason.words
        case .cancelled(let why): "canceled: \(why)"
        }
    }
}
