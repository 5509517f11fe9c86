/*
 * What an executor and a worker process say to each other: packets on a SOCK_SEQPACKET socket.
 *
 * Both are forked copies of one program, so that structs are the messages; but user code may have damaged the worker,
 * so what comes from there is checked before it is used (worker_packet_next, and whoever reads the fields).
 *
 * A packet is a struct worker_packet and its body. Up to WORKER_INLINE bytes of body follow in the packet itself, more
 * are in a sealed memfd whose descriptor comes with it. A crash report is the one packet that has no header: the text
 * that the crash handler writes begins with WORKER_CRASH.
 */
#pragma once

#include "base/buf.h"
#include "exec/slot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define WORKER_MAGIC 0x57535446u
#define WORKER_INLINE ((size_t)32 << 10)
#define WORKER_CRASH "ERROR Executor: "
#define WORKER_BODY_MAX ((uint64_t)4 << 30)

enum worker_packet_kind {
        /* to the worker */
        WORKER_SETTINGS = 1, /* struct worker_settings, texts; the descriptor of the shared page */
        WORKER_MODULE,       /* a path */
        WORKER_STAGE,        /* the stage in its encoded form */
        WORKER_RUN,          /* struct worker_run: tasks of the stage that came last */
        WORKER_VERDICT,      /* int32_t: whether a commit is allowed */
        WORKER_ANSWER,       /* struct worker_answer and a text or bytes: to WORKER_ASK */
        /* from it */
        WORKER_REFUSED,  /* int32_t status and a sentence: a module or stage could not be used */
        WORKER_OUTCOMES, /* struct worker_outcome and its texts, one after another */
        WORKER_OUTPUT,   /* one outcome, whose last text is a map output's index; its descriptor comes with it */
        WORKER_ASK,      /* struct worker_ask and a text (exec/isolation/task_process_requests.h) */
        WORKER_COMMIT,   /* struct worker_commit */
};

struct worker_packet {
        uint32_t magic;
        uint32_t kind;
        uint64_t len; /* of the body */
        uint32_t in_memfd;
        uint32_t descriptors; /* beside that of the body */
};

/*
 * Followed by @secret bytes, of which the key of local files is made, and by texts, each ended by 0: the application's
 * id; roots for files, separated by commas; "1" if commits must be asked for, or ""; then @pairs keys and values of the
 * configuration.
 */
struct worker_settings {
        int64_t heap;       /* as exec_env_init takes it */
        int64_t data_limit; /* RLIMIT_DATA beyond what there is */
        uint64_t seed;
        uint32_t index; /* of the slot */
        uint32_t pairs;
        uint32_t secret;
        uint32_t unused;
};

/* Followed by struct worker_task[], and by the text of a struct task_resources. */
struct worker_run {
        uint32_t tasks, unused;
};

struct worker_task {
        struct fst_task_info info;
        int32_t index, output;
};

struct worker_outcome {
        uint32_t at; /* which task of the run */
        int32_t state, status;
        int32_t fetch_shuffle, fetch_map, fetch_executor;
        int64_t start_ms, finish_ms, run_ns;
        int64_t number;       /* of the result */
        uint64_t bytes;       /* likewise */
        uint64_t message;     /* length of the text that follows; without its 0 */
        uint64_t accumulated; /* length of what the task added to accumulators, encoded, which follows that */
        uint64_t encoded;     /* length of the encoded result, or of a map output's index, which follows that */
        struct task_counters counters;
};

struct worker_commit {
        int32_t stage, stage_attempt, partition;
        int64_t task_id;
};

enum worker_ask_kind {
        WORKER_ASK_OPEN = 1,  /* a shuffle's partition: its handle */
        WORKER_ASK_NEXT,      /* the next pages of a handle */
        WORKER_ASK_CLOSE,     /* a handle: no answer */
        WORKER_ASK_BROADCAST, /* a value */
        WORKER_ASK_FILE,      /* the path of the file whose name follows */
        WORKER_ASK_SLICE,     /* rows of parallelize */
        WORKER_ASK_BLOCK,     /* a partition of a persisted RDD: its handle, -1 if nobody has it */
        WORKER_ASK_KEEP,      /* to keep such a partition, of which a page's frame follows; nothing: that was all */
        WORKER_ASK_BARRIER,   /* to meet the other tasks of a barrier stage: the question follows */
};

struct worker_ask {
        int32_t what;
        int32_t shuffle, partition; /* WORKER_ASK_OPEN; _SLICE, _BLOCK, _KEEP: the RDD's id, and which partition */
        int32_t handle;
        int64_t id; /* of a broadcast variable, and its size */
        uint64_t size;
        fst_type type; /* of the shuffle's rows */
};

/* Followed by what was asked for; by a sentence if status is not 0; by a page that is too large for shared memory. */
struct worker_answer {
        int32_t status;
        int32_t fetch_failed, fetch_shuffle, fetch_map, fetch_executor;
        int32_t handle;
        uint32_t pages;               /* in shared memory, each a struct page and its data, aligned to 16 */
        int32_t end;                  /* there are no more after these */
        struct task_counters counted; /* what reading has added since the last answer */
};

#define WORKER_PAGES ((size_t)768 << 10)

/* Memory that both see. */
struct worker_shared {
        int stopped[SLOT_RUN];      /* by the executor: 1 tells the task of the run to end. Atomic */
        int32_t running;            /* by the worker: which task of the run it is at; -1: none. Atomic */
        int64_t began_ns;           /* by the worker: when it began that (CLOCK_MONOTONIC). Atomic */
        const char *const *watched; /* where in the worker's memory the name of the function at hand is found */
        /* By the executor, before an answer to WORKER_ASK_NEXT; read by the worker until it asks again. */
        unsigned char pages[WORKER_PAGES] __attribute__((aligned(16)));
};

/* A packet that was received. */
struct worker_received {
        uint32_t kind; /* 0: a crash report, whose text is the body */
        const unsigned char *body;
        size_t len;
        int fd; /* that came beside the body, or -1; the receiver's to close: worker_received_done does */
        void *mapped;
        size_t mapped_len;
        unsigned char storage[sizeof(struct worker_packet) + WORKER_INLINE];
};

/*
 * Send a packet with @fd (-1: none) beside it; blocks. 0, -EPIPE and other negatives when the other end is gone, or
 * what making a memfd answered.
 */
int worker_send(int socket, enum worker_packet_kind kind, const void *body, size_t len, int fd);

/* The next packet; blocks. 1; 0 at the end of the stream; -EBADMSG for what is no packet; other negatives of recvmsg.
 */
int worker_receive(int socket, struct worker_received *in);

/* Release what @in holds. */
void worker_received_done(struct worker_received *in);

/* An outcome as it goes into a packet; @encoded is a map output's index, or the encoded result. */
void worker_outcome_put(struct buf *out, uint32_t at, const struct slot_task *t, const void *encoded, size_t len);

/* The texts of an outcome: they point into the body, and none is ended by 0. */
struct worker_texts {
        const char *message;
        const unsigned char *accumulated, *encoded;
};

/*
 * The next outcome of a body of @len bytes, from *@offset on, which moves on. 1; 0 at the end; -EBADMSG for lengths,
 * states and tasks (of a run of @n) that cannot be.
 */
int worker_outcome_get(const unsigned char *body, size_t len, size_t *offset, uint32_t n,
                       struct worker_outcome *outcome, struct worker_texts *texts);
