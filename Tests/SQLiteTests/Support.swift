import Foundation
import Testing

@testable import SQLite

/// A directory of its own for each test, with one database in WAL mode.
final class TemporaryDatabase {
    let directory: String
    var path: String { directory + "/test.db" }

    init(_ schema: String = "", journalMode: String = "WAL") throws {
        directory = NSTemporaryDirectory() + "/walpool-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let connection = try Connection(path: path, mode: .readWrite, settings: ConnectionSettings())
        try connection.executeInternal("PRAGMA journal_mode = \(journalMode); \(schema)")
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func open(_ mode: Connection.Mode = .readWrite, _ settings: ConnectionSettings = ConnectionSettings()) throws -> Connection {
        try Connection(path: path, mode: mode, settings: settings)
    }

    var fileNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) ?? [] }
}

extension Connection {
    /// Prepares as a client does: from bytes that no NUL follows.
    func prepared(_ sql: String) throws(SQLiteError) -> Statement {
        guard let statement = try prepareFirst(sql).statement else {
            throw SQLiteError(extendedCode: 21, message: "empty statement")
        }
        return statement
    }

    func prepareFirst(_ sql: String) throws(SQLiteError) -> (statement: Statement?, consumed: Int) {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: sql.utf8.count, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: sql.utf8)
        return try prepare(UnsafeRawBufferPointer(bytes))
    }

    /// Runs a client's statement; its rows, each value as text.
    @discardableResult
    func rows(_ sql: String) throws(SQLiteError) -> [[String]] {
        let statement = try prepared(sql)
        var rows: [[String]] = []
        while try statement.step() == .row {
            rows.append((0..<statement.columnCount).map { statement.string($0) })
        }
        return rows
    }

    /// The first value of the first row.
    @discardableResult
    func value(_ sql: String) throws(SQLiteError) -> String? { try rows(sql).first?.first }

    /// What goes wrong when a client runs `sql`; nil when nothing does.
    func failure(_ sql: String) -> SQLiteError? {
        do {
            try rows(sql)
            return nil
        } catch { return error }
    }
}

extension Statement {
    func string(_ column: Int) -> String {
        storageClass(column) == .null ? "NULL" : String(decoding: text(column), as: UTF8.self)
    }
}

/// Another process with the same database open. It runs one statement at a time and answers each, so no test sleeps.
final class Outsider {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    private static let program = """
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
        for line in sys.stdin:
            try:
                print(connection.execute(line).fetchall(), flush=True)
            except Exception as error:
                print(error, flush=True)
        """

    init(_ database: TemporaryDatabase) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", Self.program, database.path]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Its answer: the rows as Python prints them, or the words of an error.
    @discardableResult
    func run(_ sql: String) -> String {
        input.fileHandleForWriting.write(Data((sql + "\n").utf8))
        var answer = Data()
        while answer.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return "the outsider is gone" }
            answer += more
        }
        return String(decoding: answer.dropLast(), as: UTF8.self)
    }

    deinit {
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
    }
}
