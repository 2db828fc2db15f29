import Glibc
import POSIX
import Testing

@Suite struct FileIdentityTests {
    @Test func oneFileHasOneIdentityHoweverItIsReached() throws {
        let directory = try TemporaryDirectory()
        let descriptor = directory.create("file")
        defer { close(descriptor) }
        try #require(link("\(directory.path)/file", "\(directory.path)/other name") == 0)
        let identity = try #require(FileIdentity(ofDescriptor: descriptor))
        #expect(identity == FileIdentity(at: "\(directory.path)/file"))
        #expect(identity == FileIdentity(named: "\(directory.path)/other name"))
    }

    @Test func aSymbolicLinkIsAFileOfItsOwn() throws {
        let directory = try TemporaryDirectory()
        close(directory.create("file"))
        try #require(symlink("file", "\(directory.path)/link") == 0)
        #expect(FileIdentity(at: "\(directory.path)/link") == FileIdentity(at: "\(directory.path)/file"))
        #expect(FileIdentity(named: "\(directory.path)/link") != FileIdentity(at: "\(directory.path)/file"))
    }

    @Test func anotherOfTheSameNameIsAnother() throws {
        let directory = try TemporaryDirectory()
        let descriptor = directory.create("file")
        defer { close(descriptor) }
        try #require(unlink("\(directory.path)/file") == 0)
        close(directory.create("file"))
        #expect(FileIdentity(ofDescriptor: descriptor) != FileIdentity(named: "\(directory.path)/file"))
    }

    @Test func whereThereIsNoneItIsNil() throws {
        let directory = try TemporaryDirectory()
        let (found, reason) = (FileIdentity(at: "\(directory.path)/none"), errno)
        #expect(found == nil && reason == ENOENT)
        #expect(FileIdentity(named: "\(directory.path)/none") == nil)
        #expect(FileIdentity(ofDescriptor: -1) == nil)
    }
}
