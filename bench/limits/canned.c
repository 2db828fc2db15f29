/* What socket and kernel cost: a server that speaks the PostgreSQL protocol, version 3, and has nothing behind it.
 *
 *     canned SOCKET_DIRECTORY PORT [--threads N]
 *
 * A query is answered with one row of one int4, 42; INSERT, UPDATE, BEGIN and the like with their command tags and the
 * transaction status that follows, so that every workload runs against it. No SQL is looked at beyond its first word.
 * A session has one portal, whatever its names are: Execute runs what was bound last. What a server takes longer than
 * this is what it adds to socket and kernel.
 *
 * Each thread has connections and an epoll of its own; a connection goes to the thread that has the fewest. README.md
 * has the figures of what else was tried. */
#define _GNU_SOURCE
#include "canned.h"

#include "../../Sources/CLinux/ring.h" /* as the daemon does it: what is compared shall not be the number of system calls */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    EVENTS = 16,     /* from one epoll_wait, and answered together */
    BACKLOG = 4096,  /* connections that nobody has accepted yet */
    LONE_MS = 100,   /* the longest a thread waits for its lone connection alone */
    THREADS_PER_CORE = 1,
    MOST_THREADS = 256,
};

struct thread {
    pthread_t thread;
    int epoll;
    atomic_int connections;
    struct walpool_ring ring; /* none, where the kernel has none */
    struct walpool_transfer transfers[EVENTS];
    struct connection *transferring[EVENTS];
    struct answers answers[EVENTS + 1]; /* the last is of who goes the long way, meanwhile */
    char input[EVENTS + 1][RECEIVE_BYTES];
};

static struct thread *threads;
static int threads_count;
static atomic_int connections_count;

static void fail(const char *what) {
    fprintf(stderr, "canned: %s: %s\n", what, strerror(errno));
    exit(1);
}

void *grown(void *memory, size_t size) {
    if (!(memory = realloc(memory, size))) fail("memory");
    return memory;
}

/* Returns how many bytes the socket took; SIZE_MAX when the client is gone. */
static size_t send_bytes(int descriptor, const char *bytes, size_t size) {
    size_t sent = 0;
    while (sent < size) {
        ssize_t count = send(descriptor, bytes + sent, size - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count >= 0)
            sent += (size_t)count;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            return SIZE_MAX;
    }
    return sent;
}

int send_answers(struct answers *answers, struct connection *connection) {
    size_t sent = connection->unsent_size ? 0 : send_bytes(connection->descriptor, answers->bytes, answers->size);
    if (sent == SIZE_MAX) return 0;
    size_t rest = answers->size - sent;
    answers->size = 0;
    if (!rest) return 1;
    connection->unsent = grown(connection->unsent, connection->unsent_size + rest);
    memcpy(connection->unsent + connection->unsent_size, answers->bytes + sent, rest);
    connection->unsent_size += rest;
    return 1;
}

/* 0 when the client is gone. */
static int send_unsent(struct connection *connection) {
    size_t sent = send_bytes(connection->descriptor, connection->unsent, connection->unsent_size);
    if (sent == SIZE_MAX) return 0;
    connection->unsent_size -= sent;
    memmove(connection->unsent, connection->unsent + sent, connection->unsent_size);
    return 1;
}

/* Edge-triggered: a level-triggered descriptor goes back to the ready list, and the next epoll_wait looks at it again.
 * Room to send is watched only for a client that does not read, else every answer it reads would be an event. */
static void watch(struct thread *thread, struct connection *connection, int operation) {
    uint32_t wanted = connection->unsent_size ? EPOLLOUT : EPOLLIN;
    struct epoll_event event = {.events = wanted | EPOLLET, .data.ptr = connection};
    if (epoll_ctl(thread->epoll, operation, connection->descriptor, &event) != 0) fail("epoll_ctl");
}

static void end_connection(struct thread *thread, struct connection *connection) {
    close(connection->descriptor);
    free(connection->kept);
    free(connection->unsent);
    free(connection);
    atomic_fetch_sub(&thread->connections, 1);
    atomic_fetch_sub(&connections_count, 1);
}

/* Reads once and answers. Returns -1 when the session is at its end, 1 when there may be more to read: less than there
 * was room for means that there is no more (epoll(7), "Questions and answers", 9). */
static int serve_once(struct thread *thread, struct connection *connection, int flags) {
    char *input = thread->input[EVENTS];
    size_t before = connection->kept_size;
    if (before) { /* the rest of a message is wanted behind its beginning */
        connection->kept = grown(connection->kept, before + RECEIVE_BYTES);
        input = connection->kept;
    }
    ssize_t count = recv(connection->descriptor, input + before, RECEIVE_BYTES, flags);
    if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (count == 0 || !answer_all(&thread->answers[EVENTS], connection, input, before + (size_t)count)) return -1;
    return count == RECEIVE_BYTES;
}

static int serve(struct thread *thread, struct connection *connection) {
    int was_blocked = connection->unsent_size > 0, more = 1;
    if (was_blocked && !send_unsent(connection)) return -1;
    while (more > 0 && !connection->unsent_size) more = serve_once(thread, connection, MSG_DONTWAIT);
    if (more >= 0 && (was_blocked || connection->unsent_size)) watch(thread, connection, EPOLL_CTL_MOD);
    return more;
}

/* The only connection there is needs no epoll_wait beside recv: 1.3 times the answers on an idle machine. Its descriptor
 * has a time limit, after which the thread sees the connections that have come since. */
static int serve_alone(struct thread *thread, struct connection *connection) {
    if (atomic_load_explicit(&connections_count, memory_order_relaxed) != 1) return 0;
    int alive = 0;
    while (alive >= 0 && !connection->unsent_size
           && atomic_load_explicit(&connections_count, memory_order_relaxed) == 1)
        alive = serve_once(thread, connection, 0);
    return alive < 0 ? alive : serve(thread, connection);
}

/* What the socket has taken of its answers is done; the rest waits in the connection. */
static int sent(struct thread *thread, struct connection *connection, struct answers *answers, int32_t result) {
    if (result < 0 && result != -EAGAIN) return -1;
    size_t count = result > 0 ? (size_t)result : 0;
    answers->size -= count;
    memmove(answers->bytes, answers->bytes + count, answers->size);
    if (!answers->size) return 0;
    if (!send_answers(answers, connection)) return -1;
    if (connection->unsent_size) watch(thread, connection, EPOLL_CTL_MOD);
    return 0;
}

/* All receive by one system call and are answered by another. Those with half a message or answers that nobody has read yet go
 * the long way. */
static void serve_together(struct thread *thread, struct epoll_event *events, int count) {
    uint32_t receiving = 0, sending = 0;
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (connection->kept_size || connection->unsent_size) {
            if (serve(thread, connection) < 0) end_connection(thread, connection);
            continue;
        }
        thread->transferring[receiving] = connection;
        thread->transfers[receiving] = (struct walpool_transfer){
            .bytes = thread->input[receiving], .count = RECEIVE_BYTES, .socket = connection->descriptor};
        receiving++;
    }
    walpool_transfer_all(&thread->ring, EVENTS, thread->transfers, receiving, (struct walpool_transfer_kind){.is_send = 0});
    for (uint32_t i = 0; i < receiving; i++) {
        struct connection *connection = thread->transferring[i];
        struct answers *answers = &thread->answers[sending];
        int32_t result = thread->transfers[i].result;
        int alive = result > 0 || result == -EAGAIN ? 0 : -1;
        if (result > 0) {
            answers->are_gathered = 1;
            if (!answer_all(answers, connection, thread->input[i], (size_t)result)) alive = -1;
            answers->are_gathered = 0;
            /* There may be more: the long way, in order. */
            if (alive == 0 && (result == RECEIVE_BYTES || connection->unsent_size))
                alive = send_answers(answers, connection) ? serve(thread, connection) : -1;
        }
        if (alive < 0) {
            answers->size = 0;
            end_connection(thread, connection);
        } else if (answers->size) {
            thread->transferring[sending] = connection;
            thread->transfers[sending] = (struct walpool_transfer){
                .bytes = answers->bytes, .count = (uint32_t)answers->size, .socket = connection->descriptor};
            sending++;
        }
    }
    walpool_transfer_all(&thread->ring, EVENTS, thread->transfers, sending, (struct walpool_transfer_kind){.is_send = 1});
    for (uint32_t i = 0; i < sending; i++)
        if (sent(thread, thread->transferring[i], &thread->answers[i], thread->transfers[i].result) < 0)
            end_connection(thread, thread->transferring[i]);
}

static void *run(void *argument) {
    struct thread *thread = argument;
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = epoll_wait(thread->epoll, events, EVENTS, -1);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        if (count > 1) {
            serve_together(thread, events, count);
        } else if (count == 1) {
            struct connection *connection = events[0].data.ptr;
            int alive = serve(thread, connection);
            if (alive >= 0) alive = serve_alone(thread, connection);
            if (alive < 0) end_connection(thread, connection);
        }
    }
    return NULL;
}

static void add_connection(int descriptor) {
    struct timeval limit = {.tv_usec = LONE_MS * 1000};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) fail("memory");
    connection->descriptor = descriptor;
    struct thread *thread = threads;
    for (int i = 1; i < threads_count; i++)
        if (threads[i].connections < thread->connections) thread = threads + i;
    atomic_fetch_add(&thread->connections, 1);
    atomic_fetch_add(&connections_count, 1);
    watch(thread, connection, EPOLL_CTL_ADD);
}

static void leave(int number) {
    (void)number;
    _exit(0);
}

static int listener(const char *directory, const char *port) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int size = snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.%s", directory, port);
    if (size >= (int)sizeof address.sun_path) errno = ENAMETOOLONG, fail(directory);
    unlink(address.sun_path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0
        || listen(descriptor, BACKLOG) != 0)
        fail(address.sun_path);
    return descriptor;
}

int main(int argc, char **argv) {
    threads_count = THREADS_PER_CORE * (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (argc == 5 && !strcmp(argv[3], "--threads")) threads_count = atoi(argv[4]);
    if ((argc != 3 && argc != 5) || threads_count < 1 || threads_count > MOST_THREADS) {
        fprintf(stderr, "usage: canned SOCKET_DIRECTORY PORT [--threads 1...%d]\n", MOST_THREADS);
        return 2;
    }
    signal(SIGTERM, leave);
    signal(SIGINT, leave);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) files.rlim_cur = files.rlim_max, setrlimit(RLIMIT_NOFILE, &files);
    threads = calloc((size_t)threads_count, sizeof *threads);
    if (!threads) fail("memory");
    for (int i = 0; i < threads_count; i++) {
        threads[i].epoll = epoll_create1(EPOLL_CLOEXEC);
        if (threads[i].epoll < 0 || pthread_create(&threads[i].thread, NULL, run, threads + i) != 0) fail("a thread");
    }
    for (int sockets = listener(argv[1], argv[2]);;) {
        int descriptor = accept4(sockets, NULL, NULL, SOCK_CLOEXEC);
        if (descriptor >= 0)
            add_connection(descriptor);
        else if (errno != EINTR && errno != ECONNABORTED)
            fail("accept");
    }
}
