import CLinux
import Glibc

/// Descriptors that clients send beside their bytes (unix(7), SCM_RIGHTS), where the kernel cannot be told to refuse them, or was told
/// after a client had connected.
///
/// Nobody asks for them, so the kernel drops them, on the thread that receives, or that closes a socket in which they lie unread; and
/// whoever sent them loses the session. See `SocketWait` for what that thread may wait for.
enum SentDescriptors {
    /// Linux before 6.16 has no SO_PASSRIGHTS (see `Listener`).
    static let mayCome: Bool = {
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(probe) }
        return walpool_refuse_descriptors(probe) != 0
    }()

    /// How many bytes, or an errno, negative: -WALPOOL_HAS_DESCRIPTORS if some came with them.
    static func receive(from socket: Int32, _ room: UnsafeMutableRawBufferPointer) -> Int {
        var message = walpool_message()
        return walpool_receive_message(&message, socket, room.baseAddress, room.count)
    }
}
