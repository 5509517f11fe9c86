/* The protocol between a launched application and its launcher over Spark's launcher socket: four small messages, as
 * objects of Java's serialization.
 *
 * The application sends Hello (its secret and version), SetAppId and SetState. The launcher sends Stop. All messages
 * in one direction are one object stream: an object described once (a class, a state) is referred to by number
 * afterwards. So each connection has one writer and one reader. The writer emits exactly Java's bytes. They, and the
 * classes' serialVersionUIDs, are the same in Spark 2.3, 2.4, 3.5 and 4.3.
 *
 * The reader knows only these four classes, their parent and the enumeration of states: any other class, field, type,
 * reference or length ends the connection. It creates no objects from untrusted descriptions.
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

/* "RUNNING"; "UNKNOWN" for an invalid number. */
const char *launcher_state_name(enum launcher_state state);

/* Returns true for final states: FINISHED, FAILED, KILLED, LOST. */
bool launcher_state_is_final(enum launcher_state state);

enum launcher_message_kind { LAUNCHER_HELLO, LAUNCHER_SET_APP_ID, LAUNCHER_SET_STATE, LAUNCHER_STOP };

struct launcher_message {
        enum launcher_message_kind kind;
        char *text;    /* HELLO: the secret; SET_APP_ID: the id; UTF-8, NULL for Java's null */
        char *version; /* HELLO */
        enum launcher_state state;
};

void launcher_message_deinit(struct launcher_message *m);

/* Largest message in bytes; also the most that the reader buffers. */
#define MAX_LAUNCHER_MESSAGE 8192

/* Most numbered objects in a stream: some 2,000 messages. A longer stream ends with -EMSGSIZE. */
#define MAX_LAUNCHER_HANDLES 4096

struct launcher_writer {
        bool started;
        uint32_t next;                            /* the number of the next object */
        uint32_t classes[8], types[2], states[8]; /* number + 1 of each described one; 0: not described yet */
};

#define LAUNCHER_WRITER_INIT ((struct launcher_writer){0})

/* Appends @m to @out. Returns 0; or -EILSEQ for a string that is not UTF-8 or -EMSGSIZE for one that is too long,
 * with @error and nothing appended.
 */
int launcher_writer_put(struct launcher_writer *w, const struct launcher_message *m, struct buf *out,
                        struct fst_error *error);

struct launcher_known; /* numbered objects */

struct launcher_reader {
        struct buf in; /* unread bytes */
        bool started;
        VEC(struct launcher_known) known;
};

#define LAUNCHER_READER_INIT ((struct launcher_reader){0})
void launcher_reader_deinit(struct launcher_reader *r);

/* Adds received bytes: at most MAX_LAUNCHER_MESSAGE at a time, calling launcher_reader_next after each until it
 * returns 0.
 */
void launcher_reader_feed(struct launcher_reader *r, const void *data, size_t n);

/* Reads the next message. Returns 1 and *@m, which the caller releases; 0 if it is incomplete; -EBADMSG or -EMSGSIZE
 * with @error for an invalid stream, which cannot be read any further.
 */
int launcher_reader_next(struct launcher_reader *r, struct launcher_message *m, struct fst_error *error);
