#define _GNU_SOURCE
#include "own_wal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Where so many names are taken somebody else has to look into it, and nothing is deleted. */
enum { MOST_NAMES = 1000 };

typedef int unlink_call(const char *);

/* What SQLite called before: set once, before there is a second thread. */
static unlink_call *original;

static __thread struct {
    int is_on;
    uint64_t device, inode;
    int is_empty;
    int is_aside;
    char aside[PATH_MAX];
} own;

static int is_own(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && status.st_ino == own.inode && status.st_dev == own.device &&
           (status.st_size == 0 || !own.is_empty);
}

static int is_wal(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, "-wal") == 0;
}

static int rename_without_replacing(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

/* To the first name that is free: of a process that was killed right now there may be one. */
static int move_aside(const char *path) {
    size_t bytes = sizeof own.aside;
    for (int number = 1; number <= MOST_NAMES; number++) {
        int length =
            number == 1 ? snprintf(own.aside, bytes, "%s.closing", path) : snprintf(own.aside, bytes, "%s.closing%d", path, number);
        if (length < 0 || (size_t)length >= bytes) return errno = ENAMETOOLONG, -1;
        if (rename_without_replacing(path, own.aside) == 0) return 0;
        if (errno != EEXIST) return -1;
    }
    return -1;
}

static int unlink_own(const char *path) {
    if (!own.is_on || !is_wal(path)) return original(path);
    /* What comes from elsewhere stays in its place all the time, unless it comes right now. */
    if (!is_own(path)) return 0;
    if (move_aside(path) != 0) {
        /* "The filesystem does not support one of the flags in flags" (rename(2)), or the kernel has no flags, or an older container's
           filter keeps the call away, or a name that is eight bytes longer is none. */
        return errno == EINVAL || errno == ENOSYS || errno == EPERM || errno == ENAMETOOLONG ? original(path) : -1;
    }
    if (is_own(own.aside)) return original(own.aside);
    if (rename_without_replacing(own.aside, path) != 0) own.is_aside = 1;
    return 0;
}

int walpool_own_wal_install(void) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(0);
    if (!vfs || vfs->iVersion < 3 || !vfs->xGetSystemCall || !vfs->xSetSystemCall) return SQLITE_NOTFOUND;
    unlink_call *current = (unlink_call *)vfs->xGetSystemCall(vfs, "unlink");
    /* A second time it would call itself. */
    if (!current || current == unlink_own) return current ? SQLITE_OK : SQLITE_NOTFOUND;
    original = current;
    return vfs->xSetSystemCall(vfs, "unlink", (sqlite3_syscall_ptr)unlink_own);
}

void walpool_own_wal_begin(uint64_t device, uint64_t inode, int is_empty) {
    own.is_on = 1;
    own.device = device;
    own.inode = inode;
    own.is_empty = is_empty;
    own.is_aside = 0;
}

const char *walpool_own_wal_end(void) {
    own.is_on = 0;
    return own.is_aside ? own.aside : NULL;
}
