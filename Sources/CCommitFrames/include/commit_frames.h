/* The frames of a commit leave by one write.

   SQLite writes a frame of the -wal by two calls, its header of 24 bytes and its page: a transaction that changed five pages
   makes ten system calls while it has the write lock. Here they are put together and written at once, behind the commit's
   last frame, before SQLite syncs the file and before it tells anybody of them.

   "Bytes 4..7: For commit records, the size of the database file in pages after the commit. For all other records, zero"
   (https://www.sqlite.org/walformat.html section 2.2): so it is known which frame is the last, and its page's xWrite writes
   them all and returns what became of it. What does not come as header, page, header, page, each behind the other, is
   written as it comes, after what came before it.

   Only during a COMMIT, whose frames are its own until its end. What is written when pages leave the cache in the middle of
   a transaction is written at once, since frames that are kept beyond the write lock would fall upon another process's.

   And commits have no frames without their checksums. Until 3.50.2 SQLite may leave some: "Avoid writing frames with no checksums
   into the wal file if a savepoint is rolled back after dirty pages have already been spilled into the wal file"
   (https://www.sqlite.org/releaselog/3_50_2.html). A page that the same transaction has written already is written over in its
   frame, and from then on frames get no checksum; the commit gives them theirs, from the first one that was written over
   (walRewriteChecksums). When that one is undone by ROLLBACK TO, or by a statement that fails, frames come in front of it that the
   commit does not come to. Whoever reads the -wal anew, after a crash for one, stops there: every commit from that on is lost, though
   it was on the disk. So those frames are given their checksums here, where the commit begins to look for the one in front of its own.

   Two more things can be done only amid a call of SQLite's, with its locks. A commit that had no room is made none in the file, too (see
   `unmake` in commit_frames.c). And before the -wal is begun anew, emptied or closed by this connection the database is brought onto the
   disk, whoever has copied into it. */
#pragma once
#include <sqlite3.h>

struct walpool_commit_frames;

/* For the -wal file of a connection that writes, until SQLite closes it; NULL, and it is as it was, when there is no memory. The
   connection is used by one thread at a time. */
struct walpool_commit_frames *walpool_commit_frames_of(sqlite3_file *wal, sqlite3_file *database);

/* Before COMMIT is run. */
void walpool_commit_frames_begin(struct walpool_commit_frames *frames);

/* What became of a COMMIT in the file. */
struct walpool_commit_in_file {
    /* All of it was written, and has its checksums: a COMMIT that succeeded without has left a hole behind, and that is not known to be
       possible. */
    int is_whole;
    /* Its last frame may be there: one that failed all the same may be found when the index is made anew. */
    int has_mark;
    /* What a write of several frames has failed with, whatever SQLite makes of it; SQLITE_OK: none has. */
    int failure;
};

/* After it. Of one that failed nothing is written any more: its transaction has to be rolled back, if it is still open. */
struct walpool_commit_in_file walpool_commit_frames_end(struct walpool_commit_frames *frames);
