/* Makes chosen system calls of the process it is preloaded into slow, or has them hang until the driver lets go, as a disk
   does that does not answer.

       cc -O2 -fPIC -shared -o stalls.so stalls.c
       LD_PRELOAD=./stalls.so STALLS_CONTROL=/tmp/control STALLS_FIFO=/tmp/fifo walpoold app.db

   STALLS_CONTROL is a file of the size of `struct control`, mapped by this library and by the driver. A thread that hangs
   does so in open(2) of the FIFO, which returns when somebody opens it for writing: until then it is not on a processor
   for a moment, which a loop that sleeps would be. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As KINDS in service.py numbers them. 0: none. */
enum kind { SYNC = 1, RECEIVE, WRITE, READ, RENAME_WAL, UNLINK_WAL };

struct control {
    uint64_t kind;
    uint64_t microseconds; /* how long each call takes; 0: until the FIFO is opened */
    uint64_t calls;        /* how many were stalled */
};

static struct control *control;
static const char *fifo;

__attribute__((constructor)) static void map_control(void) {
    const char *path = getenv("STALLS_CONTROL");
    fifo = getenv("STALLS_FIFO");
    int fd = path && fifo ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        /* A test whose stalls never come would pass. */
        fprintf(stderr, "stalls: cannot map the control file: %s\n", strerror(errno));
        _exit(126);
    }
    close(fd);
    control = mapped;
}

static void stall(enum kind kind) {
    if (!control || __atomic_load_n(&control->kind, __ATOMIC_ACQUIRE) != kind) return;
    __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
    if (control->microseconds) {
        struct timespec time = {control->microseconds / 1000000, control->microseconds % 1000000 * 1000};
        nanosleep(&time, NULL);
        return;
    }
    int fd;
    do fd = open(fifo, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd >= 0) close(fd);
}

int fsync(int fd) { return stall(SYNC), (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return stall(SYNC), (int)syscall(SYS_fdatasync, fd); }
ssize_t recv(int fd, void *bytes, size_t count, int flags) {
    return stall(RECEIVE), (ssize_t)syscall(SYS_recvfrom, fd, bytes, count, flags, NULL, NULL);
}
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    return stall(WRITE), (ssize_t)syscall(SYS_pwrite64, fd, bytes, count, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) { return pwrite64(fd, bytes, count, at); }
ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) {
    return stall(READ), (ssize_t)syscall(SYS_pread64, fd, bytes, count, at);
}
ssize_t pread(int fd, void *bytes, size_t count, off_t at) { return pread64(fd, bytes, count, at); }

/* Whatever else is renamed or deleted is not asked for. */
static void stall_at_wal(enum kind kind, const char *path) {
    if (strstr(path, "-wal")) stall(kind);
}
int renameat2(int from, const char *path, int to, const char *name, unsigned flags) {
    return stall_at_wal(RENAME_WAL, path), (int)syscall(SYS_renameat2, from, path, to, name, flags);
}
int unlink(const char *path) { return stall_at_wal(UNLINK_WAL, path), (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0); }
