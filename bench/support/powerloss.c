/* Keeps copies of a database and its -wal "as last synced": what a disk still has after the power failed.
 *
 *   LD_PRELOAD=powerloss.so POWERLOSS_DATABASE=/dir/app.db POWERLOSS_SHADOW=/dir/shadow walpoold /dir/app.db
 *
 * Every write to one of the two files is remembered, and reaches its copy (SHADOW/db, SHADOW/wal) only when a sync of
 * that file that began after it has succeeded. "fdatasync() ... flushes all modified in-core data" of the file
 * (https://man7.org/linux/man-pages/man2/fdatasync.2.html), so one sync serves all writes before it, by whichever
 * thread or descriptor. This is the strictest disk: it keeps nothing that it was not told to keep.
 *
 * POWERLOSS_EARLY=percent is a disk that also writes something by itself: so many of the writes reach the copy at
 * once, before older ones, half of them only in part, in whole sectors.
 *
 * The data are kept, not only where they went: by the time of the sync the same place may have been written again.
 * POWERLOSS_LIES=1 is a disk that says it has synced and has not.
 *
 * The database itself is never opened here: "close()" of another descriptor would drop SQLite's locks
 * (https://www.sqlite.org/howtocorrupt.html, 2.2). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One write, or, without data, one truncation to `offset`. */
struct change {
    struct change *next;
    unsigned long number;
    off_t offset;
    size_t size;
    char data[];
};

struct file {
    const char *suffix, *copy_name;
    char path[PATH_MAX];
    int copy;
    ino_t inode; /* of the file whose changes are kept; another one begins empty */
    struct change *first, **last;
    unsigned long number;
};

static struct file files[] = {{.suffix = "", .copy_name = "db"}, {.suffix = "-wal", .copy_name = "wal"}};
enum { FILES = sizeof files / sizeof *files, SECTOR = 512 };

/* One for both files. It is held for copying memory and for writing the copies, never during a sync, so that syncs
 * of several threads overlap as they do without this library. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int lies, early;
static unsigned chance;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fdatasync)(int);
static int (*real_fsync)(int);

static void fail(const char *what) {
    perror(what);
    abort(); /* a check that silently checks nothing is worse than none */
}

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) fail(name);
    return function;
}

__attribute__((constructor)) static void start(void) {
    real_pwrite = real("pwrite64");
    real_write = real("write");
    real_ftruncate = real("ftruncate64");
    real_fdatasync = real("fdatasync");
    real_fsync = real("fsync");
    const char *database = getenv("POWERLOSS_DATABASE"), *shadow = getenv("POWERLOSS_SHADOW");
    if (!database || !shadow) fail("POWERLOSS_DATABASE and POWERLOSS_SHADOW must be set");
    lies = getenv("POWERLOSS_LIES") != NULL;
    early = getenv("POWERLOSS_EARLY") ? atoi(getenv("POWERLOSS_EARLY")) : 0;
    chance = getpid();
    for (int i = 0; i < FILES; i++) {
        char copy[PATH_MAX];
        struct stat status;
        snprintf(files[i].path, PATH_MAX, "%s%s", database, files[i].suffix);
        snprintf(copy, PATH_MAX, "%s/%s", shadow, files[i].copy_name);
        files[i].copy = open(copy, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (files[i].copy < 0) fail(copy);
        files[i].last = &files[i].first;
        /* What is there at the start was copied by whoever starts the process, and is durable. */
        files[i].inode = stat(files[i].path, &status) == 0 ? status.st_ino : 0;
    }
}

/* Which of the files a descriptor is. Looked up each time: a -wal may be deleted and made anew. */
static struct file *find(int fd, ino_t *inode) {
    struct stat open_file, named;
    if (!real_fsync || fstat(fd, &open_file) != 0 || !S_ISREG(open_file.st_mode)) return NULL;
    for (int i = 0; i < FILES; i++)
        if (stat(files[i].path, &named) == 0 && named.st_ino == open_file.st_ino && named.st_dev == open_file.st_dev) {
            *inode = open_file.st_ino;
            return &files[i];
        }
    return NULL;
}

static void append(struct file *file, off_t offset, const void *data, size_t size) {
    struct change *change = malloc(sizeof *change + size);
    if (!change) fail("malloc");
    *change = (struct change){.number = ++file->number, .offset = offset, .size = size};
    if (size) memcpy(change->data, data, size);
    *file->last = change;
    file->last = &change->next;
}

static void write_copy(struct file *file, off_t offset, const char *data, size_t size) {
    while (size) {
        ssize_t done = real_pwrite(file->copy, data, size, offset);
        if (done <= 0) fail("pwrite of a copy");
        data += done, size -= done, offset += done;
    }
}

/* A later sync writes it once more, in its turn. */
static void write_early(struct file *file, off_t offset, const void *data, size_t size) {
    if ((int)(rand_r(&chance) % 100) >= early) return;
    size_t sectors = size / SECTOR;
    write_copy(file, offset, data, sectors > 1 && rand_r(&chance) % 2 ? rand_r(&chance) % sectors * SECTOR : size);
}

static void remember(int fd, off_t offset, const void *data, size_t size) {
    ino_t inode;
    struct file *file = find(fd, &inode);
    if (!file) return;
    pthread_mutex_lock(&mutex);
    if (file->inode != inode) {
        append(file, 0, NULL, 0);
        file->inode = inode;
    }
    append(file, offset, data, size);
    if (early) write_early(file, offset, data, size);
    pthread_mutex_unlock(&mutex);
}

/* The changes up to `number` have become durable. Another sync may have brought them over already. */
static void keep(struct file *file, unsigned long number) {
    pthread_mutex_lock(&mutex);
    while (file->first && file->first->number <= number) {
        struct change *change = file->first;
        if (change->size)
            write_copy(file, change->offset, change->data, change->size);
        else if (real_ftruncate(file->copy, change->offset) != 0)
            fail("ftruncate of a copy");
        file->first = change->next;
        if (!file->first) file->last = &file->first;
        free(change);
    }
    pthread_mutex_unlock(&mutex);
}

static int sync_with(int (*real_sync)(int), int fd) {
    ino_t inode;
    struct file *file = find(fd, &inode);
    if (!file) return real_sync(fd);
    pthread_mutex_lock(&mutex);
    unsigned long number = file->number;
    pthread_mutex_unlock(&mutex);
    int result = real_sync(fd);
    if (result == 0 && !lies) keep(file, number);
    return result;
}

int fdatasync(int fd) { return sync_with(real_fdatasync, fd); }
int fsync(int fd) { return sync_with(real_fsync, fd); }

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    ssize_t done = real_pwrite(fd, data, size, offset);
    if (done > 0) remember(fd, offset, data, done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }

ssize_t write(int fd, const void *data, size_t size) {
    ino_t inode;
    int is_ours = find(fd, &inode) != NULL;
    off_t offset = is_ours ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t done = real_write(fd, data, size);
    if (done > 0 && is_ours) remember(fd, offset, data, done);
    return done;
}

int ftruncate64(int fd, off64_t size) {
    int result = real_ftruncate(fd, size);
    if (result == 0) remember(fd, size, NULL, 0);
    return result;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
