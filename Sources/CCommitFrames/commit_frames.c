#include "commit_frames.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* "The WAL header is 32 bytes in size" (https://www.sqlite.org/walformat.html section 1.1). */
    WAL_HEADER_BYTES = 32,
    FRAME_HEADER_BYTES = 24,
    /* Behind the page's number and the size of the database: two salts and two checksums. */
    SALTS_AND_CHECKSUMS = 8,
    SALTS_AND_CHECKSUMS_BYTES = 16,
    /* "The page size … must be a power of two between 512 and 65536" (https://www.sqlite.org/pragma.html#pragma_page_size). */
    LEAST_PAGE_BYTES = 512,
    /* os_unix.c writes no more by one call (`nBuf &= 0x1ffff` in seekAndWriteFd). 31 pages of 4 KiB; what is longer leaves
       in parts. */
    MOST_BYTES = 0x1ffff,
};

struct walpool_commit_frames {
    /* What SQLite calls, in place of the file's own: first, so that a file leads here. */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    /* What SQLite writes next, if it is kept. */
    enum { WHATEVER, HEADER, PAGE } next;
    /* The frame whose page comes is the commit's last. */
    int is_last;
    /* What a write of kept bytes has failed with in this commit. It may have been a read that had to wait for them, and whose
       caller makes nothing of its failure: nothing succeeds any more before the commit has failed, too. */
    int failure;
    /* Of this transaction: where its frames began and where they end; where the first frame is whose page it has written again; and
       whether one came that would never get its checksum. Positions of headers; 0 is none. */
    sqlite3_int64 first;
    sqlite3_int64 end;
    sqlite3_int64 rewritten;
    int is_spoilt;
    /* The header whose page comes next. */
    sqlite3_int64 header;
    /* Where they belong, and how many bytes they are. */
    sqlite3_int64 offset;
    int count;
    unsigned char bytes[MOST_BYTES];
};

static struct walpool_commit_frames *frames_of(sqlite3_file *file) { return (struct walpool_commit_frames *)file->pMethods; }

/* A quota or a limit of file sizes is a full disk, too, and nothing is wrong with what is there: SQLite says so of ENOSPC only
   (`unixWrite`). */
static int write_original(struct walpool_commit_frames *frames, const void *bytes, int count, sqlite3_int64 offset) {
    int code = frames->original->xWrite(frames->file, bytes, count, offset);
    if (code != SQLITE_IOERR_WRITE) return code;
    int number = 0;
    frames->original->xFileControl(frames->file, SQLITE_FCNTL_LAST_ERRNO, &number);
    return number == EDQUOT || number == EFBIG ? SQLITE_FULL : code;
}

static int write_kept(struct walpool_commit_frames *frames) {
    int count = frames->count;
    if (count == 0 || frames->failure != SQLITE_OK) return frames->failure;
    frames->count = 0;
    frames->failure = write_original(frames, frames->bytes, count, frames->offset);
    if (frames->failure != SQLITE_OK) frames->next = WHATEVER;
    return frames->failure;
}

/* Something else than the next part of a frame comes. A header without its page is no frame of a commit: SQLite writes those
   behind it, to change checksums (walRewriteChecksums), and from there on everything is written as it comes. */
static int write_before_others(struct walpool_commit_frames *frames) {
    if (frames->next == PAGE) frames->next = WHATEVER;
    return write_kept(frames);
}

static int is_expected(struct walpool_commit_frames *frames, int count, sqlite3_int64 offset) {
    if (frames->count > 0 && offset != frames->offset + frames->count) return 0;
    return frames->next == HEADER ? count == FRAME_HEADER_BYTES
                                  : frames->next == PAGE && count >= LEAST_PAGE_BYTES && count <= MOST_BYTES;
}

static int keep(struct walpool_commit_frames *frames, const void *bytes, int count, sqlite3_int64 offset) {
    if (frames->count + count > MOST_BYTES) {
        int code = write_kept(frames);
        if (code != SQLITE_OK) return code;
    }
    if (frames->count == 0) frames->offset = offset;
    memcpy(frames->bytes + frames->count, bytes, count);
    frames->count += count;
    if (frames->next == HEADER) {
        static const unsigned char is_no_commit[4];
        frames->is_last = memcmp((const unsigned char *)bytes + 4, is_no_commit, sizeof is_no_commit) != 0;
        frames->next = PAGE;
        return SQLITE_OK;
    }
    frames->next = frames->is_last ? WHATEVER : HEADER;
    return frames->is_last ? write_kept(frames) : SQLITE_OK;
}

/* Where salts and checksums are zeros, SQLite means to write them with the commit, from the first frame on whose page was written
   again. So in front of that there must be none. */
static int is_without_checksum(struct walpool_commit_frames *frames, const void *header, sqlite3_int64 offset) {
    static const unsigned char zeros[SALTS_AND_CHECKSUMS_BYTES];
    if (memcmp((const unsigned char *)header + SALTS_AND_CHECKSUMS, zeros, sizeof zeros) != 0) {
        frames->rewritten = 0;
        return 0;
    }
    return frames->rewritten == 0 || offset < frames->rewritten;
}

/* False: this would spoil the -wal. */
static int note(struct walpool_commit_frames *frames, const void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_int64 header = frames->header;
    frames->header = 0;
    if (offset < WAL_HEADER_BYTES) return 1;
    if (count == FRAME_HEADER_BYTES) {
        frames->header = offset;
        if (!is_without_checksum(frames, bytes, offset)) return 1;
        frames->is_spoilt = 1;
        return 0;
    }
    if (count < LEAST_PAGE_BYTES) return 1;
    if (header == offset - FRAME_HEADER_BYTES) {
        if (frames->first == 0) frames->first = header;
        frames->end = offset + count;
    } else if (frames->rewritten == 0 || offset - FRAME_HEADER_BYTES < frames->rewritten) {
        frames->rewritten = offset - FRAME_HEADER_BYTES;
    }
    return 1;
}

static int write_frames(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct walpool_commit_frames *frames = frames_of(file);
    if (!note(frames, bytes, count, offset)) return SQLITE_FULL;
    if (is_expected(frames, count, offset)) return keep(frames, bytes, count, offset);
    int code = write_before_others(frames);
    if (code != SQLITE_OK) return code;
    /* A frame elsewhere. */
    if (is_expected(frames, count, offset)) return keep(frames, bytes, count, offset);
    return write_original(frames, bytes, count, offset);
}

/* Only what is read is written first: a COMMIT that fails gives the write lock back before it ends, and what was kept for it is
   nobody's by then. SQLite reads none of it any more. */
static int read_frames(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    struct walpool_commit_frames *frames = frames_of(file);
    if (frames->count > 0 && offset < frames->offset + frames->count && offset + count > frames->offset) {
        int code = write_before_others(frames);
        if (code != SQLITE_OK) return code;
    }
    return frames->original->xRead(file, bytes, count, offset);
}

static int truncate_frames(sqlite3_file *file, sqlite3_int64 bytes) {
    int code = write_before_others(frames_of(file));
    return code == SQLITE_OK ? frames_of(file)->original->xTruncate(file, bytes) : code;
}

static int sync_frames(sqlite3_file *file, int flags) {
    int code = write_before_others(frames_of(file));
    return code == SQLITE_OK ? frames_of(file)->original->xSync(file, flags) : code;
}

static int size_of_frames(sqlite3_file *file, sqlite3_int64 *bytes) {
    int code = write_before_others(frames_of(file));
    return code == SQLITE_OK ? frames_of(file)->original->xFileSize(file, bytes) : code;
}

static int control_frames(sqlite3_file *file, int operation, void *argument) {
    int code = write_before_others(frames_of(file));
    return code == SQLITE_OK ? frames_of(file)->original->xFileControl(file, operation, argument) : code;
}

struct walpool_commit_frames *walpool_commit_frames_of(sqlite3_file *wal) {
    struct walpool_commit_frames *frames = malloc(sizeof *frames);
    if (!frames) return 0;
    frames->original = wal->pMethods;
    frames->methods = *wal->pMethods;
    frames->methods.xWrite = write_frames;
    frames->methods.xRead = read_frames;
    frames->methods.xTruncate = truncate_frames;
    frames->methods.xSync = sync_frames;
    frames->methods.xFileSize = size_of_frames;
    frames->methods.xFileControl = control_frames;
    frames->file = wal;
    frames->next = WHATEVER;
    frames->is_last = 0;
    frames->failure = SQLITE_OK;
    frames->offset = 0;
    frames->count = 0;
    walpool_commit_frames_begin_transaction(frames);
    wal->pMethods = &frames->methods;
    return frames;
}

void walpool_commit_frames_begin_transaction(struct walpool_commit_frames *frames) {
    frames->first = 0;
    frames->end = 0;
    frames->rewritten = 0;
    frames->is_spoilt = 0;
    frames->header = 0;
}

sqlite3_int64 walpool_commit_frames_end_of_transaction(const struct walpool_commit_frames *frames) { return frames->end; }

int walpool_commit_frames_go_back(struct walpool_commit_frames *frames, sqlite3_int64 end) {
    if (end < frames->end) frames->end = end;
    return frames->rewritten > (end > 0 ? end : frames->first);
}

int walpool_commit_frames_spoilt(const struct walpool_commit_frames *frames) { return frames->is_spoilt; }

void walpool_commit_frames_begin(struct walpool_commit_frames *frames) {
    frames->next = HEADER;
    frames->is_last = 0;
    frames->failure = SQLITE_OK;
    frames->count = 0;
}

int walpool_commit_frames_end(struct walpool_commit_frames *frames) {
    int is_whole = frames->failure == SQLITE_OK && frames->count == 0;
    frames->next = WHATEVER;
    frames->failure = SQLITE_OK;
    frames->count = 0;
    return is_whole;
}

void walpool_commit_frames_release(struct walpool_commit_frames *frames) {
    frames->file->pMethods = frames->original;
    free(frames);
}
