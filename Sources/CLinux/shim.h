/* What the C library has and Swift's Glibc module does not show. Constants that C writes as macros or as members of an enum
   become functions of their result. */
#pragma once
#include "ring.h"
/* Not _GNU_SOURCE: it changes the members of fd_set, and a Swift module that sees both spellings does not compile. What
   only _GNU_SOURCE shows is declared below. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

static inline int walpool_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

enum walpool_interest {
    WALPOOL_READABLE, WALPOOL_STREAM, WALPOOL_WRITABLE, WALPOOL_EDGE, WALPOOL_LEVEL, WALPOOL_LEVEL_BOTH, WALPOOL_NOTHING,
    WALPOOL_UNANNOUNCED
};

static inline int walpool_epoll_set(int poller, int is_new, int fd, enum walpool_interest interest, uint64_t token) {
    static const uint32_t events[] = {
        [WALPOOL_READABLE] = EPOLLIN | EPOLLONESHOT,
        [WALPOOL_STREAM] = EPOLLIN | EPOLLRDHUP | EPOLLET,
        [WALPOOL_WRITABLE] = EPOLLOUT | EPOLLONESHOT,
        [WALPOOL_EDGE] = EPOLLIN | EPOLLET,
        [WALPOOL_LEVEL] = EPOLLIN,
        [WALPOOL_LEVEL_BOTH] = EPOLLIN | EPOLLOUT,
        [WALPOOL_NOTHING] = 0,
        /* EPOLLERR and EPOLLHUP, which nobody can go without, once only. */
        [WALPOOL_UNANNOUNCED] = EPOLLET,
    };
    struct epoll_event event = {.events = events[interest], .data = {.u64 = token}};
    return epoll_ctl(poller, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}
static inline void walpool_epoll_remove(int poller, int fd) {
    struct epoll_event unused = {0};
    epoll_ctl(poller, EPOLL_CTL_DEL, fd, &unused);
}
/* An event as a word: its token, and in the highest bit, which the token of a session leaves free, whether the other side
   has hung up. */
static inline uint64_t walpool_event_word(const struct epoll_event *event) {
    uint64_t is_hung_up = (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    return event->data.u64 | is_hung_up << 63;
}
/* An event takes microseconds, and the last of those that a thread takes at once waits for the others. */
enum { WALPOOL_EVENTS_AT_ONCE = 16 };
/* As many events as there are, up to `capacity`, but not more than that; 0 when a signal came instead, -1 with errno. */
static inline int walpool_epoll_events(int poller, uint64_t *words, int capacity, int milliseconds) {
    struct epoll_event events[WALPOOL_EVENTS_AT_ONCE];
    if (capacity > WALPOOL_EVENTS_AT_ONCE) capacity = WALPOOL_EVENTS_AT_ONCE;
    int count = epoll_wait(poller, events, capacity, milliseconds);
    for (int i = 0; i < count; i++) words[i] = walpool_event_word(&events[i]);
    return count < 0 && errno == EINTR ? 0 : count;
}
static inline int walpool_epoll_wait(int poller, uint64_t *words, int capacity) {
    return walpool_epoll_events(poller, words, capacity, -1);
}
/* Without waiting: 0 when there are none now. */
static inline int walpool_epoll_look(int poller, uint64_t *words, int capacity) {
    return walpool_epoll_events(poller, words, capacity, 0);
}

static inline int walpool_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
static inline int walpool_timerfd(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }
static inline void walpool_timerfd_set(int timer, int64_t nanoseconds) {
    struct itimerspec at = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, 0);
}

/* The calling process is killed when the thread that made it ends, however that ends: prctl(2), which is variadic. */
static inline void walpool_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

/* The processors that this process may run on, by sched_getaffinity(2): what taskset, cpusets and CPUAffinity= leave it. 0: the kernel does
   not say. */
static inline int walpool_usable_processors(void) {
    /* Linux is built for 8,192 at most. */
    unsigned long mask[8192 / 8 / sizeof(unsigned long)];
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    int count = 0;
    for (long i = 0; i < bytes / (long)sizeof mask[0]; i++) count += __builtin_popcountl(mask[i]);
    return count;
}

/* The calling thread's name. */
static inline void walpool_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
/* The calling thread's number, as the kernel has it. */
static inline int32_t walpool_thread_number(void) { return (int32_t)syscall(SYS_gettid); }

/* How long that thread has been on a processor so far, in nanoseconds; -1 when there is none of that number. The clock's
   number is part of the kernel's interface (MAKE_THREAD_CPUCLOCK in include/linux/posix-timers_types.h); glibc makes the
   same one in pthread_getcpuclockid(), which needs a thread that is known to live. */
static inline int64_t walpool_processor_nanoseconds(int32_t thread) {
    struct timespec used;
    if (clock_gettime((clockid_t)(~(uint32_t)thread << 3 | 6), &used) != 0) return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Which file a path leads to, how long it is, and how much room it has on the disk; -1 with errno when there is none. And when it was last
   written to, if that is asked for, else 0.

   Not by stat(2), which asks for the times always. A time that somebody was told must change with the next write, to the
   nanosecond: "multigrain timestamps", https://docs.kernel.org/filesystems/multigrain-ts.html, since Linux 6.13. Then each
   fdatasync of a file without a journal writes its inode as well, which made it 85 us instead of 55. So it is asked for only where no
   commit writes. */
struct walpool_file {
    uint64_t device, inode, bytes, blocks;
    /* In nanoseconds of no matter which beginning. */
    uint64_t modified;
};
static inline int walpool_look_at_file(const char *path, int asks_for_time, struct walpool_file *file) {
    struct statx status;
    unsigned mask = STATX_INO | STATX_SIZE | STATX_BLOCKS | (asks_for_time ? STATX_MTIME : 0);
    if (syscall(SYS_statx, AT_FDCWD, path, 0, mask, &status) == 0) {
        file->device = makedev(status.stx_dev_major, status.stx_dev_minor);
        file->inode = status.stx_ino;
        file->bytes = status.stx_size;
        file->blocks = status.stx_blocks;
        file->modified = asks_for_time ? (uint64_t)status.stx_mtime.tv_sec * 1000000000u + status.stx_mtime.tv_nsec : 0;
        return 0;
    }
    /* Kept away by the filter of an older container. */
    struct stat old;
    if ((errno != ENOSYS && errno != EPERM) || stat(path, &old) != 0) return -1;
    file->device = old.st_dev;
    file->inode = old.st_ino;
    file->bytes = (uint64_t)old.st_size;
    file->blocks = (uint64_t)old.st_blocks;
    file->modified = asks_for_time ? (uint64_t)old.st_mtim.tv_sec * 1000000000u + (uint64_t)old.st_mtim.tv_nsec : 0;
    return 0;
}

/* Whether something is mounted at a path: STATX_ATTR_MOUNT_ROOT, since Linux 5.8. */
static inline int walpool_is_mounted(const char *path) {
    struct statx status;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, 0, &status) != 0) return 0;
    return (status.stx_attributes & status.stx_attributes_mask & 0x2000) != 0;
}

/* As walpool_look_at_file of a file that is open, by its descriptor: AT_EMPTY_PATH of linux/fcntl.h. */
static inline int walpool_look_at_open_file(int descriptor, struct walpool_file *file) {
    struct statx status;
    if (syscall(SYS_statx, descriptor, "", 0x1000, STATX_INO | STATX_SIZE | STATX_BLOCKS, &status) != 0) return -1;
    file->device = makedev(status.stx_dev_major, status.stx_dev_minor);
    file->inode = status.stx_ino;
    file->bytes = status.stx_size;
    file->blocks = status.stx_blocks;
    file->modified = 0;
    return 0;
}

/* A descriptor that tells whether names in the directory were made, given away or deleted, or it was itself, and whether the file was
   written to; -1: that cannot be watched. inotify(7). */
static inline int walpool_watch(const char *directory, const char *path) {
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch < 0) return -1;
    uint32_t names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    if (inotify_add_watch(watch, directory, names) >= 0 && inotify_add_watch(watch, path, IN_MODIFY | IN_ATTRIB) >= 0) return watch;
    close(watch);
    return -1;
}

/* Whether nothing has happened since this was asked before. What has happened is told once. */
static inline int walpool_watch_is_quiet(int watch) {
    char events[4096];
    return read(watch, events, sizeof events) < 0 && errno == EAGAIN;
}

/* The number of the kind of file system that a path is in, as linux/magic.h has them; 0: it cannot be said. */
static inline uint32_t walpool_file_system(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}

/* Gives a file another name unless something has that one: RENAME_NOREPLACE of linux/fs.h, rename(2), since Linux 3.15. */
int renameat2(int, const char *, int, const char *, unsigned int);
static inline int walpool_rename_unless_taken(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 1);
}

int dup3(int, int, int);
static inline int walpool_dup_over(int from, int to) { return dup3(from, to, O_CLOEXEC); }

int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int walpool_accept(int listener) { return accept4(listener, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK); }
static inline ssize_t walpool_receive(int socket, void *bytes, size_t count) {
    return recv(socket, bytes, count, MSG_DONTWAIT);
}
static inline ssize_t walpool_send(int socket, const void *bytes, size_t count) {
    return send(socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Whether the other side has closed the socket. POLLHUP is reported whatever is asked for: poll(2). */
static inline int walpool_is_hung_up(int socket) {
    struct pollfd poller = {.fd = socket};
    return poll(&poller, 1, 0) > 0 && (poller.revents & (POLLHUP | POLLERR));
}

/* Who connected to a Unix socket, as the kernel noted it then: unix(7). glibc shows struct ucred to _GNU_SOURCE only. */
struct walpool_peer {
    int32_t process;
    uint32_t user;
    uint32_t group;
};
static inline int walpool_peer_credentials(int socket, struct walpool_peer *peer) {
    socklen_t size = sizeof *peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, peer, &size);
}

/* What the allocator has from the kernel: in use, and free to be used again. "mmapped" blocks are in use: mallinfo(3). */
struct walpool_heap_sizes {
    uint64_t used;
    uint64_t free;
};
static inline struct walpool_heap_sizes walpool_heap(void) {
    struct mallinfo2 info = mallinfo2();
    return (struct walpool_heap_sizes){.used = info.uordblks + info.hblkhd, .free = info.fordblks};
}

/* The supplementary groups of whoever connected, as noted then. How many there are, which may be more than fit, or -1. "On
   ERANGE the size that is needed is stored": net/core/sock.c, SO_PEERGROUPS, since Linux 4.13. */
static inline int walpool_peer_groups(int socket, uint32_t *groups, int capacity) {
    socklen_t size = (socklen_t)capacity * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0 && errno != ERANGE) return -1;
    return (int)(size / sizeof *groups);
}

/* As many events as there are, as words, up to `capacity`, but not more than 64; 0 when the time is over or a signal came. A
   negative time is no limit. Whoever has to be somewhere in 100 us cannot wait in milliseconds: epoll_pwait2(2), since
   Linux 5.11. */
static inline int walpool_epoll_wait_many(int poller, uint64_t *tokens, int capacity, int64_t nanoseconds) {
    struct epoll_event events[64];
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    if (capacity > 64) capacity = 64;
    int count = (int)syscall(SYS_epoll_pwait2, poller, events, capacity, nanoseconds < 0 ? 0 : &limit, 0, 0);
    if (count < 0 && (errno == ENOSYS || errno == EPERM))
        count = epoll_wait(poller, events, capacity, nanoseconds < 0 ? -1 : (int)((nanoseconds + 999999) / 1000000));
    for (int i = 0; i < count; i++) tokens[i] = walpool_event_word(&events[i]);
    return count < 0 && errno == EINTR ? 0 : count;
}

static inline uint32_t walpool_btrfs(void) { return BTRFS_SUPER_MAGIC; }
/* "A file with the 'C' attribute set will not be subject to copy-on-write updates … the 'C' flag should be set on new or empty
   files" (https://man7.org/linux/man-pages/man1/chattr.1.html). */
static inline int walpool_write_in_place(int fd) {
    int flags = 0;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return -1;
    /* A file that is compressed has to be none before. */
    if (flags & FS_COMPR_FL) {
        flags &= ~FS_COMPR_FL;
        if (ioctl(fd, FS_IOC_SETFLAGS, &flags) != 0) return -1;
    }
    flags |= FS_NOCOW_FL;
    return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}
