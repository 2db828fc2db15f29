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

/// What a backup may be called: a plain file name in the one directory there is for backups.
package enum BackupName {
    /// A name may have 255 bytes on Linux's file systems; the temporary file's has 16 more, SQLite's beside it 8 more.
    static let longestBytes = 200
    /// Beside a database of the name before it, SQLite would take such a file for a part of that database, and a hot
    /// journal is rolled back into it: https://www.sqlite.org/howtocorrupt.html section 1.4.
    package static let reservedEndings = ["-wal", "-shm", "-journal"]

    static func require(_ name: String) throws(BackupError) {
        guard !name.isEmpty else { throw .unusableName("it is empty") }
        guard name.utf8.count <= longestBytes else {
            throw .unusableName("it has more than \(longestBytes) bytes")
        }
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            throw .unusableName("it is a path, and backups are made in the configured directory only")
        }
        // "." and "..", and what ls does not show: the temporary files are called so.
        guard !name.hasPrefix(".") else { throw .unusableName("it begins with a dot") }
        guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            throw .unusableName("it contains control characters")
        }
        for ending in reservedEndings where name.hasSuffix(ending) {
            throw .unusableName("SQLite gives files that end in \(ending) a meaning of its own")
        }
    }
}
