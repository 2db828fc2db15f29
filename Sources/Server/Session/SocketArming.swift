/// What epoll tells of a session's socket.
struct SocketArming {
    /// What the socket is armed for when no thread owns the session.
    var interest = Poller.Interest.stream
    /// No edge would announce what the socket has now, so it is armed anew before the session is let go of.
    var isNeeded = false
    /// epoll tells nobody what its client sends until it is armed.
    var isUnannounced = false
}
