import Glibc
import POSIX
import Testing

@Suite struct UnixSocketAddressTests {
    private func withSocket(_ body: (Int32) throws -> Void) rethrows {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        try body(descriptor)
    }

    @Test func aPathComesBackAsItWasBound() throws {
        let directory = try TemporaryDirectory()
        // As long as may be.
        let path = directory.path + "/" + String(repeating: "s", count: UnixSocketAddress.pathLimit - directory.path.utf8.count - 1)
        let address = try #require(UnixSocketAddress(path: path))
        try withSocket { server in
            #expect(address.bind(server) == 0)
            #expect(UnixSocketAddress.path(ofBound: server) == path)
            try #require(listen(server, 1) == 0)
            withSocket { #expect(address.connect($0) == 0) }
        }
    }

    @Test func aLongerPathIsNone() {
        #expect(UnixSocketAddress(path: String(repeating: "s", count: UnixSocketAddress.pathLimit + 1)) == nil)
        // Bytes count, not letters.
        #expect(UnixSocketAddress(path: String(repeating: "ä", count: UnixSocketAddress.pathLimit / 2 + 1)) == nil)
    }

    @Test func whatFailsSaysSo() throws {
        let directory = try TemporaryDirectory()
        let address = try #require(UnixSocketAddress(path: directory.path + "/nobody"))
        withSocket {
            let (result, reason) = (address.connect($0), errno)
            #expect(result == -1 && reason == ENOENT)
        }
        #expect(UnixSocketAddress.path(ofBound: -1) == nil)
    }

    /// The kernel chooses a name where a client gives none.
    @Test func anAbstractNameHasAnAtSign() throws {
        try withSocket { server in
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let size = socklen_t(MemoryLayout<sa_family_t>.size)
            let result = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(server, $0, size) }
            }
            try #require(result == 0)
            let path = try #require(UnixSocketAddress.path(ofBound: server))
            // "an address consists of a null byte followed by 5 bytes in the character set [0-9a-f]": unix(7).
            #expect(path.utf8.count == 6 && path.first == "@")
        }
    }
}
