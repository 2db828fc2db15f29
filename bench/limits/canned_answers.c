/* The canned server's answers: https://www.postgresql.org/docs/15/protocol-message-formats.html */
#include "canned.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { LONGEST_MESSAGE = 1 << 24 }; /* a longer one is nonsense */

enum kind { EMPTY, ROW, BEGIN, COMMIT, ROLLBACK, INSERT, UPDATE, DELETE, OTHER };

/* What is left to read of a message. Past its end everything is zero, and `short_of` says so. */
struct reader {
    const char *next, *end;
    int short_of;
};

static void put(struct answers *answers, const void *bytes, size_t size) {
    memcpy(answers->bytes + answers->size, bytes, size);
    answers->size += size;
}

#define PUT(answers, literal) put(answers, literal, sizeof literal - 1)

static void put_message(struct answers *answers, char type, const void *body, size_t size) {
    uint32_t length = htonl((uint32_t)size + 4);
    put(answers, &type, 1);
    put(answers, &length, 4);
    put(answers, body, size);
}

static void put_ready(struct answers *answers, const struct connection *connection) {
    if (connection->in_transaction)
        PUT(answers, "Z\0\0\0\5T");
    else
        PUT(answers, "Z\0\0\0\5I");
}

/* One column, "canned", an int4 (OID 23). */
static void put_description(struct answers *answers, int kind, int binary) {
    if (kind != ROW)
        PUT(answers, "n\0\0\0\4");
    else if (binary)
        PUT(answers, "T\0\0\0\37\0\1canned\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\1");
    else
        PUT(answers, "T\0\0\0\37\0\1canned\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0");
}

static void put_result(struct answers *answers, struct connection *connection, int kind, int binary) {
    switch (kind) {
    case ROW:
        if (binary)
            PUT(answers, "D\0\0\0\16\0\1\0\0\0\4\0\0\0\52" "C\0\0\0\15SELECT 1\0");
        else
            PUT(answers, "D\0\0\0\14\0\1\0\0\0\2" "42" "C\0\0\0\15SELECT 1\0");
        break;
    case BEGIN:
        connection->in_transaction = 1;
        PUT(answers, "C\0\0\0\12BEGIN\0");
        break;
    case COMMIT:
        connection->in_transaction = 0;
        PUT(answers, "C\0\0\0\13COMMIT\0");
        break;
    case ROLLBACK:
        connection->in_transaction = 0;
        PUT(answers, "C\0\0\0\15ROLLBACK\0");
        break;
    case INSERT: PUT(answers, "C\0\0\0\17INSERT 0 1\0"); break;
    case UPDATE: PUT(answers, "C\0\0\0\15UPDATE 1\0"); break;
    case DELETE: PUT(answers, "C\0\0\0\15DELETE 1\0"); break;
    case EMPTY: PUT(answers, "I\0\0\0\4"); break;
    default: PUT(answers, "C\0\0\0\10SET\0"); break;
    }
}

/* There is only one kind of error: a message that makes no sense, and it ends the session. */
static int refuse(struct answers *answers, const char *text) {
    char body[128];
    int size = snprintf(body, sizeof body, "SFATAL%cVFATAL%cC08P01%cM%s%c", 0, 0, 0, text, 0);
    put_message(answers, 'E', body, (size_t)size + 1);
    return 0;
}

/* Statements */

static int kind_of(const char *sql, const char *end) {
    static const struct {
        const char *word;
        enum kind kind;
    } words[] = {{"select", ROW},   {"with", ROW},      {"values", ROW},    {"show", ROW},          {"table", ROW},
                 {"pragma", ROW},   {"insert", INSERT}, {"update", UPDATE}, {"delete", DELETE},     {"begin", BEGIN},
                 {"start", BEGIN},  {"end", COMMIT},    {"commit", COMMIT}, {"rollback", ROLLBACK},
                 {"abort", ROLLBACK}};
    while (sql < end && memchr(" \t\r\n", *sql, 4)) sql++;
    if (sql == end) return EMPTY;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i].word);
        if ((size_t)(end - sql) >= size && !strncasecmp(sql, words[i].word, size)) return words[i].kind;
    }
    return OTHER;
}

static unsigned char parameters_of(const char *sql) {
    int highest = 0;
    while ((sql = strchr(sql, '$')))
        if (atoi(++sql) > highest) highest = atoi(sql);
    return highest < 255 ? (unsigned char)highest : 255;
}

static uint64_t hash_of(const char *name) { /* FNV-1a */
    uint64_t hash = 0xcbf29ce484222325;
    while (*name) hash = (hash ^ (unsigned char)*name++) * 0x100000001b3;
    return hash;
}

static struct statement *statement_named(struct connection *connection, const char *name) {
    uint64_t hash = hash_of(name);
    for (int i = 0; i < connection->statements_count; i++)
        if (connection->statements[i].name == hash) return connection->statements + i;
    return NULL;
}

/* Reading */

static const char *text(struct reader *reader) {
    const char *begin = reader->next, *end = memchr(begin, 0, (size_t)(reader->end - begin));
    if (!end) return reader->short_of = 1, "";
    reader->next = end + 1;
    return begin;
}

static int skip(struct reader *reader, int size) {
    if (size > reader->end - reader->next) return reader->short_of = 1, 0;
    if (size > 0) reader->next += size;
    return 1;
}

static int integer(struct reader *reader, int size) {
    unsigned value = 0;
    if (!skip(reader, size)) return 0;
    for (int i = size; i > 0; i--) value = value << 8 | (unsigned char)reader->next[-i];
    return (int)value;
}

/* Messages; 0 ends the session. */

static int parse(struct answers *answers, struct connection *connection, struct reader *reader) {
    const char *name = text(reader), *sql = text(reader);
    struct statement *statement = statement_named(connection, name);
    if (!statement) {
        if (connection->statements_count == STATEMENTS) return refuse(answers, "64 prepared statements are the limit");
        statement = connection->statements + connection->statements_count++;
    }
    *statement = (struct statement){hash_of(name), kind_of(sql, sql + strlen(sql)), parameters_of(sql)};
    PUT(answers, "1\0\0\0\4");
    return 1;
}

static int bind_portal(struct answers *answers, struct connection *connection, struct reader *reader) {
    text(reader); /* the portal's name */
    struct statement *statement = statement_named(connection, text(reader));
    if (!statement) return refuse(answers, "Bind names a statement that was not prepared");
    skip(reader, 2 * integer(reader, 2));
    for (int count = integer(reader, 2); count > 0 && !reader->short_of; count--) skip(reader, integer(reader, 4));
    int formats = integer(reader, 2);
    connection->kind = statement->kind;
    connection->binary = formats > 0 && integer(reader, 2) == 1;
    PUT(answers, "2\0\0\0\4");
    return 1;
}

static int describe(struct answers *answers, struct connection *connection, struct reader *reader) {
    if (integer(reader, 1) == 'P') return put_description(answers, connection->kind, connection->binary), 1;
    struct statement *statement = statement_named(connection, text(reader));
    if (!statement) return refuse(answers, "Describe names a statement that was not prepared");
    char body[2 + 4 * 255] = {0, (char)statement->parameters};
    for (int i = 0; i < statement->parameters; i++) body[2 + 4 * i + 3] = 23; /* int4 */
    put_message(answers, 't', body, 2 + 4 * (size_t)statement->parameters);
    put_description(answers, statement->kind, 0);
    return 1;
}

static int close_statement(struct answers *answers, struct connection *connection, struct reader *reader) {
    int is_statement = integer(reader, 1) == 'S';
    struct statement *statement = statement_named(connection, text(reader));
    if (is_statement && statement) *statement = connection->statements[--connection->statements_count];
    PUT(answers, "3\0\0\0\4");
    return 1;
}

/* pgbench -S, before it begins, looks for partitions of its table and wants three columns: its place in the search path,
 * the method of partitioning (null) and the number of partitions (0). */
static void put_partitions(struct answers *answers) {
    PUT(answers, "T\0\0\0\116\0\3n\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0"
                 "partstrat\0\0\0\0\0\0\0\0\0\0\31\377\377\377\377\377\377\0\0"
                 "count\0\0\0\0\0\0\0\0\0\0\27\0\4\377\377\377\377\0\0");
    PUT(answers, "D\0\0\0\24\0\3\0\0\0\1" "1\377\377\377\377\0\0\0\1" "0C\0\0\0\15SELECT 1\0");
}

/* Statements end at semicolons outside of quotation marks: that is as much SQL as this knows. */
static int query(struct answers *answers, struct connection *connection, struct reader *reader) {
    int any = 0;
    for (const char *sql = text(reader), *end; *sql; sql = end + (*end == ';')) {
        int quoted = 0;
        for (end = sql; *end && (quoted || *end != ';'); end++) quoted ^= *end == '\'';
        int kind = kind_of(sql, end);
        if (kind == EMPTY) continue;
        any = 1;
        if (kind == ROW && strstr(sql, "partstrat")) {
            put_partitions(answers);
            continue;
        }
        if (kind == ROW) put_description(answers, ROW, 0);
        put_result(answers, connection, kind, 0);
        if (answers->size > ANSWER_BYTES && !send_answers(answers, connection)) return 0;
    }
    if (!any) put_result(answers, connection, EMPTY, 0);
    put_ready(answers, connection);
    return 1;
}

static int start(struct answers *answers, struct connection *connection, struct reader *reader) {
    int code = integer(reader, 4);
    if (code == 80877103 || code == 80877104) return PUT(answers, "N"), 1; /* neither TLS nor GSSAPI */
    if (code >> 16 != 3) return 0; /* a cancel request, for which there is nothing to do, or nonsense */
    connection->started = 1;
    PUT(answers, "R\0\0\0\10\0\0\0\0");
    static const char *const parameters[][2] = {
        {"server_version", "15.0"},    {"server_encoding", "UTF8"}, {"client_encoding", "UTF8"},
        {"DateStyle", "ISO, MDY"},     {"TimeZone", "UTC"},         {"integer_datetimes", "on"},
        {"IntervalStyle", "postgres"}, {"is_superuser", "off"},     {"standard_conforming_strings", "on"},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        char body[128];
        int size = snprintf(body, sizeof body, "%s%c%s", parameters[i][0], 0, parameters[i][1]);
        put_message(answers, 'S', body, (size_t)size + 1);
    }
    uint32_t key[2] = {htonl((uint32_t)getpid()), htonl((uint32_t)connection->descriptor)};
    put_message(answers, 'K', key, sizeof key);
    put_ready(answers, connection);
    return 1;
}

static int answer(struct answers *answers, struct connection *connection, char type, struct reader *reader) {
    switch (type) {
    case 'B': return bind_portal(answers, connection, reader);
    case 'E': return put_result(answers, connection, connection->kind, connection->binary), 1;
    case 'S': return put_ready(answers, connection), 1;
    case 'D': return describe(answers, connection, reader);
    case 'P': return parse(answers, connection, reader);
    case 'C': return close_statement(answers, connection, reader);
    case 'Q': return query(answers, connection, reader);
    case 'H': return 1; /* Flush: answers are sent when all that came has one */
    case 'X': return 0;
    default: return refuse(answers, "there is no canned answer to a message of this type");
    }
}

int answer_all(struct answers *answers, struct connection *connection, const char *input, size_t size) {
    const char *next = input, *end = input + size;
    for (int alive = 1; alive;) {
        size_t header = connection->started ? 5 : 4; /* the startup messages have no type */
        if ((size_t)(end - next) < header) break;
        uint32_t length;
        memcpy(&length, next + header - 4, 4);
        length = ntohl(length);
        if (length < 4 || length > LONGEST_MESSAGE) return 0;
        const char *after = next + header - 4 + length;
        if (after > end) break;
        struct reader reader = {.next = next + header, .end = after};
        alive = connection->started ? answer(answers, connection, *next, &reader) : start(answers, connection, &reader);
        if (alive && reader.short_of) alive = refuse(answers, "a message that ends too early");
        next = after;
        if (!alive) return send_answers(answers, connection), 0;
        if (answers->size > ANSWER_BYTES && !send_answers(answers, connection)) return 0;
    }
    size_t rest = (size_t)(end - next);
    if (rest && !connection->kept) connection->kept = grown(NULL, rest);
    if (rest) memmove(connection->kept, next, rest);
    if (!rest) free(connection->kept), connection->kept = NULL;
    connection->kept_size = rest;
    return answers->are_gathered || send_answers(answers, connection);
}
