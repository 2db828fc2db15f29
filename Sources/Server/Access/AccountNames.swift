import Glibc

/// The system's names of users and groups, from wherever nsswitch.conf(5) has them, which may be another machine.
enum AccountNames {
    /// glibc asks for more by ERANGE; the longest line of a group with all its members is far below.
    private static let longestEntry = 1 << 20

    /// A look-up that failed, as opposed to a name that does not exist.
    struct LookUpError: Error {
        let message: String
    }

    static func userID(of name: String) throws(LookUpError) -> uid_t? {
        try look("user \"\(name)\"") { buffer, size -> (Int32, uid_t?) in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let code = getpwnam_r(name, &entry, buffer, size, &found)
            return (code, found?.pointee.pw_uid)
        }
    }

    static func groupID(of name: String) throws(LookUpError) -> gid_t? {
        try look("group \"\(name)\"") { buffer, size -> (Int32, gid_t?) in
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            let code = getgrnam_r(name, &entry, buffer, size, &found)
            return (code, found?.pointee.gr_gid)
        }
    }

    /// nil for a user ID without an entry: such a user has no name that could be compared.
    static func name(ofUser user: uid_t) throws(LookUpError) -> String? {
        try look("user ID \(user)") { buffer, size -> (Int32, String?) in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            let code = getpwuid_r(user, &entry, buffer, size, &found)
            return (code, found.map { String(cString: $0.pointee.pw_name) })
        }
    }

    static func name(ofGroup id: gid_t) throws(LookUpError) -> String? {
        try look("group ID \(id)") { buffer, size -> (Int32, String?) in
            var entry = group()
            var found: UnsafeMutablePointer<group>?
            let code = getgrgid_r(id, &entry, buffer, size, &found)
            return (code, found.map { String(cString: $0.pointee.gr_name) })
        }
    }

    /// Calls with a buffer that grows until the entry fits.
    private static func look<Found>(
        _ what: String, _ body: (UnsafeMutablePointer<CChar>, Int) -> (code: Int32, found: Found?)
    ) throws(LookUpError) -> Found? {
        var size = 4096
        while size <= longestEntry {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            let (code, found) = body(buffer, size)
            switch code {
            case ERANGE: size *= 4
            case EINTR: continue
            // "0 or ENOENT or ESRCH or EBADF or EPERM or ...: The given name or gid was not found": getgrnam(3).
            case 0, ENOENT, ESRCH, EBADF, EPERM: return found
            default: throw LookUpError(message: "\(what) could not be looked up: \(String(cString: strerror(code)))")
            }
        }
        throw LookUpError(message: "\(what) has an entry larger than \(longestEntry) bytes")
    }
}
