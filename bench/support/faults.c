/* Fails chosen system calls of the process it is preloaded into, as a failing disk would.

       cc -O2 -fPIC -shared -o faults.so faults.c
       LD_PRELOAD=./faults.so FAULTS_BELOW=/data FAULTS_CONTROL=/tmp/control walpoold /data/app.db

   Only files below FAULTS_BELOW are touched. FAULTS_CONTROL is a file of the size of `struct control`, mapped by this
   library and by whoever drives the test, so that one process can be driven through many faults.

   The functions replaced are those libsqlite3 imports for its unix VFS (`nm -D --undefined-only libsqlite3.so.0`), and
   their twins. They make the system call themselves, so that no dlsym() is needed and nothing can recurse. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As FaultControl in faults.py numbers them. 0: none. */
enum kind { WRITE = 1, TORN_WRITE, SYNC, TRUNCATE, OPEN, READ, MAP, UNLINK, LOST_WRITE, LOSING_SYNC };

struct control {
    uint64_t kind;     /* which calls are counted; stored last by the driver, as that arms the rest */
    uint64_t first;    /* the number of the first call to fail, from 1 */
    uint64_t count;    /* how many fail from there on */
    uint64_t error;    /* the errno they fail with */
    uint64_t calls;    /* calls of this kind seen since the driver set it to 0 */
    uint64_t failures; /* how many of them were failed */
};

static struct control *control;
static char below[PATH_MAX];
static size_t below_length;

__attribute__((constructor)) static void map_control(void) {
    const char *directory = getenv("FAULTS_BELOW"), *file = getenv("FAULTS_CONTROL");
    if (!directory || !file || strlen(directory) >= sizeof below) return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC);
    void *mapped = fd < 0 ? MAP_FAILED
                          : (void *)syscall(SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        /* A test whose faults never come would pass. */
        fprintf(stderr, "faults: cannot map %s: %s\n", file, strerror(errno));
        _exit(126);
    }
    close(fd);
    below_length = strlen(directory);
    memcpy(below, directory, below_length);
    control = mapped;
}

static int is_armed(enum kind kind) {
    return control && __atomic_load_n(&control->kind, __ATOMIC_ACQUIRE) == kind;
}

/* Counts a call of the armed kind; whether it is one that fails, with errno set. */
static int fails(void) {
    uint64_t number = __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
    if (number < control->first || number - control->first >= control->count) return 0;
    __atomic_add_fetch(&control->failures, 1, __ATOMIC_SEQ_CST);
    errno = (int)control->error;
    return 1;
}

static int is_below(const char *path) {
    if (!path || strncmp(path, below, below_length) != 0) return 0;
    return path[below_length] == '/' || path[below_length] == 0;
}

/* The kernel knows a descriptor's file, whoever opened it and however. */
static int descriptor_is_below(int fd) {
    char link[64], path[PATH_MAX];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int descriptor_fails(enum kind kind, int fd) { return is_armed(kind) && descriptor_is_below(fd) && fails(); }
static int path_fails(enum kind kind, const char *path) { return is_armed(kind) && is_below(path) && fails(); }

/* A disk that fails or fills up in the middle of a block range has written its beginning. */
static int torn_write_fails(int fd, const void *bytes, size_t size, off_t offset) {
    if (!descriptor_fails(TORN_WRITE, fd)) return 0;
    int error = errno;
    if (offset < 0) syscall(SYS_write, fd, bytes, size / 2);
    else syscall(SYS_pwrite64, fd, bytes, size / 2, offset);
    errno = error;
    return 1;
}

/* A disk that lies: no error at all. Nobody can be right on it, which is how a test shows that it looks. */
static int write_is_lost(int fd) { return descriptor_fails(LOST_WRITE, fd); }

/* A sync that fails and takes what it was for along: "pages are marked clean" after a failed fsync
   (https://www.usenix.org/conference/atc20/presentation/rebello), so they are found in the kernel's cache until it drops them, and
   then something else is there. What is written while this is armed is remembered until a sync of that file succeeds. */
enum { REMEMBERED_WRITES = 4096 };
static struct written { ino_t file; off_t offset; size_t size; int is_lost; } remembered[REMEMBERED_WRITES];
static size_t remembered_count;
static char remembering;

/* Of what is remembered of this file, keeps what `keeps` says. */
static void remembered_of(int fd, int (*keeps)(struct written *, int, const void *), const void *argument) {
    struct stat status;
    int error = errno;
    if (fstat(fd, &status)) abort();
    while (__atomic_test_and_set(&remembering, __ATOMIC_ACQUIRE)) {}
    size_t kept = 0;
    for (size_t i = 0; i < remembered_count; i++)
        if (remembered[i].file != status.st_ino || keeps(&remembered[i], fd, argument)) remembered[kept++] = remembered[i];
    remembered_count = kept;
    __atomic_clear(&remembering, __ATOMIC_RELEASE);
    errno = error;
}

/* What is written again is dirty again, and the next sync is for that. */
static int is_elsewhere(struct written *old, int fd, const void *argument) {
    const struct written *new = argument;
    (void)fd;
    return old->offset + (off_t)old->size <= new->offset || new->offset + (off_t)new->size <= old->offset;
}

static int becomes_lost(struct written *each, int fd, const void *argument) {
    (void)fd, (void)argument;
    return each->is_lost = 1;
}

static int was_lost(struct written *each, int fd, const void *argument) {
    (void)fd, (void)argument;
    return each->is_lost;
}

static int is_dropped(struct written *each, int fd, const void *argument) {
    static const char nothing[1 << 16];
    (void)argument;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int disk = each->is_lost ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC) : -1;
    for (size_t done = 0, part; each->is_lost && done < each->size; done += part) {
        part = each->size - done < sizeof nothing ? each->size - done : sizeof nothing;
        if (syscall(SYS_pwrite64, disk, nothing, part, each->offset + (off_t)done) != (ssize_t)part) abort();
    }
    if (disk >= 0) syscall(SYS_close, disk);
    return !each->is_lost;
}

static int remembers(int fd) { return is_armed(LOSING_SYNC) && descriptor_is_below(fd); }

static void remember(int fd, size_t size, off_t offset) {
    if (!remembers(fd)) return;
    struct stat status;
    if (fstat(fd, &status)) abort();
    struct written new = {status.st_ino, offset, size, 0};
    remembered_of(fd, is_elsewhere, &new);
    while (__atomic_test_and_set(&remembering, __ATOMIC_ACQUIRE)) {}
    if (remembered_count == REMEMBERED_WRITES) abort();
    remembered[remembered_count++] = new;
    __atomic_clear(&remembering, __ATOMIC_RELEASE);
}

int posix_fadvise(int fd, off_t offset, off_t length, int advice) {
    if (advice == POSIX_FADV_DONTNEED && remembers(fd)) remembered_of(fd, is_dropped, NULL);
    return syscall(SYS_fadvise64, fd, offset, length, advice) < 0 ? errno : 0;
}
int posix_fadvise64(int fd, off_t offset, off_t length, int advice) { return posix_fadvise(fd, offset, length, advice); }

/* Whether this sync fails. */
static int sync_fails(int fd) {
    if (descriptor_fails(SYNC, fd)) return 1;
    if (!is_armed(LOSING_SYNC) || !descriptor_is_below(fd)) return 0;
    int loses = fails();
    remembered_of(fd, loses ? becomes_lost : was_lost, NULL);
    return loses;
}

ssize_t write(int fd, const void *bytes, size_t size) {
    if (write_is_lost(fd)) return (ssize_t)size;
    if (descriptor_fails(WRITE, fd) || torn_write_fails(fd, bytes, size, -1)) return -1;
    return syscall(SYS_write, fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    if (write_is_lost(fd)) return (ssize_t)size;
    if (descriptor_fails(WRITE, fd) || torn_write_fails(fd, bytes, size, offset)) return -1;
    remember(fd, size, offset);
    return syscall(SYS_pwrite64, fd, bytes, size, offset);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) { return pwrite(fd, bytes, size, offset); }

int fsync(int fd) { return sync_fails(fd) ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_fails(fd) ? -1 : (int)syscall(SYS_fdatasync, fd); }

int ftruncate(int fd, off_t size) { return descriptor_fails(TRUNCATE, fd) ? -1 : (int)syscall(SYS_ftruncate, fd, size); }
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

ssize_t read(int fd, void *bytes, size_t size) {
    return descriptor_fails(READ, fd) ? -1 : syscall(SYS_read, fd, bytes, size);
}
ssize_t pread(int fd, void *bytes, size_t size, off_t offset) {
    return descriptor_fails(READ, fd) ? -1 : syscall(SYS_pread64, fd, bytes, size, offset);
}
ssize_t pread64(int fd, void *bytes, size_t size, off_t offset) { return pread(fd, bytes, size, offset); }

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    if (!(flags & MAP_ANONYMOUS) && descriptor_fails(MAP, fd)) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
    return mmap(at, size, protection, flags, fd, offset);
}

int unlink(const char *path) {
    return path_fails(UNLINK, path) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
int rename(const char *from, const char *to) {
    return path_fails(UNLINK, from) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* `mode` is there only if the flags say so: open(2). */
#define OPEN_FUNCTION(declaration, directory)                                                        \
    declaration {                                                                                    \
        mode_t mode = 0;                                                                             \
        if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {                                 \
            va_list arguments;                                                                       \
            va_start(arguments, flags);                                                              \
            mode = va_arg(arguments, mode_t);                                                        \
            va_end(arguments);                                                                       \
        }                                                                                            \
        return path_fails(OPEN, path) ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode); \
    }

OPEN_FUNCTION(int open(const char *path, int flags, ...), AT_FDCWD)
OPEN_FUNCTION(int open64(const char *path, int flags, ...), AT_FDCWD)
OPEN_FUNCTION(int openat(int directory, const char *path, int flags, ...), directory)
OPEN_FUNCTION(int openat64(int directory, const char *path, int flags, ...), directory)
