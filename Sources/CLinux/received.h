/* Bytes from a client that may send descriptors beside them: unix(7), SCM_RIGHTS. To a kernel that cannot be told to refuse those
   (`walpool_refuse_descriptors`).

   They are not asked for, so the kernel drops them and says so. Once in this process's table they would have to be closed, and "if a
   process closes any file descriptor referring to a file, then all of the process's locks on that file are released": fcntl(2). Those
   are SQLite's locks, if it is a file of the database. */
#pragma once
#include <errno.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* The result of what came with descriptors; no call that receives has this errno. */
enum { WALPOOL_HAS_DESCRIPTORS = EBADMSG };

/* Where one call receives to. */
struct walpool_message {
    struct msghdr header;
    struct iovec part;
};

static inline void walpool_message_prepare(struct walpool_message *message, void *bytes, size_t count) {
    message->part = (struct iovec){.iov_base = bytes, .iov_len = count};
    message->header = (struct msghdr){.msg_iov = &message->part, .msg_iovlen = 1};
}

/* After the call, with its result, which is an errno if negative: the same, or -WALPOOL_HAS_DESCRIPTORS. "MSG_CTRUNC indicates that
   some control data was discarded due to lack of space in the buffer for ancillary data": recv(2). Nothing else is such data after
   `walpool_take_bytes_only`. */
static inline ssize_t walpool_message_result(const struct walpool_message *message, ssize_t result) {
    return result >= 0 && message->header.msg_flags & MSG_CTRUNC ? -WALPOOL_HAS_DESCRIPTORS : result;
}

/* How many bytes, or an errno, negative. */
static inline ssize_t walpool_receive_message(struct walpool_message *message, int socket, void *bytes, size_t count) {
    walpool_message_prepare(message, bytes, count);
    ssize_t received = recvmsg(socket, &message->header, MSG_DONTWAIT);
    return walpool_message_result(message, received < 0 ? -errno : received);
}

/* SO_PASSRIGHTS of Linux 6.16 and SO_PASSPIDFD of 6.5, which Debian 12's headers do not have. */
enum { WALPOOL_PASSES_RIGHTS = 83, WALPOOL_PASSES_PROCESS = 76 };

/* Without SO_PASSRIGHTS sendmsg with SCM_RIGHTS is refused with EPERM, and so it is on every connection that is accepted from a
   listening socket. -1: the kernel does not know it. */
static inline int walpool_refuse_descriptors(int socket) {
    int no = 0;
    return setsockopt(socket, SOL_SOCKET, WALPOOL_PASSES_RIGHTS, &no, sizeof no);
}

/* Whether descriptors may come by it, or lie in it: a connection has SO_PASSRIGHTS from the listening socket as that was when the
   client connected. A kernel that does not know it lets them pass. */
static inline int walpool_may_have_descriptors(int socket) {
    int passes = 1;
    socklen_t size = sizeof passes;
    return getsockopt(socket, SOL_SOCKET, WALPOOL_PASSES_RIGHTS, &passes, &size) != 0 || passes;
}

/* Nothing comes beside the bytes but descriptors: who made the listening socket may have asked for credentials, a security label, a
   pidfd, which a connection is accepted with. And a byte that was sent urgently comes in line with the others: otherwise it is passed
   over, and what came with it (MSG_OOB of unix(7), SO_OOBINLINE of socket(7)). */
static inline void walpool_take_bytes_only(int socket) {
    int yes = 1, no = 0;
    setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &no, sizeof no);
    setsockopt(socket, SOL_SOCKET, SO_PASSSEC, &no, sizeof no);
    setsockopt(socket, SOL_SOCKET, WALPOOL_PASSES_PROCESS, &no, sizeof no);
    setsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof yes);
}

/* Bytes that lie in it. */
static inline int walpool_unread(int socket) {
    int count = 0;
    return ioctl(socket, FIONREAD, &count) == 0 ? count : 0;
}
