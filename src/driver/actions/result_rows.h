/* Rows in the driver: collects the rows that tasks send, and iterates over them for the application. */
#pragma once

#include "driver/actions/actions.h"
#include "exec/actions/action_kinds.h"

struct page;

/* -------------------------------------------------------------------------------------------------- collection */

/* An action whose tasks send rows, and the rows received. */
struct rows_job {
        struct rows_action rows;
        struct page **pages; /* lists, by output */
        int n;
        size_t bytes, max_bytes;
};

/* Returns the common part of an action of @class on @rdd, which makes rows of @made. */
struct rows_action rows_action_of(const struct action_class *class, const fst_rdd *rdd, fst_type made, int64_t limit);

/* The first half of rows_job_run, without the job. @n is the number of outputs. The RDD was checked. */
int rows_job_prepare(struct rows_job *job, fst_rdd *rdd, int n, struct fst_error *error);

/*
 * Run @job->rows on partitions of @rdd (NULL: all), and fail if all results together exceed spark.driver.maxResultSize.
 * Sets the rest of @job. Returns 0, or a negative status with @error. The caller calls rows_job_deinit in any case.
 */
int rows_job_run(struct rows_job *job, fst_rdd *rdd, const int *partitions, int n, fst_site site,
                 struct fst_error *error);

/*
 * Take the received pages, in the order of outputs, as one list. *@rows (NULL: not wanted) receives their number of
 * rows.
 */
struct page *rows_job_take(struct rows_job *job, int64_t *rows);

void rows_job_deinit(struct rows_job *job);

/* --------------------------------------------------------------------------------------------------- iteration */

/* Make an iterator over at most @limit rows of @type in @pages, which it owns. The context owns the iterator. */
fst_iter *result_rows_new(fst_context *sc, fst_type type, struct page *pages, int64_t limit);
