#define _GNU_SOURCE
#include "file_map.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

struct walpool_file_map {
    /* What SQLite calls, in place of the file's own: first, so that a file leads here. */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    sqlite3_int64 limit;
    /* How much of the file was there when it was mapped, as far as the limit allows. */
    sqlite3_int64 mapped;
    /* A page was not in the map since. */
    int has_missed;
    int is_used;
    /* Where it is, for the handler: nothing while `end` is 0. */
    uintptr_t begin, end;
    volatile uint32_t faults;
};

/* A table of its own memory, because the signal's handler looks through it and can take no lock. Every reader has one: the
   limit is that of the setting `readers`, and who comes later reads without a map. */
enum { MAPS = 1024 };
static struct walpool_file_map maps[MAPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const volatile uint32_t no_faults;
static uintptr_t page_bytes;
static int has_handler;

/* Mapping a file anew costs a fault for each 64 KiB that is read then, so it must have grown by a part of itself. */
enum { GROWTH_PART = 8, GROWTH_BYTES = 1 << 16 };

static struct walpool_file_map *map_of(sqlite3_file *file) { return (struct walpool_file_map *)file->pMethods; }

static int mappable(struct walpool_file_map *map, sqlite3_int64 *bytes) {
    int code = map->original->xFileSize(map->file, bytes);
    if (code == SQLITE_OK && *bytes > map->limit) *bytes = map->limit;
    return code;
}

static void is_at(struct walpool_file_map *map, uintptr_t begin) {
    if (mappable(map, &map->mapped) != SQLITE_OK) map->mapped = 0;
    __atomic_store_n(&map->begin, begin, __ATOMIC_RELAXED);
    __atomic_store_n(&map->end, begin + map->mapped, __ATOMIC_RELEASE);
}

static int fetch(sqlite3_file *file, sqlite3_int64 offset, int bytes, void **page) {
    struct walpool_file_map *map = map_of(file);
    int code = map->original->xFetch(file, offset, bytes, page);
    if (code != SQLITE_OK) return code;
    if (*page) {
        uintptr_t begin = (uintptr_t)*page - offset;
        if (__builtin_expect(begin != map->begin, 0)) is_at(map, begin);
    } else {
        map->has_missed = 1;
    }
    return SQLITE_OK;
}

static int unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    struct walpool_file_map *map = map_of(file);
    if (page) return map->original->xUnfetch(file, offset, page);
    if (!map->has_missed) return SQLITE_OK;
    map->has_missed = 0;
    sqlite3_int64 bytes;
    if (mappable(map, &bytes) != SQLITE_OK) return SQLITE_OK;
    sqlite3_int64 growth = map->mapped / GROWTH_PART;
    if (bytes < map->mapped + (growth > GROWTH_BYTES ? growth : GROWTH_BYTES)) return SQLITE_OK;
    __atomic_store_n(&map->end, 0, __ATOMIC_RELEASE);
    map->begin = 0;
    return map->original->xUnfetch(file, 0, 0);
}

/* On the thread that touched the page, in the middle of SQLite. mmap(2) is a system call and nothing else. */
static void page_is_unreadable(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    uintptr_t address = (uintptr_t)info->si_addr;
    int error = errno;
    for (int i = 0; info->si_code == BUS_ADRERR && i < MAPS; i++) {
        uintptr_t end = __atomic_load_n(&maps[i].end, __ATOMIC_ACQUIRE);
        if (address >= end || address < __atomic_load_n(&maps[i].begin, __ATOMIC_RELAXED)) continue;
        void *page = (void *)(address & ~(page_bytes - 1));
        if (mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
        maps[i].faults++;
        errno = error;
        return;
    }
    /* Not a database's. It comes again when this returns, and then it ends the program. */
    signal(signal_number, SIG_DFL);
    errno = error;
}

static int install_handler(void) {
    struct sigaction action = {.sa_sigaction = page_is_unreadable, .sa_flags = SA_SIGINFO};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    return sigaction(SIGBUS, &action, 0) == 0;
}

static struct walpool_file_map *take(void) {
    struct walpool_file_map *map = 0;
    pthread_mutex_lock(&lock);
    if (!has_handler) has_handler = install_handler();
    for (int i = 0; has_handler && i < MAPS && !map; i++) {
        if (!maps[i].is_used) map = &maps[i];
    }
    if (map) map->is_used = 1;
    pthread_mutex_unlock(&lock);
    return map;
}

static void give_back(struct walpool_file_map *map) {
    __atomic_store_n(&map->end, 0, __ATOMIC_RELEASE);
    map->begin = 0;
    pthread_mutex_lock(&lock);
    map->is_used = 0;
    pthread_mutex_unlock(&lock);
}

struct walpool_file_map *walpool_file_map_keep(sqlite3 *connection, int64_t limit) {
    sqlite3_file *file = 0;
    if (limit <= 0 || sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
    /* A database in memory has no file, and one whose methods are older has no map. */
    if (!file || !file->pMethods || file->pMethods->iVersion < 3) return 0;
    struct walpool_file_map *map = take();
    if (!map) return 0;
    map->original = file->pMethods;
    map->methods = *file->pMethods;
    map->methods.xFetch = fetch;
    map->methods.xUnfetch = unfetch;
    map->file = file;
    map->limit = limit;
    map->mapped = 0;
    map->has_missed = 0;
    map->faults = 0;
    file->pMethods = &map->methods;
    return map;
}

void walpool_file_map_release(struct walpool_file_map *map) {
    if (!map) return;
    map->file->pMethods = map->original;
    give_back(map);
}

const volatile uint32_t *walpool_file_map_faults(struct walpool_file_map *map) { return map ? &map->faults : &no_faults; }
