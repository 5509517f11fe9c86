/* A job: one action on some partitions of one RDD. The driver reads it, the DAG scheduler (dag.c) writes it. */
#pragma once

#include "base/strmap.h"
#include "rdd/lineage.h"

#include <stdbool.h>
#include <stdint.h>

struct stage;

struct job {
        int id;
        struct lineage *final;
        int *partitions; /* of the action, n of them; NULL: 0 … n - 1 */
        int n;
        void *user;               /* the driver's */
        struct strmap properties; /* "spark.jobGroup.id", "spark.scheduler.pool", "spark.job.description", … */
        char *call_site;
        int64_t submitted;
        struct stage *result_stage; /* NULL for a job without partitions */
        struct stage **stages;      /* every stage of its graph by rising id, skipped ones too; result stage last */
        int n_stages;
        int done;   /* outputs that have succeeded */
        bool ended; /* job_ended was called */

        /* for dag.c */
        uint8_t *output_done;
        int refs;
        struct job *prev, *next; /* jobs that have not been removed, oldest first */
};

static inline int job_partition(const struct job *job, int output)
{
        return job->partitions ? job->partitions[output] : output;
}
