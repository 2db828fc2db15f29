/* Bytes for or from several sockets by one system call: io_uring_enter(2).

   Each transfer is one that never waits, so it is over when the call returns, and no buffer is lent to the kernel for
   longer than that. Where there is no io_uring (before Linux 6.1; switched off by kernel.io_uring_disabled; kept away by
   a container's filter) each transfer is a system call of its own, with the same results. */
#pragma once
#include "received.h"
#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct walpool_transfer {
    void *bytes;
    uint32_t count;
    int32_t socket;
    /* How many bytes; 0 at the end of what the other side sends; or an errno, negative. */
    int32_t result;
};

/* What is done with all transfers of one call. */
struct walpool_transfer_kind {
    int32_t is_send;
    /* One for each transfer, where what is received may have descriptors beside it; otherwise 0. */
    struct walpool_message *messages;
};

/* All zeros: not opened yet. It belongs to the thread that opened it. */
struct walpool_ring {
    int32_t is_open, descriptor;
    /* The kernel has refused or failed it: it is not opened again, or it would be asked for with each call. */
    int32_t is_refused;
    void *rings, *entries;
    size_t rings_size, entries_size;
    /* Of the submission queue, and its end as it is here. */
    uint32_t *taken, *end, mask, next;
    /* Of the completion queue. */
    uint32_t *completed, *seen, completed_mask;
    struct io_uring_cqe *completions;
};

enum { WALPOOL_NO_RESULT = INT32_MIN };

static inline void walpool_ring_close(struct walpool_ring *ring) {
    if (!ring->is_open) return;
    munmap(ring->entries, ring->entries_size);
    munmap(ring->rings, ring->rings_size);
    close(ring->descriptor);
    memset(ring, 0, sizeof *ring);
}

/* By the thread that will use it; `capacity` is a power of two. 0, or -1 where there is none. Everything is as io_uring(7) and
   io_uring_setup(2) have it. The flags (since 6.1) say that one thread uses it and only then wants to be bothered: "improves
   batching". They are what is asked of a kernel here, because those before it are not tried. */
static inline int walpool_ring_open(struct walpool_ring *ring, uint32_t capacity) {
    struct io_uring_params given = {.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN};
    memset(ring, 0, sizeof *ring);
    ring->descriptor = (int32_t)syscall(SYS_io_uring_setup, capacity, &given);
    if (ring->descriptor < 0) return -1;
    size_t submissions = given.sq_off.array + given.sq_entries * sizeof(uint32_t);
    size_t completions = given.cq_off.cqes + given.cq_entries * sizeof(struct io_uring_cqe);
    ring->rings_size = submissions > completions ? submissions : completions;
    ring->entries_size = given.sq_entries * sizeof(struct io_uring_sqe);
    int protection = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    ring->rings = MAP_FAILED;
    if (given.features & IORING_FEAT_SINGLE_MMAP)
        ring->rings = mmap(0, ring->rings_size, protection, flags, ring->descriptor, IORING_OFF_SQ_RING);
    ring->entries = mmap(0, ring->entries_size, protection, flags, ring->descriptor, IORING_OFF_SQES);
    if (ring->rings == MAP_FAILED || ring->entries == MAP_FAILED) {
        if (ring->rings != MAP_FAILED) munmap(ring->rings, ring->rings_size);
        if (ring->entries != MAP_FAILED) munmap(ring->entries, ring->entries_size);
        close(ring->descriptor);
        memset(ring, 0, sizeof *ring);
        return -1;
    }
    char *rings = (char *)ring->rings;
    ring->taken = (uint32_t *)(rings + given.sq_off.head);
    ring->end = (uint32_t *)(rings + given.sq_off.tail);
    ring->mask = *(uint32_t *)(rings + given.sq_off.ring_mask);
    ring->completed = (uint32_t *)(rings + given.cq_off.tail);
    ring->seen = (uint32_t *)(rings + given.cq_off.head);
    ring->completed_mask = *(uint32_t *)(rings + given.cq_off.ring_mask);
    ring->completions = (struct io_uring_cqe *)(rings + given.cq_off.cqes);
    uint32_t *order = (uint32_t *)(rings + given.sq_off.array);
    for (uint32_t index = 0; index < given.sq_entries; index++) order[index] = index;
    ring->is_open = 1;
    return 0;
}

static inline ssize_t walpool_transfer_now(
    const struct walpool_transfer *transfer, struct walpool_message *message, int is_send
) {
    ssize_t count;
    if (is_send) count = send(transfer->socket, transfer->bytes, transfer->count, MSG_DONTWAIT | MSG_NOSIGNAL);
    else if (message) return walpool_receive_message(message, transfer->socket, transfer->bytes, transfer->count);
    else count = recv(transfer->socket, transfer->bytes, transfer->count, MSG_DONTWAIT);
    return count < 0 ? -errno : count;
}

static inline void walpool_transfer_one(struct walpool_transfer *transfer, struct walpool_message *message, int is_send) {
    do transfer->result = (int32_t)walpool_transfer_now(transfer, message, is_send);
    while (transfer->result == -EINTR);
}

static inline struct io_uring_sqe walpool_ring_entry(
    const struct walpool_transfer *transfer, struct walpool_message *message, int is_send
) {
    struct io_uring_sqe entry = {
        .opcode = is_send ? IORING_OP_SEND : IORING_OP_RECV,
        .fd = transfer->socket,
        .addr = (uint64_t)(uintptr_t)transfer->bytes,
        .len = transfer->count,
        .msg_flags = is_send ? MSG_DONTWAIT | MSG_NOSIGNAL : MSG_DONTWAIT,
    };
    if (!message) return entry;
    walpool_message_prepare(message, transfer->bytes, transfer->count);
    entry.opcode = IORING_OP_RECVMSG;
    entry.addr = (uint64_t)(uintptr_t)&message->header;
    entry.len = 1;
    return entry;
}

static inline void walpool_ring_submit(
    struct walpool_ring *ring, const struct walpool_transfer *transfers, uint32_t count, struct walpool_transfer_kind kind
) {
    struct io_uring_sqe *entries = (struct io_uring_sqe *)ring->entries;
    for (uint32_t index = 0; index < count; index++, ring->next++) {
        struct walpool_message *message = kind.messages ? &kind.messages[index] : 0;
        struct io_uring_sqe *entry = &entries[ring->next & ring->mask];
        *entry = walpool_ring_entry(&transfers[index], message, kind.is_send);
        entry->user_data = index;
    }
    __atomic_store_n(ring->end, ring->next, __ATOMIC_RELEASE);
}

/* Returns how many. */
static inline uint32_t walpool_ring_take_completions(
    struct walpool_ring *ring, struct walpool_transfer *transfers, struct walpool_message *messages
) {
    uint32_t seen = *ring->seen, taken = 0;
    for (; seen != __atomic_load_n(ring->completed, __ATOMIC_ACQUIRE); seen++, taken++) {
        const struct io_uring_cqe *completion = &ring->completions[seen & ring->completed_mask];
        uint64_t index = completion->user_data;
        transfers[index].result =
            messages ? (int32_t)walpool_message_result(&messages[index], completion->res) : completion->res;
    }
    __atomic_store_n(ring->seen, seen, __ATOMIC_RELEASE);
    return taken;
}

/* Whatever of these the ring does not do has no result afterwards. */
static inline void walpool_ring_transfer(
    struct walpool_ring *ring, struct walpool_transfer *transfers, uint32_t count, struct walpool_transfer_kind kind
) {
    walpool_ring_submit(ring, transfers, count, kind);
    uint32_t left = count;
    int is_failing = 0;
    while (left > 0) {
        uint32_t untaken = ring->next - __atomic_load_n(ring->taken, __ATOMIC_ACQUIRE);
        uint32_t submitted = is_failing ? 0 : untaken, lent = is_failing ? left - untaken : left;
        if (lent == 0) break;
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, submitted, lent, IORING_ENTER_GETEVENTS, 0, 0);
        int error = taken < 0 ? errno : 0;
        left -= walpool_ring_take_completions(ring, transfers, kind.messages);
        if (!error || error == EINTR) continue;
        /* There is no memory for a request. What the kernel has taken has our buffers, so it is waited for; a kernel that
           refuses even that is not one to go on with. */
        if (is_failing) abort();
        is_failing = 1;
    }
    /* What it has not taken it shall not find here later. */
    if (is_failing) walpool_ring_close(ring);
}

/* All of them, at most `capacity`, which is the ring's own and a power of two; each has its result then. One alone is quicker without
   the ring, which is opened for the first that are more: by the thread that uses it. */
static inline void walpool_transfer_all(
    struct walpool_ring *ring, uint32_t capacity, struct walpool_transfer *transfers, uint32_t count,
    struct walpool_transfer_kind kind
) {
    for (uint32_t index = 0; index < count; index++) transfers[index].result = WALPOOL_NO_RESULT;
    if (count > 1 && !ring->is_open && !ring->is_refused) ring->is_refused = walpool_ring_open(ring, capacity) != 0;
    if (count > 1 && ring->is_open) {
        walpool_ring_transfer(ring, transfers, count, kind);
        ring->is_refused = !ring->is_open;
    }
    for (uint32_t index = 0; index < count; index++)
        if (transfers[index].result == WALPOOL_NO_RESULT || transfers[index].result == -EINTR)
            walpool_transfer_one(&transfers[index], kind.messages ? &kind.messages[index] : 0, kind.is_send);
}
