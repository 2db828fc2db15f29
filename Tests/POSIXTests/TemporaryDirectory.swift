import Foundation

/// A directory of the test's own, gone with what is in it at the end.
struct TemporaryDirectory: ~Copyable {
    let path = NSTemporaryDirectory() + "/walpool-posix-" + UUID().uuidString

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// An empty file of that name, and a descriptor of it.
    func create(_ name: String) -> Int32 { open("\(path)/\(name)", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600) }
}
