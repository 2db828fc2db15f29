/* Many processes insert single rows into one SQLite file, each with a connection of its own: what an
 * application does without Walpool. Every insert is a transaction (autocommit), WAL, synchronous=FULL,
 * busy_timeout=5000.
 *
 *     direct_insert DATABASE PROCESSES SECONDS
 *
 * Prints one JSON object: rows per process, the longest any process waited for one insert, errors. */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BUSY_TIMEOUT_MS 5000

struct outcome {
    long rows;          /* committed before the deadline */
    long late;          /* committed after it: the insert was under way when time was up */
    long busy;          /* SQLITE_BUSY after BUSY_TIMEOUT_MS */
    long failed;        /* any other error */
    double worst;       /* seconds the longest insert took, successful or not */
    double spent;       /* seconds in all inserts together */
};

struct shared {
    double deadline;
    struct outcome outcome[];
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(const char *what, sqlite3 *db) {
    fprintf(stderr, "direct_insert: %s: %s\n", what, db ? sqlite3_errmsg(db) : "failed");
    exit(1);
}

static sqlite3 *open_database(const char *path) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) fail(path, db);
    sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
    if (sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", NULL, NULL, NULL) != SQLITE_OK)
        fail("PRAGMA", db);
    return db;
}

static void insert_rows(const char *path, int client, struct shared *shared, int ready, int go) {
    sqlite3 *db = open_database(path);
    sqlite3_stmt *insert = NULL;
    if (sqlite3_prepare_v2(db, "INSERT INTO bench_insert (client, value) VALUES (?1, ?2)", -1, &insert, NULL)
        != SQLITE_OK)
        fail("prepare", db);
    sqlite3_bind_int(insert, 1, client);

    char byte = 0;
    if (write(ready, &byte, 1) != 1) exit(1);
    if (read(go, &byte, 1) != 0) exit(1);           /* end of file is the starting gun */

    struct outcome *mine = &shared->outcome[client];
    unsigned seed = (unsigned)client + 1;
    double before = now();
    while (before < shared->deadline) {
        char value[16];
        snprintf(value, sizeof value, "%d", rand_r(&seed) % 1000000000 + 1);
        sqlite3_bind_text(insert, 2, value, -1, SQLITE_TRANSIENT);
        int code = sqlite3_step(insert);
        sqlite3_reset(insert);
        double after = now();
        if (code == SQLITE_DONE) {
            if (after <= shared->deadline) mine->rows++; else mine->late++;
        } else if ((code & 0xff) == SQLITE_BUSY) {
            mine->busy++;
        } else {
            if (mine->failed++ == 0) fprintf(stderr, "direct_insert: %s\n", sqlite3_errmsg(db));
        }
        mine->spent += after - before;
        if (after - before > mine->worst) mine->worst = after - before;
        before = after;
    }
    sqlite3_finalize(insert);
    sqlite3_close(db);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: direct_insert DATABASE PROCESSES SECONDS\n");
        return 2;
    }
    const char *path = argv[1];
    int processes = atoi(argv[2]);
    double seconds = atof(argv[3]);
    if (processes < 1 || seconds <= 0) fail("PROCESSES and SECONDS must be positive", NULL);

    sqlite3_close(open_database(path));             /* WAL is set before anyone races for it */

    size_t size = sizeof(struct shared) + (size_t)processes * sizeof(struct outcome);
    struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ready[2], go[2];
    if (shared == MAP_FAILED || pipe(ready) != 0 || pipe(go) != 0) fail("mmap, pipe", NULL);

    pid_t parent = getpid();
    for (int client = 0; client < processes; client++) {
        pid_t child = fork();
        if (child < 0) fail("fork", NULL);
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);       /* an interrupted benchmark leaves no process behind */
            if (getppid() != parent) _exit(1);
            close(ready[0]);
            close(go[1]);
            insert_rows(path, client, shared, ready[1], go[0]);
            _exit(0);
        }
    }
    close(ready[1]);
    close(go[0]);
    for (int i = 0; i < processes; i++) {
        char byte;
        if (read(ready[0], &byte, 1) != 1) fail("a process did not start", NULL);
    }
    shared->deadline = now() + seconds;
    close(go[1]);

    int broken = 0, status;
    while (wait(&status) > 0) broken |= status;

    long rows = 0, late = 0, busy = 0, failed = 0;
    double worst = 0, spent = 0;
    for (int i = 0; i < processes; i++) {
        struct outcome *o = &shared->outcome[i];
        rows += o->rows;
        late += o->late;
        busy += o->busy;
        failed += o->failed;
        spent += o->spent;
        if (o->worst > worst) worst = o->worst;
    }
    long inserts = rows + late + busy + failed;
    printf("{\"sqlite\": \"%s\", \"processes\": %d, \"seconds\": %g, \"rows\": %ld, \"late\": %ld, \"busy\": %ld, "
           "\"failed\": %ld, \"worst_ms\": %.3f, \"latency_ms\": %.4f, \"per_process\": [",
           sqlite3_libversion(), processes, seconds, rows, late, busy, failed, worst * 1e3,
           inserts ? spent * 1e3 / inserts : 0.0);
    for (int i = 0; i < processes; i++) printf("%s%ld", i ? ", " : "", shared->outcome[i].rows);
    printf("]}\n");
    return broken ? 1 : 0;
}
