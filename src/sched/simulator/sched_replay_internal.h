/* Declarations that the two halves of a replay share: sched_replay.c reads the trace, replay_answers.c stands for the
 * driver. */
#pragma once

#include "base/error.h"
#include "sched/dag.h"
#include "sched/simulator/sched_replay.h"
#include "sched/trace_format.h"

enum { MAX_ID = 1 << 20 };
#define MAX_TIME ((int64_t)1 << 61)

struct replay_rdd {
        struct lineage lineage;
        struct replay *replay;
        int **needs; /* by dependency: first and count for each partition, NULL for an even distribution */
};

struct replay {
        const char *at, *parsed, *compared, *end; /* at: the current input line */
        size_t line;                              /* line number of compared, from 1 */
        int max_tasks;
        int64_t now;
        struct sched *s;
        struct sched_config config;
        VEC(struct pool_spec) pools;
        VEC(struct replay_rdd *) rdds; /* by id */
        VEC(uint8_t) shuffles;         /* by id: whether it has a writer */
        VEC(struct resource_request) resources;
        VEC(uint8_t) done;                 /* outputs of the next job that are done before */
        VEC(struct earlier_output) stored; /* likewise: map outputs that an earlier driver has left */
        VEC(char *) hosts;                 /* answers of the current call */
        struct task_profile profile;
        VEC(struct resource_request) requests; /* of the profile */
        struct sched_replay_report report;
        bool diverged, ended;
        struct fst_error *error;
};
/* Bytes of the line that begins at @at, without its end. */
static inline size_t sched_replay_line_len(const struct replay *r, const char *at)
{
        const char *newline = memchr(at, '\n', (size_t)(r->end - at));

        return (size_t)((newline ? newline : r->end) - at);
}

/* Reports that the scheduler now does @now, of @len bytes, in place of the line at `compared`. Only the first time. */
void sched_replay_diverge(struct replay *r, const char *now, size_t len);

/* Compares one line of the new scheduler's trace with the old one. @owner is the replay. */
void sched_replay_compare(void *owner, const char *line, size_t len);

/* The driver of the scheduler: its queries are answered from the trace. */
extern const struct sched_ops sched_replay_ops;

/* Members of the lineage of replayed RDDs (sched/lineage.h). */
bool sched_replay_cached(const struct lineage *rdd, int partition);
void sched_replay_needs(const struct lineage *child, const struct lineage_dep *dep, int partition, int *first,
                        int *count);

/* Free answers that the scheduler no longer borrows. */
void sched_replay_free_hosts(struct replay *r);
void sched_replay_free_requests(struct replay *r);
