/*
 * What a launched application and its launcher say to each other over Spark's launcher socket: four small messages,
 * as objects of Java's serialization.
 *
 * The application says Hello (the secret it was given, its version), SetAppId and SetState; the launcher says Stop. All
 * of a connection's messages, in each direction, are one object stream: what was described once (a class, a state) is
 * referred to by number afterwards. So there is one writer and one reader for each connection. Written are the very
 * bytes that Java writes; they, and the classes' serialVersionUIDs, are the same in Spark 2.3, 2.4, 3.5 and 4.3.
 *
 * The reader knows these four classes, their parent and the enumeration of states, and nothing else: any other class,
 * field, type, reference or length ends the connection. No object is made of what a stranger describes.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

/* SparkAppHandle.State, in its order. */
enum launcher_state {
        LAUNCHER_UNKNOWN,
        LAUNCHER_CONNECTED,
        LAUNCHER_SUBMITTED,
        LAUNCHER_RUNNING,
        LAUNCHER_FINISHED,
        LAUNCHER_FAILED,
        LAUNCHER_KILLED,
        LAUNCHER_LOST,
        LAUNCHER_STATES
};

/* "RUNNING"; "UNKNOWN" for a number that is none. */
const char *launcher_state_name(enum launcher_state state);

/* Whether no other state follows: FINISHED, FAILED, KILLED, LOST. */
bool launcher_state_is_final(enum launcher_state state);

enum launcher_message_kind { LAUNCHER_HELLO, LAUNCHER_SET_APP_ID, LAUNCHER_SET_STATE, LAUNCHER_STOP };

struct launcher_message {
        enum launcher_message_kind kind;
        char *text;    /* HELLO: the secret; SET_APP_ID: the id; UTF-8, NULL for Java's null */
        char *version; /* HELLO */
        enum launcher_state state;
};

void launcher_message_deinit(struct launcher_message *m);

/* Bytes of one message at most; so much the reader keeps of one that is not complete. */
#define MAX_LAUNCHER_MESSAGE 8192

/* What a stream refers to by number at most: some 2,000 messages. A longer one ends with -EMSGSIZE. */
#define MAX_LAUNCHER_HANDLES 4096

struct launcher_writer {
        bool started;
        uint32_t next;                            /* the number of what is described next */
        uint32_t classes[8], types[2], states[8]; /* number + 1 of what was described; 0: it was not yet */
};

#define LAUNCHER_WRITER_INIT ((struct launcher_writer){0})

/*
 * Append @m to @out. 0; -EILSEQ for text that is not UTF-8 or -EMSGSIZE for one that is too long, with @error, and
 * nothing appended.
 */
int launcher_writer_put(struct launcher_writer *w, const struct launcher_message *m, struct buf *out,
                        struct fst_error *error);

struct launcher_known; /* what has a number */

struct launcher_reader {
        struct buf in; /* what was not read yet */
        bool started;
        VEC(struct launcher_known) known;
};

#define LAUNCHER_READER_INIT ((struct launcher_reader){0})
void launcher_reader_deinit(struct launcher_reader *r);

/* Bytes have come: at most MAX_LAUNCHER_MESSAGE at a time, and launcher_reader_next after each until it answers 0. */
void launcher_reader_feed(struct launcher_reader *r, const void *data, size_t n);

/*
 * The next message: 1, and *@m is the caller's to deinit; 0 if it is not complete; -EBADMSG or -EMSGSIZE with @error
 * for a stream that is not one of these messages, of which nothing more can be read.
 */
int launcher_reader_next(struct launcher_reader *r, struct launcher_message *m, struct fst_error *error);
