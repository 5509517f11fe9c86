/* Shared by the files of this room: resume.c (start, end, journal), resume_jobs.c, resume_outputs.c. */
#pragma once

#include "driver/resume/journal_epochs.h"
#include "driver/resume/holdings.h"
#include "driver/resume/resume.h"
#include "driver/resume/signature.h"

#define RESUME_LOG "DriverResume"
#define RESUME_VARIABLE "FIRESTEEL_RESUME_ID" /* the id of the application to go on with, in the environment */

struct journal_place;
struct journal_writer;

struct resume {
        struct fst_context *sc;
        struct journal_place *place; /* NULL until the application has an id */
        struct journal_writer *writer;
        int epoch;
        bool resumed, strict;
        bool ended; /* the application has succeeded, and the journal stays until the process ends */
        bool executors_wait;             /* for the next driver */
        int64_t registration_timeout_ms; /* of executors of earlier drivers */
        int reserved_executors;          /* lower ids are journaled as given */
        bool encrypted, io_key_kept; /* files are; with the key of the earlier driver */
        struct holdings holdings; /* of executors of earlier drivers; on the runner's thread */
        char *token; /* names directories that every driver of the application finds again */
        struct signatures signatures;

        pthread_mutex_t lock; /* guards the fields below */
        struct history history;
        struct journal_epochs epochs; /* earlier ones, which the history borrows */
        pthread_t first;          /* the first thread that submitted a job */
        bool has_first, threaded; /* another one has submitted a job, too */
        int open_jobs;
        int64_t reserved; /* tasks up to this id are journaled as launched */
        bool warned;      /* about a job without a signature */

        uint64_t fold_size; /* the journal is folded after so many bytes; 0: never */
        uint64_t fold_at;   /* at this position of the writer; atomic */
};

/* Begins and ends a record; between them the caller appends its fields. */
struct buf *resume_record_begin(struct resume *r, enum resume_record kind, size_t *place);
void resume_record_end(struct resume *r, struct buf *b, size_t place);

/* Journals that jobs and outputs from these numbers on do not count. */
void resume_put_void(struct resume *r, uint64_t jobs, uint64_t outputs);

/* A job has ended: the journal is folded if it has grown enough. */
void resume_fold_if_large(struct resume *r);

/* ------------------------------------------------------------------------------------------- resume_map_outputs.c */

/* Sets job->stored: the map outputs of a taken job that exist. */
void resume_find_stored(struct resume *r, struct resume_job *job);

/* Journals the map outputs of accepted tasks, if they outlive executors. */
void resume_put_map_outputs(struct resume *r, const struct resume_job *job, const struct task_batch *run,
                            const bool *accepted);
