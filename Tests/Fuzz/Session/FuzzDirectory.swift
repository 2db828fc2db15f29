import Glibc

@testable import SQLite

/// Where each input finds the same database: a directory of this process's own, in memory.
enum FuzzDirectory {
    static let path: String = {
        let path = "/dev/shm/walpool-fuzz-\(getpid())"
        mkdir(path, 0o700)
        atexit { FuzzDirectory.remove() }
        return path
    }()

    /// The database as it was before any input.
    private static let template: [UInt8] = {
        clear()
        do {
            let connection = try Connection(path: path + "/app.db", mode: .readWrite, settings: ConnectionSettings())
            try connection.executeInternal("PRAGMA page_size = 1024; PRAGMA journal_mode = WAL;" + schema)
            _ = try connection.checkpoint(.truncate)
        } catch {
            fatalError("\(error)")
        }
        return read(path + "/app.db")
    }()

    private static let schema = """
        CREATE TABLE t(id INTEGER PRIMARY KEY, n INT, r REAL, x TEXT, b BLOB, a);
        INSERT INTO t VALUES (1, 1, 1.5, 'one', x'01', 1), (2, NULL, NULL, NULL, NULL, NULL), (3, 'x', 'y', 3, 4, 'five');
        CREATE TABLE u(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO u VALUES ('a', 1), ('b', 'two');
        CREATE VIEW w AS SELECT n + 1 AS m, x || 'z' AS y FROM t;
        CREATE TABLE parent(id INTEGER PRIMARY KEY);
        CREATE TABLE child(p INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE tripwire(x INTEGER);
        CREATE TRIGGER trip BEFORE INSERT ON tripwire BEGIN SELECT RAISE(ROLLBACK, 'tripped'); END;
        """

    static func reset() {
        let database = template
        clear()
        guard let file = fopen(path + "/app.db", "w") else { return require(false, "there is room in /dev/shm") }
        fwrite(database, 1, database.count, file)
        fclose(file)
    }

    private static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    /// Removes every file: backups and the maintenance file have names of their own.
    private static func clear() {
        guard let directory = opendir(path) else { return }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { unlink(path + "/" + name) }
        }
    }

    private static func remove() {
        clear()
        rmdir(path)
    }
}
