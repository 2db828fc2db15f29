/* The last connection to close deletes its own -wal, and no other that has come into its place.

   "When the last connection to a database closes, that connection does one last checkpoint and then deletes the WAL"
   (https://www.sqlite.org/wal.html), by its name: between any look at what has that name and unlink(2) somebody may put another
   file there, a backup's (`mv backup.db-wal app.db-wal; mv backup.db app.db`), and what was in that is lost. So it is given a name
   that nobody else uses, which takes away whatever is there at that moment; then it is looked at, and goes back if it is not the one
   that is meant. Without that the connection would have to leave the -wal where it is, as nobody does.

   It has to be where SQLite deletes, which holds the lock that keeps all others away until then. Its unix VFS calls unlink(2) by a
   pointer that may be replaced: "sqlite3_vfs … xSetSystemCall" (https://www.sqlite.org/c3ref/vfs.html). */
#pragma once
#include <sqlite3.h>
#include <stdint.h>

/* Once SQLite is configured, and before any connection is opened: the pointer is the process's. Something else than SQLITE_OK:
   everything is as without it. */
int walpool_own_wal_install(void);

/* Of all that SQLite deletes on this thread, until the end, whose name ends as a -wal's does, only this one is: the numbers as
   stat(2) has them. is_empty: and only while there is nothing in it, as the last checkpoint has left it. What is there then somebody has
   written into the same file (`cp backup.db-wal app.db-wal`). */
void walpool_own_wal_begin(uint64_t device, uint64_t inode, int is_empty);

/* Where another is now that was found and could not be put back (-wal.closing), which is a third one's doing; NULL: there is none. The
   name is this thread's until it begins again. */
const char *walpool_own_wal_end(void);
