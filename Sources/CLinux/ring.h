/* Bytes for or from several sockets by one system call: io_uring_enter(2).

   Each transfer is one that never waits, so it is over when the call returns, and no buffer is lent to the kernel for
   longer than that. Where there is no io_uring (before Linux 6.1; switched off by kernel.io_uring_disabled; kept away by
   a container's filter) each transfer is a system call of its own, with the same results. */
#pragma once
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

/* All zeros: none. It belongs to the thread that opened it. */
struct walpool_ring {
    int32_t is_open, descriptor;
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

static inline void walpool_transfer_one(struct walpool_transfer *transfer, int is_send) {
    ssize_t count;
    do {
        count = is_send ? send(transfer->socket, transfer->bytes, transfer->count, MSG_DONTWAIT | MSG_NOSIGNAL)
                        : recv(transfer->socket, transfer->bytes, transfer->count, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    transfer->result = count < 0 ? -errno : (int32_t)count;
}

static inline void walpool_ring_submit(
    struct walpool_ring *ring, const struct walpool_transfer *transfers, uint32_t count, int is_send
) {
    struct io_uring_sqe *entries = (struct io_uring_sqe *)ring->entries;
    for (uint32_t index = 0; index < count; index++, ring->next++)
        entries[ring->next & ring->mask] = (struct io_uring_sqe){
            .opcode = is_send ? IORING_OP_SEND : IORING_OP_RECV,
            .fd = transfers[index].socket,
            .addr = (uint64_t)(uintptr_t)transfers[index].bytes,
            .len = transfers[index].count,
            .msg_flags = is_send ? MSG_DONTWAIT | MSG_NOSIGNAL : MSG_DONTWAIT,
            .user_data = index,
        };
    __atomic_store_n(ring->end, ring->next, __ATOMIC_RELEASE);
}

/* Returns how many. */
static inline uint32_t walpool_ring_take_completions(struct walpool_ring *ring, struct walpool_transfer *transfers) {
    uint32_t seen = *ring->seen, taken = 0;
    for (; seen != __atomic_load_n(ring->completed, __ATOMIC_ACQUIRE); seen++, taken++) {
        const struct io_uring_cqe *completion = &ring->completions[seen & ring->completed_mask];
        transfers[completion->user_data].result = completion->res;
    }
    __atomic_store_n(ring->seen, seen, __ATOMIC_RELEASE);
    return taken;
}

/* Whatever of these the ring does not do has no result afterwards. */
static inline void walpool_ring_transfer(
    struct walpool_ring *ring, struct walpool_transfer *transfers, uint32_t count, int is_send
) {
    walpool_ring_submit(ring, transfers, count, is_send);
    uint32_t left = count;
    int is_failing = 0;
    while (left > 0) {
        uint32_t untaken = ring->next - __atomic_load_n(ring->taken, __ATOMIC_ACQUIRE);
        uint32_t submitted = is_failing ? 0 : untaken, lent = is_failing ? left - untaken : left;
        if (lent == 0) break;
        long taken = syscall(SYS_io_uring_enter, ring->descriptor, submitted, lent, IORING_ENTER_GETEVENTS, 0, 0);
        int error = taken < 0 ? errno : 0;
        left -= walpool_ring_take_completions(ring, transfers);
        if (!error || error == EINTR) continue;
        /* There is no memory for a request. What the kernel has taken has our buffers, so it is waited for; a kernel that
           refuses even that is not one to go on with. */
        if (is_failing) abort();
        is_failing = 1;
    }
    /* What it has not taken it shall not find here later. */
    if (is_failing) walpool_ring_close(ring);
}

/* All of them, at most as many as the ring's capacity; each has its result then. One alone is quicker without the ring. */
static inline void walpool_transfer_all(
    struct walpool_ring *ring, struct walpool_transfer *transfers, uint32_t count, int is_send
) {
    for (uint32_t index = 0; index < count; index++) transfers[index].result = WALPOOL_NO_RESULT;
    if (ring->is_open && count > 1) walpool_ring_transfer(ring, transfers, count, is_send);
    for (uint32_t index = 0; index < count; index++)
        if (transfers[index].result == WALPOOL_NO_RESULT || transfers[index].result == -EINTR)
            walpool_transfer_one(&transfers[index], is_send);
}
