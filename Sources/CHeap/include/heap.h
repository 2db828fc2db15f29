/* SQLite's memory, counted per thread and bounded, without a lock.

   SQLite's own bound, sqlite3_hard_heap_limit64(), needs SQLITE_CONFIG_MEMSTATUS, which puts one mutex around every
   allocation of every connection. But a statement runs on one thread at a time, so a thread can count for itself, and the
   limit can be the statement's instead of the process's: who asks for too much fails (SQLITE_NOMEM), and nobody else.
   https://www.sqlite.org/c3ref/c_config_covering_index_scan.html#sqliteconfigmalloc */
#pragma once
#include <stdint.h>

/* To be called before sqlite3_initialize(); SQLITE_OK or an error. */
int walpool_heap_install(void);

/* Bytes; INT64_MAX is no limit.
   statement: what a thread may have allocated, less what it freed, since walpool_heap_begin().
   total: what all threads together have. Beyond it a thread may still have `share`, so that those who ask for little go on
   beside those who ask for much. */
void walpool_heap_limit(int64_t statement, int64_t total, int64_t share);

/* The calling thread turns to something else: it counts from 0, up to the limit. */
void walpool_heap_begin(void);

/* The same with a limit of its own; INT64_MAX for what is the daemon's own. */
void walpool_heap_begin_limited(int64_t bytes);

/* The calling thread ends: what it has counted and not added to the total yet would be missing there for ever. */
void walpool_heap_end(void);

/* Whether the calling thread was refused memory by a limit, or there was none, since the last call. */
int walpool_heap_was_refused(void);

/* Whether all threads together have more than the total limit. */
int walpool_heap_is_beyond_limit(void);

/* What is allocated now, all threads together, to within a mebibyte per thread. */
int64_t walpool_heap_total(void);

/* Gives whole pages that are free back to the kernel, wherever they lie: malloc_trim(3). It locks one arena after the other. */
void walpool_heap_trim(void);

/* The stack. SQLite compiles by recursion, and what it compiles nests as deeply as clients like: common table expressions, views,
   foreign keys that cascade. No limit of SQLite's bounds that. But no level of it does without memory, so a thread that has used
   more than a part of its stack (1/WALPOOL_STACK_SHARE, stack.h) gets none (SQLITE_NOMEM), and goes all the way back. (A block may
   always grow to some kilobytes: see heap_realloc.) */
int walpool_stack_is_short(void);

/* Whether that was so since the last call, on this thread. */
int walpool_stack_was_short(void);

/* From now on `ask` is called when the calling thread allocates and WALPOOL_NANOSECONDS_PER_QUESTION have passed, and once it returns
   other than 0 the thread gets no new block, until this is called again. NULL: nobody is asked. `ask` is called in the middle of
   whatever SQLite does, and calls nothing of SQLite. The time is looked at with every WALPOOL_ALLOCATIONS_PER_LOOK allocations: what
   takes long over few of them is asked as well. */
void walpool_heap_ask(int (*ask)(void *), void *context);
enum { WALPOOL_ALLOCATIONS_PER_LOOK = 8, WALPOOL_NANOSECONDS_PER_QUESTION = 500000 };
