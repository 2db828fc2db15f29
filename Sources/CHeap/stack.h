/* Whether the calling thread has used more than half of its stack: for heap.c, which asks with each allocation. */
#pragma once
#include <stdint.h>

/* The address below which less than half is left; 0 where nobody can tell, UINTPTR_MAX while nobody has looked. */
extern _Thread_local uintptr_t walpool_stack_floor;

int walpool_stack_is_short_at(uintptr_t here);

static inline int stack_is_short(void) {
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return __builtin_expect(here < walpool_stack_floor, 0) && walpool_stack_is_short_at(here);
}
