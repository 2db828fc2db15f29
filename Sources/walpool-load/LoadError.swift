import Glibc

/// Why a run cannot begin or go on, in words for the one who started it.
struct LoadError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// With the text of errno.
    static func system(_ what: String) -> LoadError { LoadError("\(what): \(String(cString: strerror(errno)))") }
}
