/*
 * The protocol between an executor and a task process: packets on a SOCK_SEQPACKET socket.
 *
 * Both are forked copies of one program, so structs are sent as they are. User code may have corrupted the task
 * process, so the executor checks its packets before use (task_process_outcome_get, and the code that reads the
 * fields).
 *
 * A packet is a struct task_process_packet and its body. A body up to PACKET_INLINE bytes follows in the packet. A
 * larger one is in a sealed memfd whose descriptor comes with it. A crash report has no header: the crash handler's
 * text begins with PACKET_CRASH.
 */
#pragma once

#include "base/buf.h"
#include "exec/slot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAGIC 0x57535446u
#define PACKET_INLINE ((size_t)32 << 10)
#define PACKET_CRASH "ERROR Executor: "
#define PACKET_BODY_MAX ((uint64_t)4 << 30)

enum task_process_packet_kind {
        /* to the task process */
        PACKET_SETTINGS = 1, /* struct task_process_settings, texts; the descriptor of the shared page */
        PACKET_MODULE,       /* a path */
        PACKET_STAGE,        /* the stage in its encoded form */
        PACKET_BATCH,        /* struct task_process_batch: tasks of the latest stage */
        PACKET_VERDICT,      /* int32_t: 1 if a commit is allowed */
        PACKET_REPLY,        /* struct task_process_reply and a text or bytes: replies to PACKET_REQUEST */
        /* from the task process */
        PACKET_REFUSED,  /* int32_t status and a sentence: a module or stage could not be used */
        PACKET_OUTCOMES, /* struct task_process_outcome and its texts, repeated */
        PACKET_OUTPUT,   /* one outcome, whose last text is a map output's index, with a descriptor */
        PACKET_REQUEST,  /* struct task_process_request and a text (exec/isolation/task_process_requests.h) */
        PACKET_COMMIT,   /* struct task_process_commit */
};

struct task_process_packet {
        uint32_t magic;
        uint32_t kind;
        uint64_t len; /* of the body */
        uint32_t in_memfd;
        uint32_t descriptors; /* in addition to the body's */
};

/*
 * Followed by @secret bytes, from which the key of local files is made, and by zero-terminated texts: the application's
 * id; local directories, separated by commas; "1" if commits need permission, else ""; then @pairs keys and values of
 * the configuration.
 */
struct task_process_settings {
        int64_t heap;       /* the parameter of exec_env_init */
        int64_t data_limit; /* RLIMIT_DATA beyond the present size */
        uint64_t seed;
        uint32_t index; /* of the slot */
        uint32_t pairs;
        uint32_t secret;
        uint32_t unused;
};

/* Followed by struct task_process_task[] and the text of a struct task_resources. */
struct task_process_batch {
        uint32_t tasks, unused;
};

struct task_process_task {
        struct fst_task_info info;
        int32_t index, output;
};

struct task_process_outcome {
        uint32_t at; /* index of the task in the batch */
        int32_t state, status;
        int32_t fetch_shuffle, fetch_map, fetch_executor;
        int64_t start_ms, finish_ms, run_ns;
        int64_t number;       /* of struct task_result */
        uint64_t bytes;       /* of struct task_result */
        uint64_t message;     /* length of the text that follows, without its 0 */
        uint64_t accumulated; /* length of the encoded accumulator updates, which follow that */
        uint64_t encoded;     /* length of the encoded result or map output's index, which follows that */
        struct task_counters counters;
};

struct task_process_commit {
        int32_t stage, stage_attempt, partition;
        int64_t task_id;
};

enum task_process_request_kind {
        REQUEST_OPEN = 1,  /* opens a shuffle's partition: returns a handle */
        REQUEST_NEXT,      /* the next pages of a handle */
        REQUEST_CLOSE,     /* closes a handle: no reply */
        REQUEST_BROADCAST, /* a broadcast value */
        REQUEST_FILE,      /* the path of the file whose name follows */
        REQUEST_SLICE,     /* rows of parallelize */
        REQUEST_BLOCK,     /* opens a partition of a persisted RDD: returns a handle, -1 if no executor has it */
        REQUEST_KEEP,      /* stores a partition of a persisted RDD: a page's frame follows; empty: the end */
        REQUEST_BARRIER,   /* waits at a barrier for the other tasks of the stage: the request follows */
};

struct task_process_request {
        int32_t what;
        int32_t shuffle, partition; /* REQUEST_OPEN; _SLICE, _BLOCK, _KEEP: id and partition of an RDD */
        int32_t handle;
        int64_t id; /* id and size of a broadcast variable */
        uint64_t size;
        fst_type type; /* of the shuffle's rows */
};

/* Followed by the requested bytes; by a sentence if status is not 0; by a page that is too large for shared memory. */
struct task_process_reply {
        int32_t status;
        int32_t fetch_failed, fetch_shuffle, fetch_map, fetch_executor;
        int32_t handle;
        uint32_t pages;               /* in shared memory, each a struct page and its data, aligned to 16 */
        int32_t end;                  /* there are no pages after these */
        struct task_counters counted; /* counts of the reader since the last reply */
};

#define SHARED_PAGES_SIZE ((size_t)768 << 10)

/* Memory shared by executor and task process. */
struct task_process_shared {
        int stopped[MAX_TASK_BATCH]; /* set by the executor: 1 kills the task of the batch. Atomic */
        int32_t running;             /* set by the task process: index of the current task; -1: none. Atomic */
        int64_t began_ns;            /* set by the task process: when that task began (CLOCK_MONOTONIC). Atomic */
        const char *const *watched;  /* address, in the task process, of the pointer to the current function's name */
        const int64_t *records_read; /* address, in the task process, of the current task's count of records */
        /* Written by the executor before a reply to REQUEST_NEXT. The task process reads it until its next request. */
        unsigned char pages[SHARED_PAGES_SIZE] __attribute__((aligned(16)));
};

/* A received packet. */
struct task_process_received {
        uint32_t kind; /* 0: a crash report, whose text is the body */
        const unsigned char *body;
        size_t len;
        int fd; /* the descriptor that came beside the body, or -1; task_process_received_deinit closes it */
        void *mapped;
        size_t mapped_len;
        unsigned char storage[sizeof(struct task_process_packet) + PACKET_INLINE];
};

/*
 * Sends a packet with @fd (-1: none); blocks. Returns 0, -EPIPE or another negative if the other end is closed, or an
 * error of creating the memfd.
 */
int task_process_send(int socket, enum task_process_packet_kind kind, const void *body, size_t len, int fd);

/*
 * Receives the next packet; blocks. Returns 1; 0 at the end of the stream; -EBADMSG for a malformed packet; other
 * negatives of recvmsg.
 */
int task_process_receive(int socket, struct task_process_received *in);

/* Releases the contents of @in. */
void task_process_received_deinit(struct task_process_received *in);

/* Appends an outcome to a packet's body. @encoded is a map output's index or the encoded result. */
void task_process_outcome_put(struct buf *out, uint32_t at, const struct slot_task *t, const void *encoded, size_t len);

/* The texts of an outcome. They point into the body and are not zero-terminated. */
struct task_process_texts {
        const char *message;
        const unsigned char *accumulated, *encoded;
};

/*
 * Reads the next outcome from a body of @len bytes and advances *@offset. Returns 1; 0 at the end; -EBADMSG for invalid
 * lengths, states or tasks (of a batch of @n).
 */
int task_process_outcome_get(const unsigned char *body, size_t len, size_t *offset, uint32_t n,
                             struct task_process_outcome *outcome, struct task_process_texts *texts);
