/* What a checkpoint copies into the database file goes to the disk while it copies on.

   SQLite writes all pages and then syncs the file: until the last is copied the disk has nothing to do, and after that the
   connection, and with it every writer, waits for all of them at once. Of 28 ms that a checkpoint of 2,700 pages took, 17 were
   that sync.

   So after every so many pages the kernel is told to begin with these: sync_file_range(2) with SYNC_FILE_RANGE_WRITE, which is to
   "initiate write-out of all dirty pages in the specified range which are not presently submitted write-out"
   (https://man7.org/linux/man-pages/man2/sync_file_range.2.html). It promises nothing, waits for no page, and takes no error
   away: without one of its flags for waiting it does not look at what the file's writes have failed with. What makes the pages
   durable, and hears of those errors, is SQLite's own sync, which comes as ever and finds little left to do.
   Where a snapshot keeps a checkpoint from copying everything there is none: then these pages are on the disk early, and nothing
   rests on that.

   The call needs the file's descriptor, which SQLite keeps to itself and which must not be opened a second time (closing
   it would drop the process's locks). SQLite's unix VFS calls pwrite(2) by a pointer that may be replaced: "sqlite3_vfs …
   xSetSystemCall" (https://www.sqlite.org/c3ref/vfs.html). So the write itself tells. */
#pragma once
#include <sqlite3.h>

/* Once SQLite is configured, for this initializes it, and before any connection is opened: the pointer is the process's. Something
   else than SQLITE_OK: everything is as without it. */
int walpool_write_out_install(void);

/* What this thread writes by SQLite from now on is written out, until the end. Of one that checkpoints: it writes nothing but the
   pages of the database file, in their order. */
void walpool_write_out_begin(void);

/* How often the kernel was told. */
long walpool_write_out_end(void);
