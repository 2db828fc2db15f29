#define _GNU_SOURCE
#include "stack.h"
#include "heap.h"
#include <pthread.h>

_Thread_local uintptr_t walpool_stack_floor = UINTPTR_MAX;
static _Thread_local int was_short;

/* Found once for each thread. pthread_getattr_np(3): "the stack address and size … of the thread"; of the first thread it is
   as large as RLIMIT_STACK lets it become. */
static void find_floor(void) {
    pthread_attr_t attributes;
    void *end = 0;
    size_t bytes = 0;
    walpool_stack_floor = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    if (pthread_attr_getstack(&attributes, &end, &bytes) == 0) {
        size_t share = bytes / WALPOOL_STACK_SHARE;
        if (share < WALPOOL_STACK_LEAST_BYTES) share = bytes / 2 < WALPOOL_STACK_LEAST_BYTES ? bytes / 2 : WALPOOL_STACK_LEAST_BYTES;
        walpool_stack_floor = (uintptr_t)end + bytes - share;
    }
    pthread_attr_destroy(&attributes);
}

int walpool_stack_is_short_at(uintptr_t here) {
    if (walpool_stack_floor == UINTPTR_MAX) find_floor();
    if (here >= walpool_stack_floor) return 0;
    was_short = 1;
    return 1;
}

int walpool_stack_is_short(void) { return stack_is_short(); }

int walpool_stack_was_short(void) {
    int was = was_short;
    was_short = 0;
    return was;
}
