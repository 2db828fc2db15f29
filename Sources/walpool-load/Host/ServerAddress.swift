import POSIX

/// Where the server is, and as whom to speak to it.
struct ServerAddress: Sendable {
    let path: String
    let user: String
    let database: String
    private let address: UnixSocketAddress

    init(directory: String, port: Int, user: String, database: String) throws(LoadError) {
        path = "\(directory)/.s.PGSQL.\(port)"
        self.user = user
        self.database = database
        guard let address = UnixSocketAddress(path: path) else { throw LoadError("\(path) is too long for a socket") }
        self.address = address
    }

    /// connect(2), with its result.
    func connect(_ descriptor: Int32) -> Int32 { address.connect(descriptor) }
}
