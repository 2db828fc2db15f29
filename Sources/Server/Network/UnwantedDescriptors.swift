import CLinux
import Glibc
import POSIX

/// Descriptors that clients send beside their bytes (unix(7), SCM_RIGHTS), to a kernel that cannot be told to refuse them.
///
/// Nobody has a use for them, but somebody has to close them, and that may take as long as whoever made them likes: with SO_LINGER
/// "a close(2) or shutdown(2) will not return until all queued messages for the socket have been successfully sent or the linger
/// timeout has been reached" (socket(7)); the maker of a FUSE file system is asked whether it may be closed. So threads that do
/// nothing else close them, and the session ends.
enum UnwantedDescriptors {
    /// Linux before 6.16 has no SO_PASSRIGHTS (see `Listener`).
    static let mayCome: Bool = {
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { Glibc.close(probe) }
        return walpool_refuse_descriptors(probe) != 0
    }()

    /// Those who close, and what is left to close.
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
    static func close(_ message: inout walpool_message) {
        let came = [Int32](unsafeUninitializedCapacity: WALPOOL_MOST_DESCRIPTORS) { descriptors, count in
            count = Int(walpool_message_descriptors(&message, descriptors.baseAddress))
        }
        let needsThread = closing.withLock { closing in
            closing.descriptors += came
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
}
