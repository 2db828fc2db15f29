/* A kernel without io_uring, to the process it is preloaded into: io_uring_setup(2) fails as it does where
   kernel.io_uring_disabled or a container's filter keeps it away.

       cc -O2 -fPIC -shared -o no_io_uring.so no_io_uring.c */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>

long syscall(long number, ...) {
    if (number == SYS_io_uring_setup) {
        errno = EPERM;
        return -1;
    }
    va_list arguments;
    va_start(arguments, number);
    long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long);
    register long d __asm__("r10") = va_arg(arguments, long);
    register long e __asm__("r8") = va_arg(arguments, long);
    register long f __asm__("r9") = va_arg(arguments, long);
    va_end(arguments);
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d), "r"(e), "r"(f)
                     : "rcx", "r11", "memory");
    if (result >= 0 || result < -4095) return result;
    errno = (int)-result;
    return -1;
}
