import POSIX
import Testing

@testable import Pool

/// Lines of /proc/locks, as the kernel writes them (`lock_get_status` in
/// https://github.com/torvalds/linux/blob/master/fs/locks.c).
struct OutsiderLocksTests {
    /// Major number 254, minor number 3, as makedev(3) puts them together.
    private static let onDisk = FileIdentity(device: 0xFE03, inode: 5678)
    private static let onTemporaryFiles = FileIdentity(device: 0x1C, inode: 5678)

    private static func holder(_ line: String, of files: [FileIdentity] = [onDisk], withReaders: Bool = true) -> String? {
        OutsiderLocks.process(thatLocks: files, line: line, withReaders: withReaders)
    }

    @Test("Whoever has the file locked is told by its process") func ofThisFile() {
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 fe:03:5678 120 120") == "1234")
        #expect(Self.holder("22: POSIX  ADVISORY  READ 1234 fe:03:5678 1073741826 1073742335") == "1234")
        let other = FileIdentity(device: 0xFE03, inode: 1)
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 fe:03:5678 120 EOF", of: [other, Self.onDisk]) == "1234")
    }

    @Test("A file of the same number in another file system is another") func ofAnotherDevice() {
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 fe:04:5678 120 120") == nil)
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 08:03:5678 120 120") == nil)
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 00:1c:5678 120 120") == nil)
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 fe:03:5678 120 120", of: [Self.onTemporaryFiles]) == nil)
    }

    @Test("Where there is no block device, stat(2) may say another minor number") func withoutBlockDevice() {
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 00:1c:5678 120 120", of: [Self.onTemporaryFiles]) == "1234")
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 00:2f:5678 120 120", of: [Self.onTemporaryFiles]) == "1234")
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 00:1c:5679 120 120", of: [Self.onTemporaryFiles]) == nil)
    }

    @Test("Only POSIX locks count, and those that are only read on request") func kinds() {
        #expect(Self.holder("1: FLOCK  ADVISORY  WRITE 1234 fe:03:5678 0 EOF") == nil)
        #expect(Self.holder("1: OFDLCK ADVISORY  WRITE -1 fe:03:5678 0 EOF") == nil)
        #expect(Self.holder("1: POSIX  ADVISORY  READ 1234 fe:03:5678 123 123", withReaders: false) == nil)
        #expect(Self.holder("1: POSIX  ADVISORY  WRITE 1234 fe:03:5678 120 120", withReaders: false) == "1234")
    }

    @Test("A daemon's lock is none of SQLite's") func ofWholeFile() {
        func holder(_ line: String) -> String? {
            OutsiderLocks.process(thatLocks: [Self.onDisk], .wholeFile, line: line, withReaders: false)
        }
        #expect(holder("1: FLOCK  ADVISORY  WRITE 1234 fe:03:5678 0 EOF") == "1234")
        #expect(holder("1: FLOCK  ADVISORY  WRITE 1234 fe:03:5679 0 EOF") == nil)
        #expect(holder("1: POSIX  ADVISORY  WRITE 1234 fe:03:5678 120 120") == nil)
    }

    @Test(
        "What is no such line names nobody",
        arguments: ["", "1: POSIX", "1: POSIX  ADVISORY  WRITE 1234 5678 120 120", "1: POSIX  ADVISORY  WRITE 1234 xy:03:5678 0 0"])
    func noSuchLine(_ line: String) { #expect(Self.holder(line) == nil) }
}
