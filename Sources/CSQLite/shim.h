/* What Swift cannot say about sqlite3.h by itself: variadic calls, destructor constants, and the WAL index. */
#pragma once
#include <sqlite3.h>
#include <string.h>

/* sqlite3_config() and sqlite3_db_config() are variadic, and Swift imports no variadic C function. */
static inline int walpool_config_int(int option, int value) { return sqlite3_config(option, value); }
static inline int walpool_db_config_int(sqlite3 *db, int option, int value) {
    return sqlite3_db_config(db, option, value, (int *)0);
}

/* SQLITE_STATIC and SQLITE_TRANSIENT are casts in C. STATIC: the caller keeps the bytes alive until the
   statement is reset and its bindings are cleared. */
static inline int walpool_bind_text_static(sqlite3_stmt *s, int i, const void *text, size_t bytes) {
    return sqlite3_bind_text64(s, i, (const char *)text, bytes, SQLITE_STATIC, SQLITE_UTF8);
}
static inline int walpool_bind_blob_static(sqlite3_stmt *s, int i, const void *blob, size_t bytes) {
    return sqlite3_bind_blob64(s, i, blob, bytes, SQLITE_STATIC);
}
static inline int walpool_bind_text_copy(sqlite3_stmt *s, int i, const void *text, size_t bytes) {
    return sqlite3_bind_text64(s, i, (const char *)text, bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int walpool_bind_blob_copy(sqlite3_stmt *s, int i, const void *blob, size_t bytes) {
    return sqlite3_bind_blob64(s, i, blob, bytes, SQLITE_TRANSIENT);
}

/* The first region of the WAL index: "The WAL-index Header", https://www.sqlite.org/walformat.html section 2.
   Two copies of a 48-byte header stand at its start. It is mapped through the connection's own file object, so no
   descriptor is opened beside SQLite's (closing one would drop the process's POSIX locks), and the mapping lives as
   long as that connection. NULL when the file has no WAL index. */
static inline const volatile void *walpool_wal_index(sqlite3 *db) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return 0;
    if (!file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
    void volatile *region = 0;
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &region) != SQLITE_OK) return 0;
    return region;
}

/* A writer publishes a commit by storing the second copy, a barrier, then the first copy. So while the first copy is
   what it was, no commit has been published. The fences keep the loads on the right side of what surrounds them. */
static inline void walpool_wal_header_copy(const volatile void *index, void *out) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const volatile unsigned long long *from = (const volatile unsigned long long *)index;
    unsigned long long *to = (unsigned long long *)out;
    for (int i = 0; i < 6; i++) to[i] = from[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
static inline int walpool_wal_header_equals(const volatile void *index, const void *copy) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const volatile unsigned long long *now = (const volatile unsigned long long *)index;
    const unsigned long long *then = (const unsigned long long *)copy;
    unsigned long long difference = 0;
    for (int i = 0; i < 6; i++) difference |= now[i] ^ then[i];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return difference == 0;
}
/* mxFrame stands at byte 16 of the header, nBackfill right behind the two copies (byte 96). */
static inline unsigned walpool_wal_frames(const volatile void *index) {
    return *(const volatile unsigned *)((const volatile char *)index + 16);
}
static inline unsigned walpool_wal_backfilled(const volatile void *index) {
    return *(const volatile unsigned *)((const volatile char *)index + 96);
}

/* What a checkpoint of any process changes: the salts (bytes 32 to 39 of the header) when the WAL begins anew, nBackfill (byte 96) when
   all it copied is on the disk, and nBackfillAttempted (byte 128) before it copies anything or makes the file shorter. */
static inline void walpool_wal_checkpoint_marks(const volatile void *index, unsigned long long *salts, unsigned *done, unsigned *attempted) {
    const volatile char *bytes = (const volatile char *)index;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    *salts = *(const volatile unsigned long long *)(bytes + 32);
    *done = *(const volatile unsigned *)(bytes + 96);
    *attempted = *(const volatile unsigned *)(bytes + 128);
}

/* The database file, if its VFS has a WAL index in shared memory with locks; else 0. */
static inline sqlite3_file *walpool_shared_file(sqlite3 *db) {
    sqlite3_file *file = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return 0;
    return file->pMethods && file->pMethods->iVersion >= 2 && file->pMethods->xShmLock ? file : 0;
}
static inline int walpool_database_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    return file->pMethods->xRead(file, bytes, count, offset);
}
/* As a checkpoint of synchronous = NORMAL syncs it. No descriptor of its own, for to close that would drop SQLite's locks. */
static inline int walpool_database_sync(sqlite3_file *file) {
    return file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}
/* Takes WAL_WRITE_LOCK and WAL_CKPT_LOCK, the first two locks of the WAL index (walformat.html section 2.3.1): until they are given
   back nobody else writes, checkpoints or makes the index anew. SQLITE_BUSY: another connection has one of them. */
static inline int walpool_wal_index_lock(sqlite3_file *file) {
    return file->pMethods->xShmLock(file, 0, 2, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
}
static inline void walpool_wal_index_unlock(sqlite3_file *file) {
    file->pMethods->xShmLock(file, 0, 2, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}
/* The second of them alone, which who writes does without. */
static inline int walpool_wal_checkpoint_lock(sqlite3_file *file) {
    return file->pMethods->xShmLock(file, 1, 1, SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE);
}
static inline void walpool_wal_checkpoint_unlock(sqlite3_file *file) {
    file->pMethods->xShmLock(file, 1, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
}
/* Makes the WAL index say nothing, so that the connection that begins a transaction next makes it anew from the -wal, as after a
   crash: SQLite takes a header of zeros for one that was never written ("Malformed header - probably all zeros": walIndexTryHdr in
   src/wal.c, https://www.sqlite.org/src/file?name=src/wal.c). Only with the locks of walpool_wal_index_lock, which it gives back. */
static inline void walpool_wal_index_clear_and_unlock(sqlite3_file *file) {
    void volatile *region = 0;
    if (file->pMethods->xShmMap(file, 0, 32768, 0, &region) == SQLITE_OK && region) memset((void *)region, 0, 96);
    file->pMethods->xShmBarrier(file);
    walpool_wal_index_unlock(file);
}

/* Whether the path of the database's file leads to another file than the one that is open: "whether or not the file has been renamed,
   moved, or deleted since it was first opened", https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html. */
static inline int walpool_has_moved(sqlite3 *db) {
    int moved = 0;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/* The -wal file as SQLite has it open. It carries no POSIX locks, and the xSync it was opened with only calls fdatasync on
   the descriptor, so another thread than the writer's may call it while the writer writes. */
static inline sqlite3_file *walpool_wal_file(sqlite3 *db) {
    sqlite3_file *wal = 0;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) != SQLITE_OK) return 0;
    return wal && wal->pMethods ? wal : 0;
}
static inline int walpool_wal_sync(const sqlite3_io_methods *methods, sqlite3_file *wal) {
    return methods->xSync(wal, SQLITE_SYNC_NORMAL);
}
static inline sqlite3_int64 walpool_wal_bytes(const sqlite3_io_methods *methods, sqlite3_file *wal) {
    sqlite3_int64 bytes = 0;
    return methods->xFileSize(wal, &bytes) == SQLITE_OK ? bytes : -1;
}
static inline int walpool_wal_write(
    const sqlite3_io_methods *methods, sqlite3_file *wal, const void *bytes, int count, sqlite3_int64 offset) {
    return methods->xWrite(wal, bytes, count, offset);
}
static inline int walpool_wal_read(
    const sqlite3_io_methods *methods, sqlite3_file *wal, void *bytes, int count, sqlite3_int64 offset) {
    return methods->xRead(wal, bytes, count, offset);
}
static inline int walpool_wal_truncate(const sqlite3_io_methods *methods, sqlite3_file *wal, sqlite3_int64 bytes) {
    return methods->xTruncate(wal, bytes);
}

/* memmem(3) is GNU's, which Swift's module of the C library leaves out. */
void *memmem(const void *, size_t, const void *, size_t);
static inline const void *walpool_find(const void *text, size_t size, const void *part, size_t part_size) {
    return memmem(text, size, part, part_size);
}

/* A function's text result, copied. */
static inline void walpool_result_text(sqlite3_context *context, const void *text, unsigned long long bytes) {
    sqlite3_result_text64(context, (const char *)text, bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* The same in memory of sqlite3_malloc64(), which is SQLite's from now on. */
static inline void walpool_result_text_owned(sqlite3_context *context, void *text, unsigned long long bytes) {
    sqlite3_result_text64(context, (const char *)text, bytes, sqlite3_free, SQLITE_UTF8);
}

/* A scan of generate_series(): "subclasses" of SQLite's structures begin with them. */
typedef struct walpool_series_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_int64 value, start, stop, step, row;
    int is_done;
} walpool_series_cursor;

/* unnest(): the table knows its connection's callbacks, a scan is Swift's UnnestScan. */
typedef struct walpool_unnest_table {
    sqlite3_vtab base;
    void *callbacks;
    int count;
} walpool_unnest_table;
typedef struct walpool_unnest_cursor {
    sqlite3_vtab_cursor base;
    void *scan;
} walpool_unnest_cursor;

/* sqlite3_vtab_config() and sqlite3_mprintf() are variadic. */
static inline int walpool_vtab_config_innocuous(sqlite3 *db) { return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS); }
static inline char *walpool_message(const char *text) { return sqlite3_mprintf("%s", text); }
