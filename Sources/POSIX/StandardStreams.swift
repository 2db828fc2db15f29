import Glibc

/// Descriptor 2, for what is said where there is no log.
public enum StandardError {
    /// All of it, however long that takes. A descriptor that is closed or broken takes nothing, and there is nobody to tell.
    public static func write(_ text: String) { _ = writeAll(text, to: STDERR_FILENO) }

    /// The same, for who can tell somebody later: how many of its bytes were written.
    public static func written(of text: String) -> Int {
        var written = 0
        _ = writeAll(text, to: STDERR_FILENO, &written)
        return written
    }
}

/// Descriptor 1, for what a command answers.
public enum StandardOutput {
    /// All of it, however long that takes. Returns the errno of what failed; nil: all is written.
    public static func write(_ text: String) -> Int32? { writeAll(text, to: STDOUT_FILENO) }
}

/// Descriptors 0 to 2.
public enum StandardStreams {
    /// Opens those that are closed, on nothing. Otherwise the next file that is opened would be one of them, and the log would be
    /// written into it.
    public static func openClosed() {
        var opened = open("/dev/null", O_RDWR)
        while opened >= 0, opened <= STDERR_FILENO { opened = open("/dev/null", O_RDWR) }
        if opened >= 0 { close(opened) }
    }
}

private func writeAll(_ text: String, to descriptor: Int32) -> Int32? {
    var written = 0
    return writeAll(text, to: descriptor, &written)
}

private func writeAll(_ text: String, to descriptor: Int32, _ done: inout Int) -> Int32? {
    var text = text
    return text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written > 0 {
                done += written
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if written < 0, errno == EAGAIN {
                // The process that started us shares the descriptor and made it non-blocking.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&waiting, 1, -1) < 0, errno != EINTR { return errno }
            } else if written == 0 || errno != EINTR {
                return written == 0 ? ENOSPC : errno
            }
        }
        return nil
    }
}
