import Glibc
import POSIX

/// What this process has open itself, as /proc shows it.
extension DatabaseFiles {
    /// By which this process has the file and its -shm open, to ask who else has them locked: nothing may be opened besides
    /// for that. nil: that is not shown.
    var descriptors: (database: Int32, index: Int32)? {
        let opened = Self.openHere ?? []
        guard let file = opened.first(where: { $0.file == database }), let shm = opened.first(where: { $0.file == index }) else {
            return nil
        }
        return (file.descriptor, shm.descriptor)
    }

    /// What this process has open.
    private static var openHere: [(descriptor: Int32, file: FileIdentity)]? {
        // The links lead to the files themselves, whatever their names are by now.
        Directory.names(in: "/proc/self/fd")?.compactMap { number in
            guard let descriptor = Int32(number), let file = identity("/proc/self/fd/\(number)") else { return nil }
            return (descriptor, file)
        }
    }

    /// What SQLite has open is among them; what is only read (`KeptWAL`) is not.
    static var writableHere: [(descriptor: Int32, file: FileIdentity)]? {
        openHere?.filter { fcntl($0.descriptor, F_GETFL) & O_ACCMODE == O_RDWR }
    }

    /// Whether this process has the same file open by another descriptor as well, or may have.
    static func isOpenHereBesides(_ descriptor: Int32) -> Bool {
        guard let openHere, let file = identity("/proc/self/fd/\(descriptor)") else { return true }
        return openHere.count { $0.file == file } != 1
    }
}
