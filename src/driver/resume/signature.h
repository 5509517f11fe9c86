/*
 * A hash of what a job computes: the same in two processes that run the same application on the same input.
 *
 * Into it go the action and the lineage behind it as they are sent to executors (exec/task/stage_wire.h): operators,
 * partitioners with their bounds, functions as build-id and offset, captured structs, the rows of parallelize; sizes
 * and times of input files; and the values of broadcast variables. Ids of RDDs and shuffles are counted, hence equal.
 * Nothing in it is an address, a time or a random number, unless the application captures one. Functions of Python are
 * compared as pickles, without the random numbers of their classes (pickled_classes.h).
 */
#pragma once

#include "base/vec.h"
#include "driver/resume/records.h"

#include <pthread.h>

struct fst_error;
struct job_request;

struct stage_hash {
        bool known;
        uint64_t whole[2];
        uint32_t modules, inputs;
};

struct signatures {
        pthread_mutex_t lock;
        /* Hashes of map stages by shuffle id: lineage is hashed once, however many jobs are built on it. */
        VEC(struct stage_hash) shuffles;
        uint64_t broadcasts; /* of all values so far */
};

void signatures_init(struct signatures *s);
void signatures_deinit(struct signatures *s);

/* The application has created broadcast variable @id. Any thread. */
void signatures_add_broadcast(struct signatures *s, int64_t id, const void *data, size_t size);

/*
 * Computes the signature of a job whose preliminary jobs have run. Returns 0, or negative with @error for lineage that
 * cannot leave this process. Any thread.
 */
int signatures_of_job(struct signatures *s, const struct job_request *request, struct resume_signature *signature,
                      struct fst_error *error);
