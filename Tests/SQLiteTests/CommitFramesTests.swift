import CCommitFrames
import CSQLite
import Foundation
import Testing

@testable import SQLite

/// What a commit writes into the -wal leaves by one write, and what is no frame of a commit leaves as it comes.
@Suite struct CommitFramesTests {
    /// A file that remembers what is asked of it. C's functions find it behind the file they are called with.
    private final class RecordedFile {
        struct Layout {
            var file = sqlite3_file()
            var recorded: Unmanaged<RecordedFile>
        }

        private let layout = UnsafeMutablePointer<Layout>.allocate(capacity: 1)
        private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        private weak var wal: RecordedFile?
        var calls: [String] = []
        /// Its bytes, as far as they were written.
        var bytes: [UInt8] = []
        /// Writes have no room from this one on.
        var writesThatSucceed = Int.max
        /// The first that has none leaves so many of its bytes.
        var bytesThatFit = 0
        /// Of those that come after it.
        var laterWritesSucceed = false
        var canBeCut = true
        private let name: String

        /// - Parameter wal: whose database it is, and who remembers what is asked of it.
        init(databaseOf wal: RecordedFile? = nil) {
            self.wal = wal
            name = wal == nil ? "" : "database "
            methods.initialize(to: sqlite3_io_methods())
            layout.initialize(to: Layout(recorded: Unmanaged.passUnretained(self)))
            layout.pointee.file.pMethods = UnsafePointer(methods)
            methods.pointee.xWrite = { file, bytes, count, offset in
                RecordedFile.of(file).write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), at: Int(offset))
            }
            methods.pointee.xRead = { file, buffer, count, offset in
                RecordedFile.of(file).read(UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)), at: Int(offset))
            }
            methods.pointee.xSync = { file, _ in RecordedFile.of(file).note("sync") }
            methods.pointee.xTruncate = { file, count in RecordedFile.of(file).truncate(Int(count)) }
            methods.pointee.xFileSize = { file, size in
                size?.pointee = Int64(RecordedFile.of(file).bytes.count)
                return RecordedFile.of(file).note("size")
            }
            methods.pointee.xFileControl = { file, operation, _ in RecordedFile.of(file).note("control \(operation)") }
            methods.pointee.xClose = { file in RecordedFile.of(file).note("close") }
        }

        deinit {
            layout.deallocate()
            methods.deallocate()
        }

        var file: UnsafeMutablePointer<sqlite3_file> {
            UnsafeMutableRawPointer(layout).assumingMemoryBound(to: sqlite3_file.self)
        }
        var table: sqlite3_io_methods { file.pointee.pMethods.pointee }

        private static func of(_ file: UnsafeMutablePointer<sqlite3_file>?) -> RecordedFile {
            UnsafeMutableRawPointer(file!).assumingMemoryBound(to: Layout.self).pointee.recorded.takeUnretainedValue()
        }

        private func note(_ call: String) -> Int32 {
            (wal ?? self).calls.append(name + call)
            return SQLITE_OK
        }

        private func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int32 {
            let there = bytes.dropFirst(offset).prefix(buffer.count)
            buffer.copyBytes(from: there)
            return note("read \(buffer.count)@\(offset)")
        }

        private func truncate(_ count: Int) -> Int32 {
            guard canBeCut else { return SQLiteError.Code.truncateFailed }
            bytes.removeLast(max(0, bytes.count - count))
            return note("truncate \(count)")
        }

        private func write(_ new: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
            _ = note("write \(new.count)@\(offset)")
            let count = writesThatSucceed > 0 ? new.count : bytesThatFit
            let hasRoom = writesThatSucceed > 0
            writesThatSucceed = !hasRoom && laterWritesSucceed ? .max : max(0, writesThatSucceed - 1)
            if !hasRoom { bytesThatFit = 0 }
            bytes += [UInt8](repeating: 0, count: max(0, offset + count - bytes.count))
            bytes.replaceSubrange(offset..<offset + count, with: new[..<count])
            return hasRoom ? SQLITE_OK : SQLITE_FULL
        }
    }

    /// What SQLite does, one call after the other.
    private enum Call {
        case header(at: Int, commits: Bool)
        /// Without checksums.
        case unsummed(at: Int, commits: Bool)
        case page(Int, at: Int)
        case other(Int, at: Int)
        case read(at: Int)
        case truncate(to: Int)
        case sync, size, control, close
    }

    /// A frame of a commit, as SQLite writes it.
    private static func frame(_ number: Int, page: Int = 4096, commits: Bool = false) -> [Call] {
        let offset = 32 + number * (24 + page)
        return [.header(at: offset, commits: commits), .page(page, at: offset + 24)]
    }

    /// Different ones everywhere in the file.
    private static func bytes(_ count: Int, at offset: Int) -> [UInt8] {
        (offset..<offset + count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
    }

    private func code(of call: Call, _ file: UnsafeMutablePointer<sqlite3_file>, _ table: sqlite3_io_methods) -> Int32 {
        switch call {
        case .header(let offset, let commits):
            var header = Self.bytes(24, at: offset)
            // The least of a database's size that sets one byte only, the last.
            header.replaceSubrange(4..<8, with: [0, 0, 0, commits ? 1 : 0])
            return table.xWrite(file, header, 24, Int64(offset))
        case .unsummed(let offset, let commits):
            let header = Self.bytes(4, at: offset) + [0, 0, 0, commits ? 1 : 0] + [UInt8](repeating: 0, count: 16)
            return table.xWrite(file, header, 24, Int64(offset))
        case .page(let count, let offset), .other(let count, let offset):
            return table.xWrite(file, Self.bytes(count, at: offset), Int32(count), Int64(offset))
        case .read(let offset):
            var bytes: [UInt8] = [0, 0]
            return table.xRead(file, &bytes, 2, Int64(offset))
        case .sync: return table.xSync(file, SQLITE_SYNC_NORMAL)
        case .truncate(let count): return table.xTruncate(file, Int64(count))
        case .close: return table.xClose(file)
        case .size:
            var bytes: Int64 = 0
            return table.xFileSize(file, &bytes)
        case .control: return table.xFileControl(file, SQLITE_FCNTL_SIZE_HINT, nil)
        }
    }

    @Test(arguments: [
        ("a frame", frame(0, commits: true), ["write 4120@32"]),
        ("three frames", frame(0) + frame(1) + frame(2, commits: true), ["write 12360@32"]),
        ("synced", frame(0) + frame(1, commits: true) + [.sync], ["write 8240@32", "sync"]),
        (
            "behind the header of the file", [.other(32, at: 0), .sync] + frame(0) + frame(1, commits: true),
            ["database sync", "write 32@0", "sync", "write 8240@32"]
        ),
        (
            "a page that is in the file already", frame(5) + [.other(4096, at: 56)] + frame(6) + frame(7, commits: true),
            ["write 4120@20632", "write 4096@56", "write 8240@24752"]
        ),
        (
            "longer than one write", (0..<40).flatMap { frame($0, commits: $0 == 39) },
            ["write 127744@32", "write 37056@127776"]
        ),
        (
            "the longest pages", frame(0, page: 65_536) + frame(1, page: 65_536) + frame(2, page: 65_536, commits: true),
            ["write 65584@32", "write 65560@65616", "write 65536@131176"]
        ),
        ("the shortest pages", frame(0, page: 512) + frame(1, page: 512, commits: true), ["write 1072@32"]),
        (
            "checksums that change afterwards",
            frame(0) + frame(1, commits: true) + [.read(at: 32), .header(at: 32, commits: false), .header(at: 4152, commits: true)],
            ["write 8240@32", "read 2@32", "write 24@32", "write 24@4152"]
        ),
        (
            "frames that fill a sector behind the last",
            frame(0, commits: true) + frame(1, commits: true) + [.sync], ["write 4120@32", "write 24@4152", "write 4096@4176", "sync"]
        ),
        ("a header without a page", [.header(at: 32, commits: true), .sync], ["write 24@32", "sync"]),
        (
            "a page that is cut by the end of a sector",
            [.header(at: 32, commits: true), .other(456, at: 56), .sync, .other(3640, at: 512)],
            ["write 24@32", "write 456@56", "sync", "write 3640@512"]
        ),
        ("a page elsewhere", [.header(at: 32, commits: true), .page(4096, at: 8192)], ["write 24@32", "write 4096@8192"]),
        (
            "a frame elsewhere", frame(0) + frame(9, commits: true), ["write 4120@32", "write 4120@37112"]
        ),
        (
            "read before it is written", frame(0) + [.read(at: 4000)] + frame(1, commits: true),
            ["write 4120@32", "read 2@4000", "write 4120@4152"]
        ),
        (
            "something else is read", frame(0) + [.read(at: 30), .read(at: 4152)] + frame(1, commits: true),
            ["read 2@30", "read 2@4152", "write 8240@32"]
        ),
        ("other calls", frame(0) + [.truncate(to: 5), .size, .control], ["write 4120@32", "truncate 5", "size", "control 5"]),
    ])
    private func aCommit(name: String, calls: [Call], written: [String]) throws {
        let kept = RecordedFile()
        let database = RecordedFile(databaseOf: kept)
        defer { withExtendedLifetime(database) {} }
        let direct = RecordedFile()
        let frames = try #require(walpool_commit_frames_of(kept.file, database.file))
        walpool_commit_frames_begin(frames)
        for call in calls {
            #expect(code(of: call, kept.file, kept.table) == SQLITE_OK)
            #expect(code(of: call, direct.file, direct.table) == SQLITE_OK)
        }
        #expect(walpool_commit_frames_end(frames).is_whole != 0)
        #expect(kept.calls == written)
        #expect(kept.bytes == direct.bytes)
    }

    @Test func outsideOfACommitEverythingLeavesAsItComes() throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        let calls = Self.frame(0) + Self.frame(1, commits: true)
        for call in calls { #expect(code(of: call, recorded.file, recorded.table) == SQLITE_OK) }
        walpool_commit_frames_begin(frames)
        #expect(walpool_commit_frames_end(frames).is_whole != 0)
        for call in calls { #expect(code(of: call, recorded.file, recorded.table) == SQLITE_OK) }
        let asTheyCome = ["write 24@32", "write 4096@56", "write 24@4152", "write 4096@4176"]
        #expect(recorded.calls == asTheyCome + asTheyCome)
        #expect(recorded.table.xClose(recorded.file) == SQLITE_OK)
        #expect(recorded.calls.suffix(2) == ["database sync", "close"])
        #expect(code(of: calls[0], recorded.file, recorded.table) == SQLITE_OK)
        #expect(recorded.calls.last == "write 24@32")
    }

    @Test func whatFailsIsTheLastPage() throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        recorded.writesThatSucceed = 0
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        walpool_commit_frames_begin(frames)
        let codes = (Self.frame(0) + Self.frame(1, commits: true)).map { code(of: $0, recorded.file, recorded.table) }
        #expect(codes == [SQLITE_OK, SQLITE_OK, SQLITE_OK, SQLITE_FULL])
        #expect(walpool_commit_frames_end(frames).is_whole == 0)
        #expect(recorded.calls == ["write 8240@32", "size"])
    }

    // MARK: A COMMIT without room

    /// Of its last write so much fits, and what is behind that may be zeros already. Nobody takes it for a commit by then, and what was there
    /// before stays as it was.
    @Test(arguments: [
        ("nothing of it", frame(0) + frame(1, commits: true), 0, 0, ["write 8240@32", "size"]),
        ("all but a byte", frame(0) + frame(1, commits: true), 0, 8239, ["write 8240@32", "size", "read 24@4152", "write 24@4152"]),
        ("all but the last frame", frame(0) + frame(1, commits: true), 0, 4120, ["write 8240@32", "size"]),
        ("half a header", frame(0, commits: true), 0, 12, ["write 4120@32", "size", "read 12@32", "write 12@32"]),
        (
            "the second part of a long one", (0..<40).flatMap { frame($0, commits: $0 == 39) }, 1, 37055,
            ["write 127744@32", "write 37056@127776", "size", "read 24@160712", "write 24@160712"]
        ),
        (
            "a last page without its header", frame(0, page: 65_536) + frame(1, page: 65_536, commits: true), 1, 65_000,
            ["write 65584@32", "write 65536@65616", "size", "read 24@65592", "write 24@65592"]
        ),
        (
            "the first part of a long one", (0..<40).flatMap { frame($0, commits: $0 == 39) }, 0, 127_743,
            ["write 127744@32"]
        ),
    ])
    private func aCommitWithoutRoom(name: String, calls: [Call], writes: Int, fits: Int, expected: [String]) throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        (recorded.writesThatSucceed, recorded.bytesThatFit, recorded.laterWritesSucceed) = (writes, fits, true)
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        walpool_commit_frames_begin(frames)
        let codes = calls.map { code(of: $0, recorded.file, recorded.table) }
        #expect(codes.contains(SQLITE_FULL) && codes.allSatisfy { [SQLITE_OK, SQLITE_FULL].contains($0) })
        let end = walpool_commit_frames_end(frames)
        #expect(end.is_whole == 0 && end.has_mark == 0)
        #expect(recorded.calls == expected)
        if let zeros = expected.last.flatMap({ $0.hasPrefix("write 24@") ? Int($0.dropFirst(9)) : nil }) {
            #expect(recorded.bytes[zeros..<zeros + 24].allSatisfy { $0 == 0 })
        }
    }

    /// One that begins as the refused one did writes again what that had before its mark, and may be killed then.
    @Test func aCommitThatBeginsAsTheRefusedOne() throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        let refused = Self.frame(0) + Self.frame(1, commits: true)
        (recorded.writesThatSucceed, recorded.bytesThatFit, recorded.laterWritesSucceed) = (0, 8239, true)
        walpool_commit_frames_begin(frames)
        #expect(refused.map { code(of: $0, recorded.file, recorded.table) }.last == SQLITE_FULL)
        _ = walpool_commit_frames_end(frames)
        (recorded.writesThatSucceed, recorded.bytesThatFit) = (0, 4120)
        walpool_commit_frames_begin(frames)
        for call in Self.frame(0) + Self.frame(1) + Self.frame(2, commits: true) { _ = code(of: call, recorded.file, recorded.table) }
        #expect(walpool_commit_frames_end(frames).has_mark == 0)
        #expect(Array(recorded.bytes[32..<4152]) == Self.bytesOfFrame(0))
        #expect(recorded.bytes[4152..<4176].allSatisfy { $0 == 0 })
    }

    private static func bytesOfFrame(_ number: Int) -> [UInt8] {
        let offset = 32 + number * 4120
        var bytes = bytes(4120, at: offset)
        bytes.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        return bytes
    }

    /// VACUUM commits without a COMMIT, and its frames leave as they come.
    @Test func aPageWithoutRoomOutsideOfACommit() throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        _ = try #require(walpool_commit_frames_of(recorded.file, database.file))
        (recorded.writesThatSucceed, recorded.bytesThatFit, recorded.laterWritesSucceed) = (1, 4095, true)
        #expect(Self.frame(0, commits: true).map { code(of: $0, recorded.file, recorded.table) } == [SQLITE_OK, SQLITE_FULL])
        #expect(recorded.bytes[32..<56].allSatisfy { $0 == 0 })
    }

    /// A page was written again in its frame, so that all from there on get their checksums when they are in the file: only the last of
    /// them makes a commit of it.
    @Test(arguments: [(0, 0, false), (1, 0, false), (2, 0, false), (2, 24, false), (3, 0, true)])
    func aCommitWhoseChecksumsHaveNoRoom(writes: Int, fits: Int, hasMark: Bool) throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        for call in Self.frame(0) + [.other(4096, at: 56)] { #expect(code(of: call, recorded.file, recorded.table) == SQLITE_OK) }
        (recorded.writesThatSucceed, recorded.bytesThatFit, recorded.laterWritesSucceed) = (writes, fits, true)
        walpool_commit_frames_begin(frames)
        let calls: [Call] = [
            .unsummed(at: 4152, commits: true), .page(4096, at: 4176), .header(at: 32, commits: false), .header(at: 4152, commits: true),
        ]
        // SQLite stops at the first that fails.
        let failed = calls.first { code(of: $0, recorded.file, recorded.table) != SQLITE_OK }
        #expect((failed == nil) == hasMark)
        let end = walpool_commit_frames_end(frames)
        #expect((end.has_mark != 0) == hasMark)
        if fits > 0 { #expect(recorded.bytes[4152..<4176].allSatisfy { $0 == 0 }) }
    }

    /// What is there is somebody else's, or of a WAL before.
    @Test func whatWasThereBeforeACommitWithoutRoom() throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        recorded.bytes = [UInt8](repeating: 7, count: 10_000)
        // What takes back the failed write's own bytes would have room.
        (recorded.writesThatSucceed, recorded.laterWritesSucceed) = (0, true)
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        walpool_commit_frames_begin(frames)
        for call in Self.frame(0, commits: true) { _ = code(of: call, recorded.file, recorded.table) }
        #expect(walpool_commit_frames_end(frames).has_mark == 0)
        #expect(recorded.bytes.count == 10_000 && recorded.bytes.allSatisfy { $0 == 7 })
    }

    /// On a disk that writes over nothing; and where it cannot be cut off either, nobody knows what will be there.
    @Test(arguments: [true, false]) func whatCannotBeWrittenOverIsCutOff(canBeCut: Bool) throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        (recorded.writesThatSucceed, recorded.bytesThatFit, recorded.canBeCut) = (0, 4119, canBeCut)
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        walpool_commit_frames_begin(frames)
        let codes = Self.frame(0, commits: true).map { code(of: $0, recorded.file, recorded.table) }
        #expect(codes == [SQLITE_OK, canBeCut ? SQLITE_FULL : SQLiteError.Code.truncateFailed])
        #expect(walpool_commit_frames_end(frames).has_mark == (canBeCut ? 0 : 1))
        #expect(recorded.bytes.count == (canBeCut ? 32 : 32 + 4119))
    }

    /// SQLite may fail behind the last write, as where it has no memory to name the frames: then it is no refusal.
    @Test func aCommitThatFailsBehindItsFrames() throws {
        let database = try TemporaryDatabase()
        let connection = try database.open()
        try connection.gatherCommitFrames()
        let file = try #require(connection.walFile()).file
        for (writes, isInputOutput) in [(false, false), (true, true)] {
            let error = #expect(throws: SQLiteError.self) {
                try connection.commitAtOnce { () throws(SQLiteError) in
                    if writes { for call in Self.frame(0, commits: true) { _ = code(of: call, file, file.pointee.pMethods.pointee) } }
                    throw SQLiteError.outOfMemory
                }
            }
            #expect(error?.isInputOutput == isInputOutput)
        }
    }

    // MARK: What others have copied

    /// It is on the disk before the -wal is written over, emptied or closed, and only then.
    @Test(
        arguments: [
            (.other(32, at: 0), ["database sync", "write 32@0"]), (.truncate(to: 0), ["database sync", "truncate 0"]),
            (.truncate(to: 5), ["truncate 5"]), (.other(32, at: 32), ["write 32@32"]), (.close, ["database sync", "close"]),
        ] as [(Call, [String])])
    private func theDatabaseIsOnTheDisk(before call: Call, _ expected: [String]) throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        _ = try #require(walpool_commit_frames_of(recorded.file, database.file))
        #expect(code(of: call, recorded.file, recorded.table) == SQLITE_OK)
        #expect(recorded.calls == expected)
    }

    /// Whoever reads may make nothing of it, and then the frame that makes it a commit must not be written.
    @Test func whatFailsInAReadFailsTheCommit() throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        recorded.writesThatSucceed = 0
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        walpool_commit_frames_begin(frames)
        let calls = Self.frame(0) + [.read(at: 40)] + Self.frame(1, commits: true) + [.sync]
        let codes = calls.map { code(of: $0, recorded.file, recorded.table) }
        #expect(codes == [SQLITE_OK, SQLITE_OK, SQLITE_FULL, SQLITE_FULL, SQLITE_FULL, SQLITE_FULL])
        #expect(walpool_commit_frames_end(frames).is_whole == 0)
        walpool_commit_frames_begin(frames)
        #expect(walpool_commit_frames_end(frames).is_whole != 0, "the next commit is another one")
        #expect(recorded.calls == ["write 4120@32"])
    }

    /// A commit that is given up leaves nothing for the next one.
    @Test func whatIsLeftIsForgotten() throws {
        let recorded = RecordedFile()
        let database = RecordedFile(databaseOf: recorded)
        defer { withExtendedLifetime(database) {} }
        let frames = try #require(walpool_commit_frames_of(recorded.file, database.file))
        walpool_commit_frames_begin(frames)
        for call in Self.frame(0) + Self.frame(1) { #expect(code(of: call, recorded.file, recorded.table) == SQLITE_OK) }
        #expect(walpool_commit_frames_end(frames).is_whole == 0)
        walpool_commit_frames_begin(frames)
        for call in Self.frame(0, commits: true) { #expect(code(of: call, recorded.file, recorded.table) == SQLITE_OK) }
        #expect(walpool_commit_frames_end(frames).is_whole != 0)
        #expect(recorded.calls == ["write 4120@32"])
    }

    @Test func aCommitThatLeavesSomethingIsNone() throws {
        let database = try TemporaryDatabase()
        let connection = try database.open()
        try connection.gatherCommitFrames()
        let file = try #require(connection.walFile()).file
        let before = try #require(connection.walFile()?.bytes)
        try connection.commitAtOnce {}
        let error = #expect(throws: SQLiteError.self) {
            try connection.commitAtOnce {
                let header = [UInt8](repeating: 1, count: 24)
                _ = file.pointee.pMethods.pointee.xWrite(file, header, 24, before)
            }
        }
        #expect(error?.isInputOutput == true)
        #expect(connection.walFile()?.bytes == before)
    }

    // MARK: SQLite

    private static let schema = """
        CREATE TABLE t(a INTEGER PRIMARY KEY, b);
        WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
            INSERT INTO t SELECT i, hex(zeroblob(1000)) FROM n;
        """

    /// With `synchronous = full` SQLite syncs behind a commit, which would write what was forgotten.
    private static let durabilities = ["FULL", "NORMAL"]

    private func writer(of database: TemporaryDatabase, _ pragmas: String) throws -> Connection {
        let writer = try database.open()
        try writer.executeInternal("PRAGMA wal_autocheckpoint = 0; \(pragmas)")
        try writer.gatherCommitFrames()
        return writer
    }

    private func commit(_ writer: Connection) throws {
        try writer.commitAtOnce { () throws(SQLiteError) in try writer.executeInternal("COMMIT") }
    }

    /// What is in the files, for whoever finds them without the index of the WAL: the checksums say what is a commit.
    private func recovered(_ database: TemporaryDatabase, _ sql: String) throws -> String? {
        let copy = try TemporaryDatabase()
        let manager = FileManager.default
        for suffix in ["", "-wal"] {
            try? manager.removeItem(atPath: copy.path + suffix)
            try manager.copyItem(atPath: database.path + suffix, toPath: copy.path + suffix)
        }
        let connection = try copy.open()
        #expect(try connection.value("PRAGMA integrity_check") == "ok")
        return try connection.value(sql)
    }

    /// The pages of a commit, in the file and with everybody who reads it; a WAL that begins anew in between.
    @Test(arguments: durabilities) func othersReadWhatWasCommitted(synchronous: String) throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try writer(of: database, "PRAGMA synchronous = \(synchronous)")
        let wal = try #require(writer.walFile())
        let reader = try database.open(.readOnly)
        for round in 1...6 {
            if round == 4 { #expect(try writer.checkpoint(.passive).isComplete) }
            let before = try #require(wal.bytes)
            try writer.executeInternal("BEGIN IMMEDIATE; UPDATE t SET b = b || 'x' WHERE a % 40 = 7")
            #expect(wal.bytes == before)
            try commit(writer)
            if round < 4 { #expect(try #require(wal.bytes) >= before + 10 * 4120) }
            let sum = "\(400 * 2000 + round * 10)"
            #expect(try reader.value("SELECT sum(length(b)) FROM t") == sum)
            #expect(try recovered(database, "SELECT sum(length(b)) FROM t") == sum)
        }
    }

    /// Pages that leave the cache before the commit, are changed again in their frames, and are taken back by a savepoint.
    @Test(arguments: durabilities) func transactionsLargerThanTheCache(synchronous: String) throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try writer(of: database, "PRAGMA synchronous = \(synchronous); PRAGMA cache_size = 10")
        let reader = try database.open(.readOnly)
        for round in 1...3 {
            try writer.executeInternal(
                """
                BEGIN IMMEDIATE;
                UPDATE t SET b = b || 'x';
                SAVEPOINT s; UPDATE t SET b = b || 'yyy'; ROLLBACK TO s; RELEASE s;
                UPDATE t SET b = b || 'z' WHERE a % 3 = 0
                """)
            #expect(try reader.value("SELECT sum(length(b)) FROM t") == "\(400 * 2000 + (round - 1) * 533)")
            try commit(writer)
            let sum = "\(400 * 2000 + round * 533)"
            #expect(try reader.value("SELECT sum(length(b)) FROM t") == sum)
            #expect(try recovered(database, "SELECT sum(length(b)) FROM t") == sum)
        }
    }

    /// The same where pages are changed again in their frames only after the savepoint: SQLite before 3.50.2 would commit frames without
    /// their checksums, and nobody would find this commit, or a later one, who reads the -wal anew.
    @Test(arguments: durabilities, ["", "UPDATE t SET b = b || 'z' WHERE a % 3 = 0;", "UPDATE t SET b = b || 'z';"])
    func frameChecksums(synchronous: String, more: String) throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try writer(of: database, "PRAGMA synchronous = \(synchronous); PRAGMA cache_size = 10")
        var sum = 400 * 2000
        for round in 1...4 {
            // Once in a -wal that begins anew, so that the transaction's first frame is the file's.
            if round == 3 { #expect(try writer.checkpoint(.truncate).isComplete) }
            try writer.executeInternal(
                """
                BEGIN IMMEDIATE; SAVEPOINT s; UPDATE t SET b = b || 'y'; UPDATE t SET b = b || 'y' WHERE a > 200;
                UPDATE t SET b = b || 'y' WHERE a > 200; ROLLBACK TO s; RELEASE s; \(more)
                """)
            try commit(writer)
            sum += more.isEmpty ? 0 : more.contains("%") ? 133 : 400
            #expect(try recovered(database, "SELECT sum(length(b)) FROM t") == "\(sum)")
            try writer.executeInternal("BEGIN IMMEDIATE; UPDATE t SET b = b || 'n' WHERE a <= \(round)")
            try commit(writer)
            sum += round
            #expect(try recovered(database, "SELECT sum(length(b)) FROM t") == "\(sum)")
            // What is left of a transaction that is rolled back is nothing to the next, though that changes nothing.
            try writer.executeInternal(
                "BEGIN IMMEDIATE; SAVEPOINT s; UPDATE t SET b = b || 'y'; UPDATE t SET b = b || 'y' WHERE a > 200; ROLLBACK; BEGIN IMMEDIATE"
            )
            try commit(writer)
        }
    }

    /// Transactions of a seed, with savepoints in savepoints, with pages of all sizes and a cache of a few of them.
    @Test(arguments: [512, 4096, 65_536], 1...2) func everyCommitIsFoundAgain(pageBytes: Int, seed: UInt64) throws {
        let database = try TemporaryDatabase(
            "PRAGMA journal_mode = DELETE; PRAGMA page_size = \(pageBytes); VACUUM; PRAGMA journal_mode = WAL; CREATE TABLE t(a INTEGER PRIMARY KEY, b, c);"
                + "CREATE INDEX i ON t(c); WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
                + "INSERT INTO t SELECT i, zeroblob(\(pageBytes / 4)), i % 7 FROM n")
        let writer = try writer(of: database, "PRAGMA cache_size = 10")
        var random = Xorshift(state: seed &* 0x9E37_79B9_7F4A_7C15)
        let fingerprint = "SELECT count(*) || ' ' || sum(length(b)) || ' ' || sum(c * (a % 1000 + 1)) FROM t"
        for _ in 0..<15 {
            if random.next(10) == 0 { _ = try writer.checkpoint(random.next(2) == 0 ? .passive : .truncate) }
            try writer.executeInternal("BEGIN IMMEDIATE")
            var open = 0
            for _ in 0...random.next(12) {
                let first = random.next(300)
                switch random.next(8) {
                case 0, 1:
                    try writer.executeInternal("SAVEPOINT s\(open)")
                    open += 1
                case 2 where open > 0, 3 where open > 0:
                    open = random.next(open) + 1
                    try writer.executeInternal("ROLLBACK TO s\(open - 1)")
                // One that fails in its last row.
                case 4:
                    #expect(throws: SQLiteError.self) {
                        try writer.executeInternal("UPDATE t SET c = c + 1, a = CASE a WHEN 300 THEN 1 ELSE a END WHERE a >= \(first)")
                    }
                default:
                    try writer.executeInternal("UPDATE t SET c = c + 1, b = zeroblob(\(random.next(pageBytes / 2))) WHERE a >= \(first)")
                }
            }
            if random.next(5) == 0 { try writer.executeInternal("ROLLBACK") } else { try commit(writer) }
            #expect(try recovered(database, fingerprint) == writer.value(fingerprint))
        }
    }

    /// Marsaglia's, so that a seed gives the same steps everywhere.
    private struct Xorshift {
        var state: UInt64
        mutating func next(_ limit: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(limit))
        }
    }

    /// Work that SQLite does in the COMMIT itself, with pages that leave the cache there: FTS5 writes what it has gathered,
    /// auto_vacuum moves pages.
    @Test(arguments: durabilities) func commitsThatAreLargerThanTheCache(synchronous: String) throws {
        let database = try TemporaryDatabase(
            "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = FULL; VACUUM; PRAGMA journal_mode = WAL; \(Self.schema)"
                + "CREATE VIRTUAL TABLE f USING fts5(text)")
        let writer = try writer(of: database, "PRAGMA synchronous = \(synchronous); PRAGMA cache_size = 10")
        #expect(try writer.value("PRAGMA auto_vacuum") == "1")
        for round in 1...3 {
            try writer.executeInternal(
                """
                BEGIN IMMEDIATE;
                INSERT INTO f SELECT 'common w' || (a * 7919 % 400) || ' \(round)' || hex(randomblob(20)) FROM t;
                DELETE FROM t WHERE a <= \(100 * round) AND a % 4 > 0
                """)
            try commit(writer)
            let check = "SELECT (SELECT count(*) FROM f('common')) || ' ' || (SELECT sum(length(b)) FROM t)"
            let found = try writer.value(check)
            let left = 400 - 75 * round
            let common = (400 + left + 75) * round / 2
            #expect(found == "\(common) \(left * 2000)")
            #expect(try recovered(database, check) == found)
        }
    }

    ///     writer                                  another process's connection
    ///     BEGIN, more than its cache, ROLLBACK
    ///                                             INSERT, COMMIT: where those frames were
    ///     BEGIN, INSERT, COMMIT
    @Test func whatWasRolledBackFallsUponNobody() throws {
        let database = try TemporaryDatabase(Self.schema)
        let writer = try writer(of: database, "PRAGMA cache_size = 10")
        let other = try database.open()
        for round in 1...3 {
            try writer.executeInternal("BEGIN IMMEDIATE; UPDATE t SET b = b || 'x'; ROLLBACK")
            try other.executeInternal("INSERT INTO t(b) VALUES('other')")
            try writer.executeInternal("BEGIN IMMEDIATE; INSERT INTO t(b) VALUES('writer')")
            try commit(writer)
            #expect(try other.value("SELECT count(*) FROM t WHERE b IN ('other', 'writer')") == "\(2 * round)")
        }
        #expect(try recovered(database, "SELECT count(*) FROM t WHERE b IN ('other', 'writer')") == "6")
    }

    /// It wrote nothing, and the transaction is as it was.
    @Test func aCommitThatIsRefused() throws {
        let database = try TemporaryDatabase(
            "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE c(p REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
        let writer = try writer(of: database, "")
        let wal = try #require(writer.walFile())
        let before = try #require(wal.bytes)
        try writer.executeInternal("BEGIN IMMEDIATE; INSERT INTO c VALUES(1)")
        #expect(throws: SQLiteError.self) { try commit(writer) }
        #expect(wal.bytes == before)
        try writer.executeInternal("INSERT INTO p VALUES(1)")
        try commit(writer)
        #expect(try recovered(database, "SELECT count(*) FROM c") == "1")
    }
}
