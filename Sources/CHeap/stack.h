/* Whether the calling thread has used more than its share of the stack: for heap.c, which asks with each allocation. */
#pragma once
#include <stdint.h>

/* A sixteenth may be used where there is memory to be had. The rest is for what runs over a finished tree and allocates nothing on
   its way down: making the code of an expression takes five times the stack for a level that putting it together took. And it takes
   time that is the square of the depth, in which nobody can stop it. */
enum { WALPOOL_STACK_SHARE = 16 };
/* What the daemon's own statements take; of a first thread with less than a mebibyte (`ulimit -s`) a sixteenth would not do. */
enum { WALPOOL_STACK_LEAST_BYTES = 64 << 10 };

/* The address below which the share is used up; 0 where nobody can tell, UINTPTR_MAX while nobody has looked. */
extern _Thread_local uintptr_t walpool_stack_floor;

int walpool_stack_is_short_at(uintptr_t here);

static inline int stack_is_short(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return __builtin_expect(here < walpool_stack_floor, 0) && walpool_stack_is_short_at(here);
}
