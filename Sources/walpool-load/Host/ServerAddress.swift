import Glibc

/// Where the server is, and as whom to speak to it.
struct ServerAddress: Sendable {
    let path: String
    let user: String
    let database: String
    private let address: sockaddr_un

    init(directory: String, port: Int, user: String, database: String) throws(LoadError) {
        path = "\(directory)/.s.PGSQL.\(port)"
        self.user = user
        self.database = database
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // With the NUL that ends it.
        let bytes = path.utf8CString
        guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else {
            throw LoadError("\(path) is too long for a socket")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { place in
            bytes.withUnsafeBytes { place.copyMemory(from: $0) }
        }
        self.address = address
    }

    /// connect(2).
    func connect(_ descriptor: Int32) -> Int32 {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
