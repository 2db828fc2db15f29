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
