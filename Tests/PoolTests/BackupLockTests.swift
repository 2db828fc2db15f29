import Foundation
import POSIX
import Testing

@testable import Pool

@Suite struct BackupLockTests {
    private let directory = NSTemporaryDirectory() + "/walpool-lock-" + UUID().uuidString
    private var path: String { directory + "/.copy.db.walpool-backup" }
    private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] }

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    private func isFree() throws -> Bool {
        guard let lock = try BackupLock.take(for: path) else { return false }
        _ = consume lock
        return true
    }

    @Test func oneHasItAndRemovesIt() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        guard let lock = try BackupLock.take(for: path) else {
            Issue.record("nobody has it")
            return
        }
        #expect(files == [".copy.db.walpool-backup-lock"])
        #expect(try !isFree())
        #expect(files.count == 1)
        _ = consume lock
        #expect(files.isEmpty)
        #expect(try isFree())
        #expect(files.isEmpty)
    }

    /// Who dies leaves the file, and nobody has it.
    @Test func oneThatWasLeft() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        _ = FileManager.default.createFile(atPath: path + "-lock", contents: nil)
        #expect(try isFree())
        #expect(files.isEmpty)
    }

    /// One that is not there to be locked is no lock that somebody else has.
    @Test func whatIsWrongIsSaid() {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        do throws(BackupError) {
            let lock = try BackupLock.take(for: path + "/nowhere/file")
            _ = consume lock
            Issue.record("a lock in a directory that is not there")
        } catch {
            if case .system(call: "open", _, errorNumber: ENOENT) = error { return }
            Issue.record("\(error)")
        }
    }

    /// Threads open, lock and remove it all the time: the file that one has locked may have been removed before it had it.
    @Test func neverTwoAtATime() throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = path
        let counts = Locked((inside: 0, most: 0, taken: 0))
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<2_000 {
                guard let lock = try? BackupLock.take(for: path) else { continue }
                counts.withLock { counts in
                    counts.inside += 1
                    counts.most = max(counts.most, counts.inside)
                    counts.taken += 1
                }
                sched_yield()
                counts.withLock { $0.inside -= 1 }
                _ = consume lock
            }
        }
        let (_, most, taken) = counts.withLock { $0 }
        #expect(most == 1 && taken > 0)
        #expect(files.isEmpty)
    }
}
