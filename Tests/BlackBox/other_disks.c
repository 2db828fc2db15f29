/* A disk of another machine, or one of another system, to the process it is preloaded into. OTHER_DISK has any of these letters:

     n  NFS: "Since Linux 2.6.12, NFS clients support flock() locks by emulating them as fcntl(2) byte-range locks on the entire
        file. This means that fcntl(2) and flock() locks do interact with one another over NFS" (flock(2)). A lock of an open file
        description is such a one here. statfs(2) says that it is one.
     f  no locks of whole files: "The kernel ran out of memory for allocating lock records" (flock(2), ENOLCK)
     l  no links, as vfat and exFAT: "The filesystem containing oldpath and newpath does not support the creation of hard links"
        (link(2), EPERM)
     t  somebody else makes a file of the new name just before link(2)
     r  no RENAME_NOREPLACE, as NFS: "The filesystem does not support one of the flags in flags" (rename(2), EINVAL)

       cc -O2 -fPIC -shared -o other_disks.so other_disks.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

static int is(char letter) {
    const char *disk = getenv("OTHER_DISK");
    return disk && strchr(disk, letter);
}

int flock(int file, int operation) {
    if (is('f')) {
        errno = ENOLCK;
        return -1;
    }
    if (!is('n')) return ((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(file, operation);
    struct flock lock = {
        .l_type = operation & LOCK_UN ? F_UNLCK : operation & LOCK_SH ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, operation & LOCK_NB ? F_OFD_SETLK : F_OFD_SETLKW, &lock);
}

int statfs(const char *path, struct statfs *status) {
    int result = ((int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs"))(path, status);
    if (is('n') && result == 0) status->f_type = 0x6969;
    return result;
}

int link(const char *from, const char *to) {
    if (is('t')) {
        static const char text[] = "somebody's";
        int file = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 || write(file, text, sizeof text - 1) < 0) abort();
        close(file);
    }
    if (!is('l')) return ((int (*)(const char *, const char *))dlsym(RTLD_NEXT, "link"))(from, to);
    errno = EPERM;
    return -1;
}

int renameat2(int fromDirectory, const char *from, int toDirectory, const char *to, unsigned flags) {
    if (!is('r') || !flags)
        return ((int (*)(int, const char *, int, const char *, unsigned))dlsym(RTLD_NEXT, "renameat2"))(
            fromDirectory, from, toDirectory, to, flags);
    errno = EINVAL;
    return -1;
}
