/* What a session of the canned server is, for its two halves: canned.c moves bytes, canned_answers.c knows messages. */
#include <stddef.h>
#include <stdint.h>

enum {
    RECEIVE_BYTES = 1 << 16,
    ANSWER_BYTES = 1 << 16, /* gathered before they are sent: the pipelines of benchmarks fit */
    LONGEST_ANSWER = 2048,  /* of one statement; a ParameterDescription of 255 types is 1,027 bytes long */
    STATEMENTS = 64,        /* a session may have prepared at a time */
};

struct statement {
    uint64_t name; /* its hash: two of 64 names that have the same one are not to be feared */
    unsigned char kind, parameters;
};

struct connection {
    int descriptor, started, in_transaction;
    int kind, binary;    /* the portal: what was bound last, and the format of its result */
    char *kept, *unsent; /* the beginning of a message; answers for which the socket has no room */
    size_t kept_size, unsent_size;
    int statements_count;
    struct statement statements[STATEMENTS];
};

/* Answers that were not sent yet. */
struct answers {
    size_t size;
    int are_gathered; /* the last of them leave with those of other connections */
    char bytes[ANSWER_BYTES + LONGEST_ANSWER];
};

void *grown(void *memory, size_t size);

/* Sends what the socket has room for and lets the connection keep the rest; 0 when the client is gone. */
int send_answers(struct answers *answers, struct connection *connection);

/* Answers every whole message and keeps the beginning of the next; 0 when the session is at its end. */
int answer_all(struct answers *answers, struct connection *connection, const char *input, size_t size);
