#include "heap.h"
#include "stack.h"
#include <malloc.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <time.h>

/* A thread's count is added to the total when it has changed by this much: rarely enough that the cache line of the total
   stays where it is, and a mebibyte per thread is small beside any sensible limit. */
enum { FLUSH_BYTES = 1 << 20 };

static int64_t statement_limit = INT64_MAX, total_limit = INT64_MAX, share_limit = INT64_MAX;
static int64_t total;

/* Threads that never begin anything are the daemon's own. */
static _Thread_local int64_t limit = INT64_MAX;
static _Thread_local int64_t used;
static _Thread_local int64_t unflushed;
static _Thread_local int was_refused;

/* While a statement is prepared; see heap.h. */
static _Thread_local int (*asked)(void *);
static _Thread_local void *asked_context;
static _Thread_local int until_look;
static _Thread_local int64_t last_asked;
static _Thread_local int is_stopped;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static __attribute__((noinline)) int goes_on(void) {
    if (is_stopped) return 0;
    if (--until_look > 0) return 1;
    until_look = WALPOOL_ALLOCATIONS_PER_LOOK;
    int64_t time = now();
    if (time - last_asked < WALPOOL_NANOSECONDS_PER_QUESTION) return 1;
    last_asked = time;
    is_stopped = asked(asked_context) != 0;
    return !is_stopped;
}

static inline int may_go_on(void) {
    return !stack_is_short() && (__builtin_expect(!asked, 1) || goes_on());
}

static inline void count(int64_t bytes) {
    used += bytes;
    /* What is freed here may have been allocated for something else, and is no credit. */
    if (used < 0) used = 0;
    unflushed += bytes;
    if (unflushed > FLUSH_BYTES || unflushed < -FLUSH_BYTES) {
        __atomic_fetch_add(&total, unflushed, __ATOMIC_RELAXED);
        unflushed = 0;
    }
}

static inline int may_have(int64_t bytes) {
    int64_t wanted = used + bytes;
    if (__builtin_expect(wanted > limit, 0)) return 0;
    return __builtin_expect(
        wanted <= __atomic_load_n(&share_limit, __ATOMIC_RELAXED) || limit == INT64_MAX ||
            __atomic_load_n(&total, __ATOMIC_RELAXED) <= __atomic_load_n(&total_limit, __ATOMIC_RELAXED), 1);
}

static __attribute__((noinline)) void *refuse(void) {
    was_refused = 1;
    return 0;
}

static void *heap_malloc(int bytes) {
    if (!may_have(bytes)) return refuse();
    if (!may_go_on()) return 0;
    void *memory = malloc(bytes);
    if (!memory) return refuse();
    count(malloc_usable_size(memory));
    return memory;
}

static void heap_free(void *memory) {
    count(-(int64_t)malloc_usable_size(memory));
    free(memory);
}

/* A block that grows to no more than this always may: it began as one that was allowed. One of them is the list of the parts of the
   -wal's index. SQLite has written a frame already when it makes that longer, goes on with the transaction when it cannot, and
   writes the next frame in the same place with a checksum that nobody will find right: this commit and all later ones would be lost
   with the next recovery (walIndexPage, walIndexAppend). */
enum { SMALL_GROWTH_BYTES = 4096 };

static void *heap_realloc(void *memory, int bytes) {
    int64_t before = malloc_usable_size(memory);
    if (bytes > before && bytes > SMALL_GROWTH_BYTES) {
        if (!may_have(bytes - before)) return refuse();
        if (!may_go_on()) return 0;
    }
    void *moved = realloc(memory, bytes);
    if (!moved) return refuse();
    count((int64_t)malloc_usable_size(moved) - before);
    return moved;
}

static int heap_size(void *memory) { return memory ? (int)malloc_usable_size(memory) : 0; }
static int heap_roundup(int bytes) { return (bytes + 7) & ~7; }
static int heap_init(void *unused) { return (void)unused, SQLITE_OK; }
static void heap_shutdown(void *unused) { (void)unused; }

/* Blocks from this size on are maps of their own, which go back when they are freed; and so does more than that which is free at an
   arena's end. glibc would raise both up to 32 and 64 MiB with the blocks it sees freed ("dynamically adjusted … mmap threshold",
   mallopt(3)), and keep as much in each thread's arena for good: 80 values of 30 MB, one after the other, left 658 MB resident, of which
   1 was in use; now 12. Setting either ends the adjusting. With 1 MiB values of 3 MB take twice as long as with 4. What is free between
   blocks in use stays, until walpool_heap_trim(). */
enum { OWN_MAP_BYTES = 4 << 20 };

int walpool_heap_install(void) {
    mallopt(M_MMAP_THRESHOLD, OWN_MAP_BYTES);
    mallopt(M_TRIM_THRESHOLD, OWN_MAP_BYTES);
    static sqlite3_mem_methods methods = {heap_malloc,  heap_free, heap_realloc,  heap_size,
                                          heap_roundup, heap_init, heap_shutdown, 0};
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

void walpool_heap_limit(int64_t statement, int64_t all, int64_t share) {
    __atomic_store_n(&statement_limit, statement, __ATOMIC_RELAXED);
    __atomic_store_n(&total_limit, all, __ATOMIC_RELAXED);
    __atomic_store_n(&share_limit, share, __ATOMIC_RELAXED);
}

void walpool_heap_begin_limited(int64_t bytes) {
    used = 0;
    limit = bytes;
}

void walpool_heap_ask(int (*ask)(void *), void *context) {
    asked = ask;
    asked_context = context;
    until_look = WALPOOL_ALLOCATIONS_PER_LOOK;
    last_asked = ask ? now() : 0;
    is_stopped = 0;
}

void walpool_heap_end(void) {
    __atomic_fetch_add(&total, unflushed, __ATOMIC_RELAXED);
    unflushed = 0;
}

void walpool_heap_begin(void) { walpool_heap_begin_limited(__atomic_load_n(&statement_limit, __ATOMIC_RELAXED)); }

int walpool_heap_was_refused(void) {
    int was = was_refused;
    was_refused = 0;
    return was;
}

int walpool_heap_is_beyond_limit(void) {
    return __atomic_load_n(&total, __ATOMIC_RELAXED) > __atomic_load_n(&total_limit, __ATOMIC_RELAXED);
}

void walpool_heap_trim(void) { malloc_trim(0); }

int64_t walpool_heap_total(void) { return __atomic_load_n(&total, __ATOMIC_RELAXED); }
