import Foundation
import TestSupport
import POSIX
import Testing

@testable import Pool
@testable import Scheduling

@Suite struct MaintenanceFileTests {
    private static var full: MaintenanceRecord {
        var record = MaintenanceRecord(base: 1_795_003_200)
        record.lastSuccess = .init(at: 1_795_003_199, durationMilliseconds: 5321, bytesFreed: 1 << 40)
        record.lastFailure = .init(at: 0, reason: "no room: = \"a\" = ü")
        record.attempts = 3
        record.lastAttempt = 253_402_300_799
        return record
    }

    private func inDirectory(_ body: (String) throws -> Void) throws {
        let directory = NSTemporaryDirectory() + "/walpool-maintenance-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    @Test func text() {
        #expect(
            MaintenanceRecord(base: 1_795_003_200).stored == """
                walpool-maintenance 1
                base = 2026-11-18T12:00:00Z
                crc32 = 4ce12022

                """)
        // The check value of this CRC, from its definition.
        #expect(MaintenanceRecord.checksum("123456789".utf8) == "cbf43926")
    }

    /// What could not be put into its place is no record, and is not left beside the database.
    @Test func oneThatCannotBeWrittenLeavesNothing() throws {
        try inDirectory { directory in
            let file = MaintenanceFile(database: directory + "/app.db")
            try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: true)
            #expect(throws: MaintenanceFile.WriteError.self) { try file.write(Self.full) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["app.db-maintenance"])
        }
    }

    @Test func roundTrip() throws {
        try inDirectory { directory in
            let file = MaintenanceFile(database: directory + "/app.db")
            #expect(file.path == directory + "/app.db-maintenance")
            #expect(file.read() == .nothing)
            for record in [MaintenanceRecord(base: 0), Self.full, MaintenanceRecord(base: -5)] {
                try file.write(record)
                #expect(file.read() == .record(record))
            }
            // Nothing is left lying about.
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["app.db-maintenance"])
        }
    }

    /// A reason is one line, whatever the schema's names contain.
    @Test func aReasonOfSeveralLines() throws {
        var record = Self.full
        record.lastFailure?.reason = "first\nbase = 1970-01-01T00:00:00Z\u{7F}"
        let read = MaintenanceRecord(stored: Array(record.stored.utf8)[...])
        record.lastFailure?.reason = "first base = 1970-01-01T00:00:00Z "
        #expect(read == record)
    }

    /// Anybody may write the file, with its checksum.
    @Test(arguments: [Int.max, Int.min, MaintenanceRecord.mostAttempts]) func anyNumberOfAttempts(_ count: Int) throws {
        var record = Self.full
        record.attempts = 7
        let text = record.stored.replacing("attempts = 7", with: "attempts = \(count)")
        let summed = text[..<text.firstRange(of: "crc32")!.lowerBound]
        let stored = summed + "crc32 = \(MaintenanceRecord.checksum(summed.utf8))\n"
        let read = try #require(MaintenanceRecord(stored: Array(stored.utf8)[...]))
        #expect((0...MaintenanceRecord.mostAttempts).contains(read.attempts))
        var schedule = MaintenanceSchedule(configuration: .init(), record: read)
        let clocks = MaintenanceSchedule.Clocks(wallSeconds: record.base, monotonic: Instant(nanoseconds: 1), localOffsetSeconds: 0)
        schedule.begin(clocks)
        schedule.failed("no room", clocks)
        let attempts = try #require(schedule.record?.attempts)
        #expect((1...MaintenanceRecord.mostAttempts).contains(attempts))
    }

    @Test func truncatedAtEveryByte() {
        let bytes = Array(Self.full.stored.utf8)
        #expect(MaintenanceRecord(stored: bytes[...]) == Self.full)
        for count in 0..<bytes.count { #expect(MaintenanceRecord(stored: bytes[..<count]) == nil, "\(count) bytes") }
    }

    @Test func damagedAtEveryByte() {
        let bytes = Array(Self.full.stored.utf8)
        for index in bytes.indices {
            for change in [0x01, 0x20, 0x80, 0xFF] as [UInt8] {
                var damaged = bytes
                damaged[index] ^= change
                #expect(MaintenanceRecord(stored: damaged[...]) == nil, "byte \(index)")
            }
        }
    }

    @Test func garbage() throws {
        try inDirectory { directory in
            let file = MaintenanceFile(database: directory + "/app.db")
            var generator = SeededGenerator(state: 11)
            let garbage: [Data] = [
                Data(), Data("\n".utf8), Data("\n\n\n\n".utf8), Data("walpool-maintenance 1\n".utf8), Data(count: 200),
                Data((0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) }),
                Data(repeating: UInt8(ascii: "x"), count: 1 << 20),
                Data(Self.full.stored.replacingOccurrences(of: "maintenance 1", with: "maintenance 2").utf8),
            ]
            for data in garbage {
                try data.write(to: URL(fileURLWithPath: file.path))
                guard case .unreadable = file.read() else {
                    Issue.record("\(data.prefix(40)) was read")
                    continue
                }
            }
            try FileManager.default.removeItem(atPath: file.path)
            try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: false)
            guard case .unreadable = file.read() else { throw POSIXError(.EISDIR) }
        }
    }

    /// A right checksum over what is no record.
    @Test(arguments: [
        "walpool-maintenance 1\n", "walpool-maintenance 1\nbase = yesterday\n", "walpool-maintenance 1\nbase = 2026-02-31T00:00:00Z\n",
        "walpool-maintenance 2\nbase = 2026-11-18T12:00:00Z\n", "walpool-maintenance 1\nbase 2026-11-18T12:00:00Z\n", "",
        "walpool-maintenance 1\nbase = 1\n",
    ])
    func checkedNonsense(_ text: String) {
        let whole = text + "crc32 = \(MaintenanceRecord.checksum(text.utf8))\n"
        #expect(MaintenanceRecord(stored: Array(whole.utf8)[...]) == nil)
    }

    /// Where SQLite puts the -wal: beside the file, not beside a link to it.
    @Test func aLinkedDatabase() throws {
        try inDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory + "/data", withIntermediateDirectories: false)
            try Data().write(to: URL(fileURLWithPath: directory + "/data/real.db"))
            try FileManager.default.createSymbolicLink(
                atPath: directory + "/link.db", withDestinationPath: directory + "/data/real.db")
            #expect(MaintenanceFile(database: directory + "/link.db").path.hasSuffix("/data/real.db-maintenance"))
        }
    }

    @Test func whereItCannotBeWritten() throws {
        try inDirectory { directory in
            let file = MaintenanceFile(database: directory + "/missing/app.db")
            #expect(throws: MaintenanceFile.WriteError.self) { try file.write(Self.full) }
        }
    }

    @Test func times() {
        for seconds in [0, 1, -1, 951_782_399, 951_782_400, 4_102_444_800, 253_402_300_799] as [Int64] {
            #expect(UTCTime.seconds(UTCTime.text(seconds)) == seconds)
        }
        #expect(UTCTime.text(951_827_696) == "2000-02-29T12:34:56Z")
        #expect(UTCTime.text(microseconds: 951_827_696_007_999) == "2000-02-29T12:34:56.007Z")
        #expect(UTCTime.text(microseconds: -1) == "1970-01-01T00:00:00.000Z")
    }

    @Test func room() {
        let disks: [String: (fileSystem: UInt64, bytes: Int64)] = ["/a": (1, 100), "/b": (1, 100), "/c": (2, 10)]
        func shortage(_ needs: [(String, Int64)]) -> Bool {
            DiskSpace.shortage(of: needs.map { .init(directory: $0.0, bytes: $0.1) }, available: { disks[$0] }) != nil
        }
        #expect(!shortage([("/a", 100)]))
        #expect(shortage([("/a", 101)]))
        #expect(!shortage([("/a", 100), ("/c", 10)]))
        #expect(shortage([("/a", 100), ("/c", 11)]))
        // One file system: both needs together.
        #expect(!shortage([("/a", 50), ("/b", 50)]))
        #expect(shortage([("/a", 50), ("/b", 51)]))
        #expect(shortage([("/missing", 1)]))
        let available = DiskSpace.available(in: "/")
        #expect(available != nil)
    }
}
