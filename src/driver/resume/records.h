/*
 * The records of a driver's journal, as bytes (journal/fields.h).
 *
 * Jobs have numbers: the place in the order in which the application submitted them, over all epochs. Saved outputs
 * have numbers of their own. A driver that resumes goes on with the numbers of the journal.
 *
 * Pure. Readers take untrusted bytes: -EBADMSG for anything that a writer does not write.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <firesteel/types.h>

#include <stdbool.h>
#include <stdint.h>

/* Readers know earlier ones, too: 4 lacks RESUME_EXECUTOR_IDS, 3 containers of executors, 2 RESUME_REMOTE, and 1
 * RESUME_COMMIT. */
#define RESUME_RECORDS_VERSION 5
#define MAX_EXECUTOR_ID 999999999
#define MAX_RESUME_NUMBER ((uint64_t)1 << 40) /* of jobs, outputs of a job, ids */

enum resume_record {
        RESUME_APPLICATION = 1, /* struct resume_application */
        RESUME_EARLIER,      /* epoch, bytes: what this driver has read of an earlier epoch; later bytes do not count */
        RESUME_VOID,         /* job, output: earlier records of these and all later ones do not count, except that the
                                application may replace directories of outputs that it made */
        RESUME_JOB,          /* struct resume_job_record */
        RESUME_RESULTS,      /* job, then for each output: output, result, accumulator updates */
        RESUME_MAP_UPDATES,  /* job, shuffle, partition, accumulator updates of a map task */
        RESUME_RESET,        /* job: its results do not count, because its outputs are computed again */
        RESUME_JOB_ENDED,    /* job, 1 if it succeeded */
        RESUME_OUTPUT,       /* output, path, tracker, 1 if the application made the directory */
        RESUME_OUTPUT_STATE, /* output, enum resume_output_state */
        RESUME_TASKS,        /* the highest task id that was launched so far */
        RESUME_STORE,        /* the directory of map outputs that outlive executors */
        RESUME_MAP_OUTPUTS,  /* job, shuffle, writer, then for each output: partition, task id, place (0: at its
                                executor) */
        RESUME_MAP_LOST,     /* shuffle, partition, task id: this output does not count any more */
        RESUME_COMMIT,   /* job, output, task id, 1 if it may have updates of accumulators: the task may commit from now
                            on */
        RESUME_EXECUTOR, /* id, host, cores, profile, process id, its start, container: an executor has registered */
        RESUME_EXECUTOR_LOST,   /* id */
        RESUME_FOLD = 30,       /* version: first record of an epoch that replaces all earlier ones */
        RESUME_RESULT_RANGE,    /* job, output, number of outputs, result, updates: these have the same */
        RESUME_SHUFFLE_REMOVED, /* shuffle: its outputs were removed, because nothing needs them any more */
        RESUME_REMOTE,          /* a record of the shuffle outside of executors, as its implementation wrote it
                                   (shuffle/remote_shuffle.h) */
        RESUME_EXECUTOR_IDS,    /* a number: executors with lower ids may have been started */
};

/* The progress of a saved output. */
enum resume_output_state {
        RESUME_OUTPUT_BEGUN,
        RESUME_OUTPUT_COMMITTING, /* all tasks have committed; the job's commit has begun */
        RESUME_OUTPUT_COMMITTED,
        RESUME_OUTPUT_ABORTED,
};

/* A hash of what a job computes, in 128 bits, and in parts that tell what has changed. */
struct resume_signature {
        uint64_t whole[2];
        uint32_t modules; /* of the functions: builds */
        uint32_t inputs;  /* files, their sizes and times */
};

static inline bool resume_signature_equal(const struct resume_signature *a, const struct resume_signature *b)
{
        return a->whole[0] == b->whole[0] && a->whole[1] == b->whole[1];
}

/* The application, as a later driver needs it. Owned. */
struct resume_application {
        char *id;
        int64_t started_ms;
        char *token;               /* random; names directories that each driver must find again */
        char *program, *directory; /* the executable and the working directory */
        VEC(char *) words;         /* argv; empty if a secret was among them */
};

void resume_application_deinit(struct resume_application *app);
void resume_application_put(struct buf *out, const struct resume_application *app);
int resume_application_read(const void *content, size_t size, struct resume_application *app);

struct resume_job_record {
        uint64_t job;
        struct resume_signature signature;
        uint32_t outputs;
        bool alone;          /* no other job was open, and one thread has submitted all jobs so far */
        fst_bytes call_site; /* "count at a.c:12"; borrowed */
};

void resume_job_put(struct buf *out, const struct resume_job_record *job);
int resume_job_read(const void *content, size_t size, struct resume_job_record *job);
