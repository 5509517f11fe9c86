/*
 * Rows at the driver: what an action whose tasks send rows gathers, and what the application reads them with.
 */
#pragma once

#include "driver/actions/actions.h"
#include "exec/actions/action_kinds.h"

struct page;

/* -------------------------------------------------------------------------------------------------- being gathered */

/* An action that has rows sent, and those that have come. */
struct rows_job {
        struct rows_action rows;
        struct page **pages; /* lists, by output */
        int n;
        size_t bytes, max_bytes;
};

/* The common part of an action of @class on @rdd that makes rows of @made. */
struct rows_action rows_action_of(const struct action_class *class, const fst_rdd *rdd, fst_type made, int64_t limit);

/* What rows_job_run does before its job, which has @n outputs. The RDD was checked. */
int rows_job_prepare(struct rows_job *job, fst_rdd *rdd, int n, struct fst_error *error);

/*
 * Run @job->rows on partitions of @rdd (NULL: all), with results held to spark.driver.maxResultSize in all: 0, or
 * negative with @error. The rest of @job is set here. rows_job_deinit is due in any case.
 */
int rows_job_run(struct rows_job *job, fst_rdd *rdd, const int *partitions, int n, fst_site site,
                 struct fst_error *error);

/* Take all that has come, in the order of outputs, as one list; *@rows (NULL: nobody asks) is how many they are. */
struct page *rows_job_take(struct rows_job *job, int64_t *rows);

void rows_job_deinit(struct rows_job *job);

/* --------------------------------------------------------------------------------------------------- for reading */

/* Rows of @type for the application, at most @limit: of @pages, which it takes. Belongs to the context. */
fst_iter *result_rows_new(fst_context *sc, fst_type type, struct page *pages, int64_t limit);
