import POSIX
import Testing

@testable import Configuration

struct FileSystemTests {
    /// As statfs(2) and linux/magic.h have them.
    @Test(
        "File systems of other machines are known",
        arguments: [
            (0x6969, "NFS"), (0x517B, "SMB"), (0xFF53_4D42, "SMB"), (0xFE53_4D42, "SMB"), (0x0102_1997, "9p"),
            (0xEF53, nil), (0x5846_5342, nil), (0x0102_1994, nil), (0x9123_683E, nil),
        ] as [(UInt32, String?)])
    func networks(type: UInt32, name: String?) {
        #expect(NetworkFileSystem.name(type) == name)
    }

    @Test("Of a database on this machine's own nothing is said")
    func own() throws {
        #expect(try StartSettings(file: nil, options: [("database", .string("/proc/app.db"))]).doubtOfDatabase() == nil)
    }
}
