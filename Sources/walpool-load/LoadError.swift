import Glibc

/// Why a run cannot begin or go on, in words for the one who started it.
struct LoadError: Error, CustomStringConvertible {
    /// That of a command line that cannot be understood, as of those that ArgumentParser refuses.
    static let usageStatus: Int32 = 2

    let description: String
    let exitStatus: Int32

    init(_ description: String) { self.init(description, exitStatus: 1) }

    private init(_ description: String, exitStatus: Int32) {
        (self.description, self.exitStatus) = (description, exitStatus)
    }

    /// The command line, or the file that it names, is wrong.
    static func usage(_ description: String) -> LoadError { LoadError(description, exitStatus: usageStatus) }

    /// With the text of errno.
    static func system(_ what: String) -> LoadError { LoadError("\(what): \(String(cString: strerror(errno)))") }
}
