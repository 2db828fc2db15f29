/* Bytes from a client that may send descriptors beside them: unix(7), SCM_RIGHTS. To a kernel that cannot be told to refuse those
   (`walpool_refuse_descriptors`).

   recv(2), which asks for none, leaves it to the kernel to drop them, on the thread that calls it, and to drop the last of a socket
   may take as long as whoever made it likes. So they are asked for, all of them, for somebody else to close. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* SCM_MAX_FD of the kernel: "The kernel constant SCM_MAX_FD defines a limit on the number of file descriptors in the array",
   unix(7). What there is no room for is dropped as recv(2) does it. */
enum { WALPOOL_MOST_DESCRIPTORS = 253 };

/* Room for other parts that whoever made the listening socket may have asked for: credentials, a security label, a pidfd. */
enum { WALPOOL_OTHER_PARTS_BYTES = 1024 };

/* The result of what came with descriptors; no call that receives has this errno. */
enum { WALPOOL_HAS_DESCRIPTORS = EBADMSG };

/* Where one call receives to. */
struct walpool_message {
    struct msghdr header;
    struct iovec part;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(WALPOOL_MOST_DESCRIPTORS * sizeof(int)) + WALPOOL_OTHER_PARTS_BYTES];
};

static inline void walpool_message_prepare(struct walpool_message *message, void *bytes, size_t count) {
    message->part = (struct iovec){.iov_base = bytes, .iov_len = count};
    message->header = (struct msghdr){
        .msg_iov = &message->part,
        .msg_iovlen = 1,
        .msg_control = message->control,
        .msg_controllen = sizeof message->control,
    };
}

static inline int walpool_is_of_descriptors(const struct cmsghdr *part) {
    return part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS;
}

/* After the call, with its result, which is an errno if negative: the same, or -WALPOOL_HAS_DESCRIPTORS. With MSG_CTRUNC there was
   no room for some in this process's table. Who made the listening socket may have asked for other parts (SO_PASSCRED). */
static inline ssize_t walpool_message_result(struct walpool_message *message, ssize_t result) {
    if (result < 0) return result;
    if (message->header.msg_flags & MSG_CTRUNC) return -WALPOOL_HAS_DESCRIPTORS;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message->header); part; part = CMSG_NXTHDR(&message->header, part))
        if (walpool_is_of_descriptors(part)) return -WALPOOL_HAS_DESCRIPTORS;
    return result;
}

/* How many bytes, or an errno, negative. */
static inline ssize_t walpool_receive_message(struct walpool_message *message, int socket, void *bytes, size_t count) {
    walpool_message_prepare(message, bytes, count);
    ssize_t received = recvmsg(socket, &message->header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    return walpool_message_result(message, received < 0 ? -errno : received);
}

/* The descriptors that came: how many. */
static inline int walpool_message_descriptors(struct walpool_message *message, int *descriptors) {
    size_t count = 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message->header); part; part = CMSG_NXTHDR(&message->header, part)) {
        if (!walpool_is_of_descriptors(part)) continue;
        size_t here = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        if (here > WALPOOL_MOST_DESCRIPTORS - count) here = WALPOOL_MOST_DESCRIPTORS - count;
        memcpy(descriptors + count, CMSG_DATA(part), here * sizeof(int));
        count += here;
    }
    return (int)count;
}

/* SO_PASSRIGHTS, which Debian 12's headers do not have. */
enum { WALPOOL_PASSES_RIGHTS = 83 };

/* SO_PASSRIGHTS of Linux 6.16, which Debian 12's headers do not have: without it sendmsg with SCM_RIGHTS is refused with EPERM, and
   so it is on every connection that is accepted from a listening socket. -1: the kernel does not know it. */
static inline int walpool_refuse_descriptors(int socket) {
    int no = 0;
    return setsockopt(socket, SOL_SOCKET, WALPOOL_PASSES_RIGHTS, &no, sizeof no);
}

/* Whether descriptors may come by it, or lie in it: SO_PASSRIGHTS of Linux 6.16, which a connection has from the listening socket as
   that was when the client connected. A kernel that does not know it lets them pass. */
static inline int walpool_may_have_descriptors(int socket) {
    int passes = 1;
    socklen_t size = sizeof passes;
    return getsockopt(socket, SOL_SOCKET, WALPOOL_PASSES_RIGHTS, &passes, &size) != 0 || passes;
}

/* A byte that was sent urgently comes in line with the others, and what came with it: otherwise it is passed over, and its descriptors
   are dropped by the kernel on the way (MSG_OOB of unix(7), SO_OOBINLINE of socket(7)). */
static inline void walpool_receive_in_line(int socket) {
    int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_OOBINLINE, &yes, sizeof yes);
}

/* Bytes that lie in it; a message with descriptors has one at least. */
static inline int walpool_unread(int socket) {
    int count = 0;
    return ioctl(socket, FIONREAD, &count) == 0 ? count : 0;
}

/* Nothing more is put into it from now on, and no call on it waits. False: it is no Unix socket, and nothing can lie in it. */
static inline int walpool_seal(int descriptor) {
    int domain = 0;
    socklen_t size = sizeof domain;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX) return 0;
    shutdown(descriptor, SHUT_RDWR);
    walpool_receive_in_line(descriptor);
    return fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0;
}

/* What it has may be empty, and is no end then: not a stream. */
static inline int walpool_has_packets(int socket) {
    int type = SOCK_STREAM;
    socklen_t size = sizeof type;
    getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size);
    return type != SOCK_STREAM;
}

/* To close it takes no time then, if it is a socket: without SO_LINGER "the socket is closed in the background", socket(7). */
static inline void walpool_do_not_linger(int descriptor) {
    struct linger none = {0};
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}
