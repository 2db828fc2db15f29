import Glibc

/// Descriptor 2, for what is said where there is no log.
public enum StandardError {
    /// All of it, however long that takes. A descriptor that is closed or broken takes nothing, and there is nobody to tell.
    public static func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let written = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
                if written > 0 {
                    rest = UnsafeRawBufferPointer(rebasing: rest[written...])
                } else if written < 0, errno == EAGAIN {
                    // The process that started us shares the descriptor and made it non-blocking.
                    var descriptor = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
                    if poll(&descriptor, 1, -1) < 0, errno != EINTR { return }
                } else if written == 0 || errno != EINTR {
                    return
                }
            }
        }
    }
}
