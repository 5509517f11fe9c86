/*
 * The records of an application's earlier drivers, and the part of them that the running one may use.
 *
 * Records go in, in order. Then the application's main runs again, and each job asks whether an earlier driver has had
 * it. The history answers by these rules:
 *
 *  - If one thread submits the jobs, one after another, job n must be the job n of the journal. The first job that
 *    differs makes everything from there on void, because main has taken another way. Directories that the application
 *    has made for void outputs are its own, so main may write them again from the beginning.
 *  - If jobs overlap or several threads submit them, now or then, their order has no meaning. A job gets the first
 *    untaken job with its signature.
 *  - Each job of the journal is taken once. A signature tells everything that decides a result, so equal ones have
 * equal results, whatever the order.
 *
 * Pure: no file, no clock. One thread at a time. Rebuilt from any prefix of a journal it is the history at that time.
 */
#pragma once

#include "base/hash_table.h"
#include "driver/backend/executor_manager.h"
#include "driver/resume/records.h"

struct fst_error;

/* The results of some outputs, one after another, that are equal. */
struct past_result {
        uint32_t output, count;
        fst_bytes result;  /* of the task, as on the wire (exec/actions/action.h) */
        fst_bytes updates; /* of accumulators; empty: none */
};

struct past_map_updates {
        int shuffle, partition;
        fst_bytes updates;
};

/* A map output outside of executors (shuffle/remote_shuffle.h), or at one. Or the removal of all of a shuffle. */
struct past_map_output {
        uint64_t job; /* that computed it */
        int shuffle;
        int partition; /* -1: a removal */
        int32_t writer;
        uint32_t place; /* 0: at its executor */
        bool lost;      /* the record of its loss */
        int64_t task_id;
        size_t record; /* the order of the records */
};

/* A task that was allowed to commit its output. */
struct past_commit {
        uint32_t output;
        int64_t task_id;
        bool updates; /* it may have updates of accumulators, which are lost */
        bool reset;   /* the outputs of its job were computed again later */
        bool again;   /* the output had a result before */
};

struct past_job {
        struct resume_signature signature;
        uint32_t outputs;
        bool alone; /* as in its record */
        char *call_site;
        VEC(struct past_result) results; /* in the order in which they were merged; each output once */
        VEC(struct past_map_updates) maps;
        VEC(struct past_commit) commits;
        uint8_t *done; /* by output */
        bool taken;
};

struct past_output {
        char *path, *tracker;
        bool made; /* the application made the directory */
        enum resume_output_state state;
        bool taken;
        bool abandoned; /* main has taken another way since: only the directory counts */
};

struct history {
        struct resume_application application; /* id NULL: no driver got that far */
        VEC(struct past_job *) jobs;           /* by number; NULL: of this driver, or void */
        VEC(struct past_output *) outputs;     /* likewise */
        VEC(struct past_output *) abandoned;   /* of those that are void: directories that the application has made */
        uint64_t next_job, next_output;        /* the first that is untaken */
        int64_t last_task_id;
        char *store;           /* the directory of map outputs; NULL: none */
        VEC(fst_bytes) remote; /* records of the shuffle outside of executors; borrowed */
        VEC(struct past_map_output) maps;
        VEC(struct earlier_executor) executors; /* not lost; ids and hosts are owned */
        struct object_table executor_places;    /* of these, from 1, by id */
        int next_executor_id;                   /* larger than each id that is a number, or may have been given */
        size_t map_records;                     /* of outputs and their losses, so far */
        bool maps_sorted;                       /* by job; each output once, and no lost ones */
        bool ordered;                           /* order has a meaning */
};

void history_init(struct history *h);
void history_deinit(struct history *h);

/* Adds a record. Views of @content stay in use. Returns -EBADMSG if it contradicts earlier ones. */
int history_add(struct history *h, uint8_t kind, const void *content, size_t size);

enum history_answer {
        HISTORY_NEW,     /* no earlier driver got that far */
        HISTORY_TAKEN,   /* *past has its results */
        HISTORY_DIFFERS, /* everything from here on is void; @why has a sentence */
};

/*
 * Appends records to @out, after which a history has the same answers as @h, the whole of a journal; no job of it is
 * taken. Later records of the journal fit both. The first one is RESUME_FOLD.
 */
void history_put(struct history *h, struct buf *out);

/* A job is submitted: @job->job gets its number. @past is valid until history_deinit. */
enum history_answer history_take_job(struct history *h, struct resume_job_record *job, struct past_job **past,
                                     struct buf *why);

/* Returns the map outputs that a taken job had computed and nobody has lost, *@n of them. Borrowed. */
const struct past_map_output *history_map_outputs(struct history *h, uint64_t job, size_t *n);

/* Returns the job that history_take_job would take, and sets @job->job; or NULL. Changes nothing else. */
struct past_job *history_find(const struct history *h, struct resume_job_record *job);

/*
 * Removes permissions that need no revocation: the task has reported. If several attempts of an output had one, all
 * stay, because the result does not tell whose it is.
 */
void past_job_prune_commits(struct past_job *job);

/* A task of an earlier driver has committed @output, although the journal lacks its result: adds it, if it is missing.
 * Borrows @result. */
void past_job_add_result(struct past_job *job, uint32_t output, fst_bytes result);

/*
 * A save begins. Returns its earlier attempt at this path, with its number, or NULL. An abandoned one has no number:
 * the save clears its directory and then gets a number as if there were none. Valid until history_deinit.
 */
struct past_output *history_take_output(struct history *h, const char *path, uint64_t *number);

/*
 * The number of a save without an earlier attempt. If main has taken another way than to the next earlier output, that
 * and all later ones are void, and *@differs is set. The caller writes the records of that (RESUME_VOID with
 * history.jobs.len and the number) and of the save before another save gets a number: a reader takes a gap in the
 * numbers for damage.
 */
uint64_t history_number_output(struct history *h, bool *differs);

/* True if main has come again to each job of the journal: what follows is new. */
bool history_jobs_taken(const struct history *h);

/* The number of jobs that ended or have results, and that of results, for a message. */
void history_count(const struct history *h, uint64_t *jobs, uint64_t *results);
