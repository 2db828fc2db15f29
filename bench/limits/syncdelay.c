/* A disk whose syncs take longer: preloaded, it adds WALPOOL_SYNC_DELAY_US microseconds to fdatasync, fsync, syncfs and
 * to sync_file_range when that waits. One library for every system under test, so that all have the same disk.
 *
 *     LD_PRELOAD=syncdelay.so WALPOOL_SYNC_DELAY_US=2000 walpoold app.db
 *
 * The wait is behind the true sync, whose result and errno stay. Syncs of several threads and processes wait beside one
 * another, as in a disk's queue: a disk that serves one sync at a time is not what this is.
 *
 * WALPOOL_SYNC_COUNT_FILE: this file's first eight bytes, a number in the machine's byte order, count the syncs of all
 * processes that have it, to prove that none went past. The count is raised before the wait. The next eight are a delay
 * that whoever drives them may change while they run; the longer of the two holds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MICROSECONDS = 1000000 };

struct control {
    _Atomic uint64_t syncs, delay_microseconds;
};

static uint64_t least_delay_microseconds;
static struct control *control;

static int (*real_fdatasync)(int);
static int (*real_fsync)(int);
static int (*real_syncfs)(int);
static int (*real_sync_file_range)(int, off64_t, off64_t, unsigned);

/* A delay that silently is not there would be a figure that is not true. */
static void fail(const char *what) {
    fprintf(stderr, "syncdelay: %s\n", what);
    _exit(126);
}

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) fail(name);
    return function;
}

static void map_control(const char *path) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0 || ftruncate(descriptor, sizeof *control) != 0) fail("WALPOOL_SYNC_COUNT_FILE cannot be written");
    fchmod(descriptor, 0666); /* PostgreSQL has a user of its own */
    void *memory = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) fail("WALPOOL_SYNC_COUNT_FILE cannot be mapped");
    control = memory;
    close(descriptor);
}

__attribute__((constructor)) static void start(void) {
    real_fdatasync = real("fdatasync");
    real_fsync = real("fsync");
    real_syncfs = real("syncfs");
    real_sync_file_range = real("sync_file_range");
    const char *microseconds = getenv("WALPOOL_SYNC_DELAY_US"), *path = getenv("WALPOOL_SYNC_COUNT_FILE");
    char *end = NULL;
    long value = microseconds ? strtol(microseconds, &end, 10) : -1;
    if (value < 0 || *end || end == microseconds) fail("WALPOOL_SYNC_DELAY_US must be a number of microseconds");
    least_delay_microseconds = (uint64_t)value;
    if (path) map_control(path);
}

/* To a moment and not for a time, so that signals, which PostgreSQL sends a lot of, make it no longer. */
static int delayed(int result) {
    int error = errno;
    uint64_t delay = least_delay_microseconds;
    if (control) {
        atomic_fetch_add(&control->syncs, 1);
        uint64_t other = atomic_load(&control->delay_microseconds);
        if (other > delay) delay = other;
    }
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(delay / MICROSECONDS);
    until.tv_nsec += (long)(delay % MICROSECONDS) * 1000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {}
    errno = error;
    return result;
}

int fdatasync(int descriptor) { return delayed(real_fdatasync(descriptor)); }
int fsync(int descriptor) { return delayed(real_fsync(descriptor)); }
int syncfs(int descriptor) { return delayed(real_syncfs(descriptor)); }

int sync_file_range(int descriptor, off64_t offset, off64_t size, unsigned flags) {
    int result = real_sync_file_range(descriptor, offset, size, flags);
    return flags & SYNC_FILE_RANGE_WAIT_AFTER ? delayed(result) : result;
}
