#define _GNU_SOURCE
#include "file_map.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct walpool_file_map {
    /* What SQLite calls, in place of the file's own: first, so that a file leads here. */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    /* How much of the file is mapped. */
    sqlite3_int64 mapped;
    /* A page was not in the map since it was made. */
    int has_missed;
    int is_used;
    /* Where it is, for the handler: NOWHERE and 0 while there is none. */
    uintptr_t begin, end;
    volatile uint32_t faults;
};

#define NOWHERE UINTPTR_MAX

/* A table of its own memory, because the signal's handler looks through it and can take no lock. Every reader has one: the
   limit is that of the setting `readers`, and who comes later reads without a map. */
enum { MAPS = 1024 };
static struct walpool_file_map maps[MAPS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t page_bytes;
static struct sigaction previous_action;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int has_handler;
/* What is said of a fault that ends the process. */
static const char *volatile last_words;
static volatile size_t last_words_bytes;

/* Mapping a file anew costs a fault for each 64 KiB that is read then, so it must have grown by a part of itself. */
enum { GROWTH_PART = 8, GROWTH_BYTES = 1 << 16 };

/* "If the database is corrupt, SQLite may overread the page slightly", says unixFetch since 3.41: behind a page it hands out
   must be as much of the map. */
enum { OVERREAD_BYTES = 256 };

static struct walpool_file_map *map_of(sqlite3_file *file) { return (struct walpool_file_map *)file->pMethods; }

/* As much of the file as SQLite would map now; 0 when that cannot be told. */
static sqlite3_int64 mappable(struct walpool_file_map *map) {
    sqlite3_int64 bytes = 0;
    /* "If the argument is negative", the limit in force is only told:
       https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlmmapsize */
    sqlite3_int64 limit = -1;
    if (map->original->xFileControl(map->file, SQLITE_FCNTL_MMAP_SIZE, &limit) != SQLITE_OK) return 0;
    /* SQLite sets it to 0 when mmap(2) has failed. */
    if (limit <= OVERREAD_BYTES || map->original->xFileSize(map->file, &bytes) != SQLITE_OK) return 0;
    return bytes < limit ? bytes : limit;
}

static void is_nowhere(struct walpool_file_map *map) {
    __atomic_store_n(&map->end, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&map->begin, NOWHERE, __ATOMIC_RELEASE);
}

/* SQLite has made the map, perhaps without handing out a page of it: it reads page 1 out of it too. */
static void look_for_map(struct walpool_file_map *map, sqlite3_int64 bytes_before) {
    void *first = 0;
    if (map->original->xFetch(map->file, 0, 1, &first) != SQLITE_OK || !first) return;
    map->original->xUnfetch(map->file, 0, first);
    sqlite3_int64 bytes = mappable(map);
    /* It was one of the two, or between them. */
    map->mapped = bytes < bytes_before ? bytes : bytes_before;
    uintptr_t end = (uintptr_t)first + (bytes > bytes_before ? bytes : bytes_before);
    __atomic_store_n(&map->begin, (uintptr_t)first, __ATOMIC_RELEASE);
    __atomic_store_n(&map->end, end, __ATOMIC_RELEASE);
}

static int fetch_first(struct walpool_file_map *map, sqlite3_int64 offset, int bytes, void **page) {
    sqlite3_int64 bytes_before = mappable(map);
    /* Of so little no page could be handed out, and the map would not be found. */
    if (bytes_before <= OVERREAD_BYTES) return *page = 0, SQLITE_OK;
    int code = map->original->xFetch(map->file, offset, bytes, page);
    if (code == SQLITE_OK) look_for_map(map, bytes_before);
    return code;
}

static int fetch(sqlite3_file *file, sqlite3_int64 offset, int bytes, void **page) {
    struct walpool_file_map *map = map_of(file);
    int code = __builtin_expect(map->begin == NOWHERE, 0) ? fetch_first(map, offset, bytes, page)
                                                           : map->original->xFetch(file, offset, bytes, page);
    if (code != SQLITE_OK) return code;
    if (__builtin_expect(*page && offset + bytes + OVERREAD_BYTES > map->mapped, 0)) {
        map->original->xUnfetch(file, offset, *page);
        *page = 0;
    }
    if (!*page && offset + bytes > map->mapped) map->has_missed = 1;
    return SQLITE_OK;
}

static int unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page) {
    struct walpool_file_map *map = map_of(file);
    if (page) return map->original->xUnfetch(file, offset, page);
    if (!map->has_missed) return SQLITE_OK;
    map->has_missed = 0;
    sqlite3_int64 growth = map->mapped / GROWTH_PART;
    if (mappable(map) < map->mapped + (growth > GROWTH_BYTES ? growth : GROWTH_BYTES)) return SQLITE_OK;
    is_nowhere(map);
    return map->original->xUnfetch(file, 0, 0);
}

/* Nobody may be reading what stderr leads to, and to wait for them would keep the locks of a statement that is going to end. */
static void say_last_words(void) {
    struct pollfd stream = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (!last_words || poll(&stream, 1, 0) <= 0 || !(stream.revents & POLLOUT)) return;
    if (write(STDERR_FILENO, last_words, last_words_bytes) < 0) return;
}

/* On the thread that touched the page, in the middle of SQLite. mmap(2) is a system call and nothing else.

   The map of the connection that reads is unchanged meanwhile. Others may be changed by their threads, so that what is found
   of them may never have been true: that counts a fault too many for them, and never one too few for this one. */
static void page_is_unreadable(int signal_number, siginfo_t *info, void *context) {
    (void)context;
    uintptr_t address = (uintptr_t)info->si_addr;
    int error = errno;
    int is_known = 0;
    for (int i = 0; info->si_code == BUS_ADRERR && i < MAPS; i++) {
        uintptr_t end = __atomic_load_n(&maps[i].end, __ATOMIC_ACQUIRE);
        if (address >= end || address < __atomic_load_n(&maps[i].begin, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_add(&maps[i].faults, 1, __ATOMIC_RELAXED);
        is_known = 1;
    }
    void *page = (void *)(address & ~(page_bytes - 1));
    if (!is_known ||
        mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
        /* Not a database's: what would have happened without this. A fault comes again when this returns, and what somebody
           sent does not. */
        sigaction(signal_number, &previous_action, 0);
        if (info->si_code == BUS_ADRERR && !is_known) say_last_words();
        if (info->si_code <= 0 || info->si_code == BUS_MCEERR_AO) raise(signal_number);
    }
    errno = error;
}

static void install_handler(void) {
    struct sigaction action = {.sa_sigaction = page_is_unreadable, .sa_flags = SA_SIGINFO};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    has_handler = sigaction(SIGBUS, &action, &previous_action) == 0;
}

static struct walpool_file_map *take(void) {
    struct walpool_file_map *map = 0;
    pthread_once(&once, install_handler);
    if (!has_handler) return 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAPS && !map; i++) {
        if (!maps[i].is_used) map = &maps[i];
    }
    if (map) map->is_used = 1;
    pthread_mutex_unlock(&lock);
    return map;
}

static void give_back(struct walpool_file_map *map) {
    is_nowhere(map);
    pthread_mutex_lock(&lock);
    map->is_used = 0;
    pthread_mutex_unlock(&lock);
}

int walpool_file_map_last_words(const char *words) {
    char *copy = strdup(words);
    if (!copy) return 0;
    last_words_bytes = strlen(copy);
    last_words = copy;
    pthread_once(&once, install_handler);
    return has_handler;
}

struct walpool_file_map *walpool_file_map_keep(sqlite3 *connection) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
    /* A database in memory has no file, and one whose methods are older has no map. */
    if (!file || !file->pMethods || file->pMethods->iVersion < 3) return 0;
    struct walpool_file_map *map = take();
    if (!map) return 0;
    map->original = file->pMethods;
    map->methods = *file->pMethods;
    map->methods.xFetch = fetch;
    map->methods.xUnfetch = unfetch;
    map->file = file;
    map->mapped = 0;
    map->has_missed = 0;
    is_nowhere(map);
    map->faults = 0;
    file->pMethods = &map->methods;
    return map;
}

void walpool_file_map_release(struct walpool_file_map *map) {
    map->file->pMethods = map->original;
    give_back(map);
}

const volatile uint32_t *walpool_file_map_faults(struct walpool_file_map *map) { return &map->faults; }
