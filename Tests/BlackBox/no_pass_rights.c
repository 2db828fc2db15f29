/* A kernel before 6.16, to the process it is preloaded into: it does not know SO_PASSRIGHTS, so clients may send descriptors.

       cc -O2 -fPIC -shared -o no_pass_rights.so no_pass_rights.c */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int setsockopt(int socket, int level, int name, const void *value, socklen_t size) {
    if (level == SOL_SOCKET && name == 83) {
        errno = ENOPROTOOPT;
        return -1;
    }
    return (int)syscall(SYS_setsockopt, socket, level, name, value, size);
}
