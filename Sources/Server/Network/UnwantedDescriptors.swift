import CLinux
import Glibc
import POSIX

/// Descriptors that clients send beside their bytes (unix(7), SCM_RIGHTS), where the kernel cannot be told to refuse them, or was told
/// after a client had connected.
///
/// Nobody has a use for them, but somebody has to close them, and that may take as long as whoever made them likes: with SO_LINGER
/// "a close(2) or shutdown(2) will not return until all queued messages for the socket have been successfully sent or the linger
/// timeout has been reached" (socket(7)); the maker of a FUSE file system is asked whether it may be closed. So threads that do
/// nothing else close them, and the session ends. They lie in a socket until they are received, and whoever closes that one drops
/// them: a client's socket in which something lies unread is closed by those threads, too.
enum UnwantedDescriptors {
    /// Linux before 6.16 has no SO_PASSRIGHTS (see `Listener`).
    static let mayCome: Bool = {
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(probe) }
        return walpool_refuse_descriptors(probe) != 0
    }()

    /// Those who close, and what is left to close: never more than the process may have open.
    private struct Closing {
        var descriptors: [Int32] = []
        var threads = 0
    }

    private static let closing = Locked(Closing())

    /// How many bytes, or an errno, negative.
    static func receive(from socket: Int32, _ room: UnsafeMutableRawBufferPointer) -> Int {
        var message = walpool_message()
        let result = walpool_receive_message(&message, socket, room.baseAddress, room.count)
        if result == -WALPOOL_HAS_DESCRIPTORS { close(&message) }
        return result
    }

    /// Sees to it that those are closed that came with a message. Never waits.
    static func close(_ message: inout walpool_message) { handOver(descriptors(of: &message)) }

    /// Closes a client's socket, in which descriptors may lie. Never waits.
    static func close(socket: Int32) {
        // What it has not read does not come out of it any more, and nothing comes in.
        shutdown(socket, Int32(SHUT_RDWR))
        if walpool_unread(socket) == 0 { Glibc.close(socket) } else { handOver([socket]) }
    }

    /// Closes a listening socket: connections that nobody has accepted may have sent some. Never waits.
    static func close(listener: Int32) { handOver([listener]) }

    private static func descriptors(of message: inout walpool_message) -> [Int32] {
        [Int32](unsafeUninitializedCapacity: WALPOOL_MOST_DESCRIPTORS) { descriptors, count in
            count = Int(walpool_message_descriptors(&message, descriptors.baseAddress))
        }
    }

    // MARK: Closing

    private static func handOver(_ descriptors: [Int32]) {
        let needsThread = closing.withLock { closing in
            closing.descriptors += descriptors
            guard closing.threads < ServerLimits.closingThreads else { return false }
            closing.threads += 1
            return true
        }
        guard needsThread else { return }
        let thread = try? Pthread(stackBytes: ServerLimits.closingStackBytes, isDetached: true, closeAll)
        // Without one they are closed when more come.
        if thread == nil { closing.withLock { $0.threads -= 1 } }
    }

    @Sendable private static func closeAll() {
        while let descriptor = next() {
            // What was found in it is closed before more is looked for, so that there are never many.
            let found = find(in: descriptor)
            guard found.isEmpty else {
                closing.withLock { $0.descriptors += [descriptor] + found }
                continue
            }
            walpool_do_not_linger(descriptor)
            Glibc.close(descriptor)
        }
    }

    /// nil: there is none, and the thread ends.
    private static func next() -> Int32? {
        closing.withLock { closing in
            if let last = closing.descriptors.popLast() { return last }
            closing.threads -= 1
            return nil
        }
    }

    /// What lies in a Unix socket, a part of it: descriptors that were sent to it, or a connection that was not accepted. The kernel
    /// allows a few of them one in the other ("ETOOMANYREFS", unix(7)). Empty: there is nothing more.
    private static func find(in socket: Int32) -> [Int32] {
        guard walpool_seal(socket) != 0 else { return [] }
        let connection = walpool_accept(socket)
        if connection >= 0 { return [connection] }
        var message = walpool_message()
        var empties = 0
        return withUnsafeTemporaryAllocation(byteCount: SessionLimits.readBytes, alignment: 1) { bytes in
            while true {
                let result = walpool_receive_message(&message, socket, bytes.baseAddress, bytes.count)
                if result == -WALPOOL_HAS_DESCRIPTORS {
                    let found = descriptors(of: &message)
                    if !found.isEmpty { return found }
                } else if result == 0, walpool_has_packets(socket) != 0, empties < ServerLimits.emptyPackets {
                    empties += 1
                } else if result <= 0, result != -Int(EINTR) {
                    return []
                }
            }
        }
    }
}
