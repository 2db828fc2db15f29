/* A connection's memory map of the database file, kept from one snapshot to the next.

   SQLite unmaps the file whenever a read transaction finds that there was a commit, in any process: "according to POSIX,
   any existing mapping may now be invalid and should be unmapped" (unixUnfetch in
   https://www.sqlite.org/src/file?name=src/os_unix.c). Beside a writer every statement would then map the file anew and
   fault each of its pages in again. On Linux a shared mapping and write(2) are one page cache, and a mapping is as good
   after the file was truncated and extended as before; what SQLite guards against is for other systems. So that hint is
   taken only when the file has grown by so much that mapping it anew pays.

   A page that cannot be read is a signal then, SIGBUS, instead of an error: the disk failed, or somebody truncated the file.
   The page is replaced by zeros and counted, and whoever reads on the connection looks at the count before it believes
   what it read.

   A connection that does not call SQLite with the map's own file methods is as it was: nothing else uses this. */
#pragma once
#include <sqlite3.h>
#include <stdint.h>

struct walpool_file_map;

/* Keeps the map that the connection makes of its database file, of as much as its `PRAGMA mmap_size` allows. To be called
   when the file is open and not mapped yet. NULL, and the connection is as it was, when there is no such file. The connection
   and its statements are used by one thread at a time. */
struct walpool_file_map *walpool_file_map_keep(sqlite3 *connection);

/* To be called before the connection is closed. The map itself is SQLite's to unmap. */
void walpool_file_map_release(struct walpool_file_map *map);

/* What is written to stderr when a page of another mapped file, which is the -shm, cannot be read or written: then the signal ends the
   process. To be called once, before there are threads. */
int walpool_file_map_last_words(const char *words);

/* How many pages could not be read so far. The address is good for as long as the program runs. */
const volatile uint32_t *walpool_file_map_faults(struct walpool_file_map *map);
