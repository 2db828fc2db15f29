import Glibc
import POSIX
import Testing

@testable import Server

/// Whose the socket's file is.
@Suite struct ListenerTests {
    private static func withDirectory(_ body: (String) throws -> Void) rethrows {
        var template = Array("/tmp/walpool-listener-XXXXXX".utf8CString)
        let directory = template.withUnsafeMutableBufferPointer { String(cString: mkdtemp($0.baseAddress!)) }
        defer { rmdir(directory) }
        try body(directory)
    }

    private static func files(in directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    @Test func aStopRemovesNoOthersSocket() throws {
        try Self.withDirectory { directory in
            let path = directory + "/socket"
            let first = try Listener(path: path, mode: 0o600)
            unlink(path)
            let second = try Listener(path: path, mode: 0o600)
            first.stop()
            first.close()
            #expect(Self.files(in: directory) == ["socket"])
            second.stop()
            second.close()
            #expect(Self.files(in: directory).isEmpty)
        }
    }

    /// Nobody finds a daemon whose socket's file has been removed. It is told once.
    @Test func aSocketFileThatIsGoneIsNoticed() throws {
        let test = try TestServer()
        let path = test.configuration.socketPath
        #expect(test.server.lostSocketFiles() == [])
        unlink(path)
        #expect(test.server.lostSocketFiles() == [path])
        #expect(test.server.lostSocketFiles() == [])
    }

    /// A thread of the crew that has been told of it may come to it when the server has long been stopping.
    @Test func theNumberOfOneThatIsRetiredIsNobodyElses() throws {
        try Self.withDirectory { directory in
            let path = directory + "/socket"
            let listener = try Listener(path: path, mode: 0o600)
            let poller = try Poller()
            defer { poller.close() }
            try poller.add(listener.descriptor, .readable, token: 1)
            let waits = try RawClient(path)
            let placeholder = dup(0)
            defer { Glibc.close(placeholder) }
            listener.stop()
            listener.retire(to: placeholder)
            #expect(try waits.isClosedByServer())
            let next = dup(0)
            defer { Glibc.close(next) }
            #expect(next != listener.descriptor && fcntl(listener.descriptor, F_GETFD) == FD_CLOEXEC)
            guard case .none = listener.accept() else {
                Issue.record("accepted")
                return
            }
            #expect(throws: SystemError.self) { try poller.arm(listener.descriptor, .readable, token: 1) }
            listener.close()
        }
    }

    @Test func ofSeveralThatStartTogetherOneListens() throws {
        try Self.withDirectory { directory in
            let path = directory + "/socket"
            for _ in 0..<200 {
                let dead = try Listener(path: path, mode: 0o600)
                Glibc.close(dead.descriptor)
                let listening = Locked<[Listener]>([])
                onThreads(3) { _ in
                    guard let listener = try? Listener(path: path, mode: 0o600) else { return }
                    listening.withLock { $0.append(listener) }
                }
                let found = listening.withLock { $0 }
                #expect(found.count == 1)
                #expect(Self.files(in: directory) == ["socket"])
                for listener in found {
                    listener.stop()
                    listener.close()
                }
                unlink(path)
            }
        }
    }

    /// Somebody may listen there, and a start must not end that.
    @Test func aSocketOfAnotherKindStays() throws {
        try Self.withDirectory { directory in
            let path = directory + "/socket"
            let datagrams = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            defer { Glibc.close(datagrams) }
            let address = try #require(UnixSocketAddress(path: path))
            #expect(address.bind(datagrams) == 0)
            #expect(throws: StartError.self) { try Listener.requireFree(path) }
            #expect(throws: StartError.self) { try Listener(path: path, mode: 0o600) }
            #expect(Self.files(in: directory) == ["socket"])
        }
    }

    /// One that listens and does not accept is alive, however many wait for it already.
    @Test func aFullQueueIsALife() throws {
        try Self.withDirectory { directory in
            let path = directory + "/socket"
            let full = try Listener(path: path, mode: 0o600)
            listen(full.descriptor, 0)
            var waiting: [Int32] = []
            defer { for socket in waiting { Glibc.close(socket) } }
            while let socket = Self.connected(to: path) { waiting.append(socket) }
            #expect(throws: StartError.self) { try Listener(path: path, mode: 0o600) }
            full.stop()
            full.close()
        }
    }

    private static func connected(to path: String) -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result == 0 { return descriptor }
        Glibc.close(descriptor)
        return nil
    }
}
