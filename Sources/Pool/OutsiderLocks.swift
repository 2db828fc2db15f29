import Glibc

/// Who else has the database locked, as far as the kernel shows it.
///
/// In WAL mode the write lock is byte 120 of the -shm file ("WAL_WRITE_LOCK",
/// https://www.sqlite.org/walformat.html#wal_locks); a connection in exclusive mode, or one that recovers, locks others
/// of its bytes 120 to 127. /proc/locks lists POSIX locks with process and inode: proc(5).
public enum OutsiderLocks {
    /// "sqlite3 (process 1234)" for each, or empty when none is shown (another PID namespace, or gone already).
    ///
    /// - Parameter withReaders: those that only keep the file from being had alone count as well.
    public static func holders(ofDatabase path: String, withReaders: Bool = false) -> [String] {
        var inodes: Set<String> = []
        for file in [path, path + "-shm"] {
            var status = stat()
            // stat(2) only: opening and closing the file would drop SQLite's own locks.
            if stat(file, &status) == 0 { inodes.insert(String(status.st_ino)) }
        }
        let own = String(getpid())
        var found: [String] = []
        for line in read("/proc/locks").split(separator: "\n") {
            // 1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 120 120
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count >= 8, fields[1] == "POSIX", withReaders || fields[3] == "WRITE", fields[4] != own,
                let inode = fields[5].split(separator: ":").last, inodes.contains(String(inode))
            else { continue }
            let name = read("/proc/\(fields[4])/comm").filter { !$0.isNewline }
            let holder = "\(name.isEmpty ? "unknown" : name) (process \(fields[4]))"
            if !found.contains(holder) { found.append(holder) }
        }
        return found
    }

    private static func read(_ path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        // A machine with very many locks is not worth more than a megabyte of text.
        while bytes.count < 1 << 20 {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
