#include "commit_frames.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* "The WAL header is 32 bytes in size" (https://www.sqlite.org/walformat.html section 1.1). */
    WAL_HEADER_BYTES = 32,
    FRAME_HEADER_BYTES = 24,
    /* In that header: the page's size, two salts, two checksums. */
    WAL_PAGE_SIZE = 8,
    WAL_SALTS = 16,
    /* In a frame's, behind the page's number and the size of the database: two salts and two checksums. */
    PAGE_AND_SIZE_BYTES = 8,
    SALTS_AND_CHECKSUMS = 8,
    SALTS_AND_CHECKSUMS_BYTES = 16,
    /* "The page size … must be a power of two between 512 and 65536" (https://www.sqlite.org/pragma.html#pragma_page_size). */
    LEAST_PAGE_BYTES = 512,
    MOST_PAGE_BYTES = 65536,
    /* os_unix.c writes no more by one call (`nBuf &= 0x1ffff` in seekAndWriteFd). 31 pages of 4 KiB; what is longer leaves
       in parts. */
    MOST_BYTES = 0x1ffff,
};

struct walpool_commit_frames {
    /* What SQLite calls, in place of the file's own: first, so that a file leads here. */
    sqlite3_io_methods methods;
    const sqlite3_io_methods *original;
    sqlite3_file *file;
    /* What the -wal's frames are copied into. */
    sqlite3_file *database;
    /* What SQLite writes next, if it is kept. */
    enum { WHATEVER, HEADER, PAGE } next;
    /* The frame whose page comes is the commit's last. */
    int is_last;
    /* What a write of kept bytes has failed with in this commit. It may have been a read that had to wait for them, and whose
       caller makes nothing of its failure: nothing succeeds any more before the commit has failed, too. */
    int failure;
    /* Of this transaction, by the positions of their headers; 0 is none: the lowest frame whose page was written again, from which on a
       COMMIT gives frames their checksums (SQLite's iReCksum); the lowest that has none; and where the frame ends that was appended last.
       Nobody tells of a ROLLBACK TO, nor is there any need: what comes after it is appended further in front, so that it is the lowest,
       and a COMMIT always appends its last frame. From 3.50.2 on none without a checksum is ever in front of one written again. */
    sqlite3_int64 rewritten;
    sqlite3_int64 unsummed;
    sqlite3_int64 end;
    /* The header whose page comes next. */
    sqlite3_int64 header;
    /* One was written since COMMIT began. */
    int has_header;
    /* The commit's last frame, with its checksums, may be in the file. */
    int has_mark;
    /* The header that came last, if it marks a commit, and where it belongs; 0: it marks none. */
    unsigned char mark[FRAME_HEADER_BYTES];
    sqlite3_int64 mark_offset;
    /* Where `bytes` belong, and how many they are. */
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

/* A COMMIT that had no room is none. But a write that had none may have written all but the end of its last page. Where zeros stand behind it, or
   are appended later, and the page's end is zeros, whoever makes the index anew finds a whole commit. So the header that marks it is made none
   at once: SQLite gives the write lock back as COMMIT fails. To take back the first header instead would not do. A later commit that begins
   as this one did writes that again, and may be killed before it comes to its last frame. */
static int unmake(struct walpool_commit_frames *frames) {
    static const unsigned char zeros[FRAME_HEADER_BYTES];
    unsigned char there[FRAME_HEADER_BYTES];
    const sqlite3_io_methods *methods = frames->original;
    sqlite3_int64 offset = frames->mark_offset, size = 0;
    int code = methods->xFileSize(frames->file, &size);
    if (code != SQLITE_OK) return code;
    if (size <= offset) return SQLITE_FULL;
    int count = size - offset < FRAME_HEADER_BYTES ? (int)(size - offset) : FRAME_HEADER_BYTES;
    code = methods->xRead(frames->file, there, count, offset);
    if (code != SQLITE_OK) return code;
    /* What differs is not this mark, but older bytes, or a part of each. */
    if (memcmp(there, frames->mark, count) == 0
        && methods->xWrite(frames->file, zeros, count, offset) != SQLITE_OK) {
        /* Where nothing is ever written over, that needs room, too. */
        code = methods->xTruncate(frames->file, offset);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_FULL;
}

static int write_kept(struct walpool_commit_frames *frames) {
    int count = frames->count;
    if (count == 0 || frames->failure != SQLITE_OK) return frames->failure;
    frames->count = 0;
    frames->failure = write_original(frames, frames->bytes, count, frames->offset);
    if (frames->is_last) {
        if (frames->failure == SQLITE_FULL) frames->failure = unmake(frames);
        /* Without their checksums they are no commit yet. */
        frames->has_mark = frames->failure != SQLITE_FULL && frames->unsummed == 0;
    }
    if (frames->failure != SQLITE_OK) frames->next = WHATEVER;
    return frames->failure;
}

/* Something else than the next part of a frame comes. Between a header and its page that is not known to be possible, and from there on
   everything is written as it comes. */
static int write_before_others(struct walpool_commit_frames *frames) {
    if (frames->next == PAGE) frames->next = WHATEVER;
    return write_kept(frames);
}

static int is_expected(struct walpool_commit_frames *frames, int count, sqlite3_int64 offset) {
    if (frames->count > 0 && offset != frames->offset + frames->count) return 0;
    return frames->next == HEADER ? count == FRAME_HEADER_BYTES
                                  : frames->next == PAGE && count >= LEAST_PAGE_BYTES && count <= MOST_BYTES;
}

static int marks_commit(const unsigned char *header) {
    static const unsigned char is_no_commit[4];
    return memcmp(header + 4, is_no_commit, sizeof is_no_commit) != 0;
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
        frames->is_last = marks_commit(bytes);
        frames->next = PAGE;
        return SQLITE_OK;
    }
    frames->next = frames->is_last ? WHATEVER : HEADER;
    return frames->is_last ? write_kept(frames) : SQLITE_OK;
}

static void note_mark(struct walpool_commit_frames *frames, const unsigned char *header, sqlite3_int64 offset) {
    frames->mark_offset = marks_commit(header) ? offset : 0;
    if (frames->mark_offset != 0) memcpy(frames->mark, header, sizeof frames->mark);
}

static void note_header(struct walpool_commit_frames *frames, const void *header, sqlite3_int64 offset) {
    static const unsigned char zeros[SALTS_AND_CHECKSUMS_BYTES];
    frames->header = offset;
    frames->has_header = 1;
    note_mark(frames, header, offset);
    if (memcmp((const unsigned char *)header + SALTS_AND_CHECKSUMS, zeros, sizeof zeros) == 0) {
        /* A header without checksums is written only after a page was written again. Otherwise these 24 bytes are a part of a page
           that is written in pieces. */
        if (frames->rewritten != 0 && (frames->unsummed == 0 || offset < frames->unsummed)) frames->unsummed = offset;
        return;
    }
    /* There is none without, or all of them are given theirs right now. What may be left was a transaction's that was rolled back. */
    frames->rewritten = 0;
    frames->unsummed = 0;
}

static void note(struct walpool_commit_frames *frames, const void *bytes, int count, sqlite3_int64 offset) {
    sqlite3_int64 header = frames->header;
    frames->header = 0;
    if (offset < WAL_HEADER_BYTES) return;
    if (count == FRAME_HEADER_BYTES) return note_header(frames, bytes, offset);
    if (count < LEAST_PAGE_BYTES) return;
    if (header == offset - FRAME_HEADER_BYTES) {
        frames->end = offset + count;
    } else if (frames->rewritten == 0 || offset - FRAME_HEADER_BYTES < frames->rewritten) {
        frames->rewritten = offset - FRAME_HEADER_BYTES;
    }
}

/* The -wal is about to be begun anew, emptied or closed, which may be to delete it, and what it held may be in the database only. But somebody
   else may have copied it there, with `synchronous = OFF`, and the disk may not have it. SQLite syncs only what it has copied itself. */
static int sync_database(struct walpool_commit_frames *frames) {
    return frames->database->pMethods->xSync(frames->database, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

/* What is not kept may be a header that marks a commit, or the page behind that: of a commit that gets its checksums at the end
   (walRewriteChecksums), or of one that is no COMMIT, as VACUUM's. */
static int write_as_it_comes(struct walpool_commit_frames *frames, const void *bytes, int count, sqlite3_int64 offset) {
    int code = write_original(frames, bytes, count, offset);
    int is_header = frames->mark_offset != 0 && offset == frames->mark_offset;
    int is_page = frames->mark_offset != 0 && offset == frames->mark_offset + FRAME_HEADER_BYTES;
    if (!is_header && !is_page) return code;
    if (code == SQLITE_FULL) code = unmake(frames);
    frames->has_mark = code != SQLITE_FULL;
    return code;
}

static int write_frames(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    struct walpool_commit_frames *frames = frames_of(file);
    note(frames, bytes, count, offset);
    if (is_expected(frames, count, offset)) return keep(frames, bytes, count, offset);
    int code = write_before_others(frames);
    if (code != SQLITE_OK) return code;
    /* A frame elsewhere. */
    if (is_expected(frames, count, offset)) return keep(frames, bytes, count, offset);
    if (offset == 0 && (code = sync_database(frames)) != SQLITE_OK) return code;
    return write_as_it_comes(frames, bytes, count, offset);
}

static uint32_t big_endian(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_big_endian(unsigned char *bytes, uint32_t value) {
    for (int index = 0; index < 4; index++) bytes[index] = value >> (24 - 8 * index);
}

/* "s0 += x[i] + s1; s1 += x[i+1] + s0", of words in the byte order that the file's header tells
   (https://www.sqlite.org/walformat.html section 4.2). */
static void add_to_checksum(uint32_t sums[2], const unsigned char *bytes, int count, int is_big_endian) {
    for (int index = 0; index < count; index += 8) {
        uint32_t words[2];
        for (int word = 0; word < 2; word++) {
            const unsigned char *from = bytes + index + 4 * word;
            words[word] = is_big_endian ? big_endian(from)
                                        : (uint32_t)from[3] << 24 | (uint32_t)from[2] << 16 | (uint32_t)from[1] << 8 | from[0];
        }
        sums[0] += words[0] + sums[1];
        sums[1] += words[1] + sums[0];
    }
}

/* Gives the frames in front of the first that was written again their salts and checksums. Returns the last of those in `sums`. */
static int sum_frames(struct walpool_commit_frames *frames, const unsigned char *header, unsigned char *frame, int page_bytes, uint32_t sums[2]) {
    const sqlite3_io_methods *methods = frames->original;
    const int frame_bytes = FRAME_HEADER_BYTES + page_bytes, is_big_endian = header[3] & 1;
    sqlite3_int64 end = frames->rewritten < frames->end ? frames->rewritten : frames->end;
    unsigned char before[8];
    memcpy(before, header + WAL_HEADER_BYTES - sizeof before, sizeof before);
    int code = SQLITE_OK;
    if (frames->unsummed > WAL_HEADER_BYTES) {
        code = methods->xRead(frames->file, before, sizeof before, frames->unsummed - frame_bytes + FRAME_HEADER_BYTES - sizeof before);
    }
    sums[0] = big_endian(before);
    sums[1] = big_endian(before + 4);
    for (sqlite3_int64 offset = frames->unsummed; code == SQLITE_OK && offset < end; offset += frame_bytes) {
        code = methods->xRead(frames->file, frame, frame_bytes, offset);
        if (code != SQLITE_OK) break;
        memcpy(frame + SALTS_AND_CHECKSUMS, header + WAL_SALTS, 8);
        add_to_checksum(sums, frame, PAGE_AND_SIZE_BYTES, is_big_endian);
        add_to_checksum(sums, frame + FRAME_HEADER_BYTES, page_bytes, is_big_endian);
        put_big_endian(frame + FRAME_HEADER_BYTES - 8, sums[0]);
        put_big_endian(frame + FRAME_HEADER_BYTES - 4, sums[1]);
        note_mark(frames, frame, offset);
        code = write_as_it_comes(frames, frame, FRAME_HEADER_BYTES, offset);
    }
    return code;
}

/* walRewriteChecksums begins with this read: of the checksum in front of the first frame that was written again, which is to be the next
   one's start. Where that frame has none it is given one, with all in front of it that have none; and where the commit ends
   in front of it, its own last checksum is what the next transaction goes on from. */
static int read_checksum(struct walpool_commit_frames *frames, unsigned char *bytes, sqlite3_int64 offset) {
    const sqlite3_io_methods *methods = frames->original;
    unsigned char header[WAL_HEADER_BYTES];
    int code = write_before_others(frames);
    if (code == SQLITE_OK) code = methods->xRead(frames->file, header, sizeof header, 0);
    if (code != SQLITE_OK) return code;
    const uint32_t page_bytes = big_endian(header + WAL_PAGE_SIZE);
    if (page_bytes < LEAST_PAGE_BYTES || page_bytes > MOST_PAGE_BYTES
        || offset != frames->rewritten - (sqlite3_int64)(FRAME_HEADER_BYTES + page_bytes) + FRAME_HEADER_BYTES - 8) {
        return methods->xRead(frames->file, bytes, 8, offset);
    }
    unsigned char *frame = malloc(FRAME_HEADER_BYTES + page_bytes);
    if (!frame) return SQLITE_IOERR_NOMEM;
    uint32_t sums[2];
    code = sum_frames(frames, header, frame, page_bytes, sums);
    free(frame);
    if (code != SQLITE_OK) return code;
    frames->unsummed = 0;
    put_big_endian(bytes, sums[0]);
    put_big_endian(bytes + 4, sums[1]);
    return SQLITE_OK;
}

/* Only what is read is written first: a COMMIT that fails gives the write lock back before it ends, and what was kept for it is
   nobody's by then. SQLite reads none of it any more. */
static int read_frames(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    struct walpool_commit_frames *frames = frames_of(file);
    if (count == 8 && frames->unsummed != 0 && frames->unsummed < frames->rewritten) return read_checksum(frames, bytes, offset);
    if (frames->count > 0 && offset < frames->offset + frames->count && offset + count > frames->offset) {
        int code = write_before_others(frames);
        if (code != SQLITE_OK) return code;
    }
    return frames->original->xRead(file, bytes, count, offset);
}

static int truncate_frames(sqlite3_file *file, sqlite3_int64 bytes) {
    int code = write_before_others(frames_of(file));
    if (code == SQLITE_OK && bytes == 0) code = sync_database(frames_of(file));
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

static int close_frames(sqlite3_file *file) {
    struct walpool_commit_frames *frames = frames_of(file);
    /* Nobody asks what became of it. */
    sync_database(frames);
    file->pMethods = frames->original;
    free(frames);
    return file->pMethods->xClose(file);
}

struct walpool_commit_frames *walpool_commit_frames_of(sqlite3_file *wal, sqlite3_file *database) {
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
    frames->methods.xClose = close_frames;
    frames->file = wal;
    frames->database = database;
    frames->next = WHATEVER;
    frames->is_last = 0;
    frames->failure = SQLITE_OK;
    frames->offset = 0;
    frames->count = 0;
    frames->rewritten = 0;
    frames->unsummed = 0;
    frames->end = 0;
    frames->header = 0;
    frames->has_header = 0;
    frames->has_mark = 0;
    frames->mark_offset = 0;
    wal->pMethods = &frames->methods;
    return frames;
}

void walpool_commit_frames_begin(struct walpool_commit_frames *frames) {
    frames->next = HEADER;
    frames->is_last = 0;
    frames->has_header = 0;
    frames->has_mark = 0;
    frames->mark_offset = 0;
    frames->failure = SQLITE_OK;
    frames->count = 0;
}

struct walpool_commit_in_file walpool_commit_frames_end(struct walpool_commit_frames *frames) {
    struct walpool_commit_in_file in_file = {
        .is_whole = frames->failure == SQLITE_OK && frames->count == 0 && !(frames->has_header && frames->unsummed != 0),
        .has_mark = frames->has_mark,
        .failure = frames->failure,
    };
    frames->next = WHATEVER;
    frames->mark_offset = 0;
    frames->failure = SQLITE_OK;
    frames->count = 0;
    return in_file;
}
