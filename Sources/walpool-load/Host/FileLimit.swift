import Glibc

/// The limit of open files.
enum FileLimit {
    /// What the program has open beside its clients.
    private static let others = 50

    static func raise(for clients: Int) throws(LoadError) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let wanted = rlim_t(clients + others)
        guard limit.rlim_cur < wanted else { return }
        limit.rlim_cur = wanted
        limit.rlim_max = max(limit.rlim_max, wanted)
        guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            throw LoadError("\(clients) clients need \(wanted) open files, which `ulimit -n` does not allow")
        }
    }
}
