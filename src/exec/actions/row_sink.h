/* A sink that gathers rows in pages for the driver, and these pages as a task's result. */
#pragma once

#include "exec/actions/action.h"

struct page;

/* For results that exceed the driver's memory. NO_DRIVER_MEMORY is a format of a size_t. */
#define NO_DRIVER_MEMORY_REMEDY                                                                                        \
        "save rows instead of collecting them, or raise spark.driver.memory and the limit of its control group"
#define NO_DRIVER_MEMORY "no memory in the driver for %zu more bytes of results: " NO_DRIVER_MEMORY_REMEDY

/* Gathers rows of @type and stops at @limit rows of a partition. */
struct op *row_sink_new(struct task_run *run, fst_type type, int64_t limit);

/* Returns the rows so far as a list of *@bytes that the caller owns (NULL if there are none). */
struct page *row_sink_take(struct op *op, size_t *bytes);

/* discard and encode_result of struct action_class, for a result of such pages. */
void row_pages_discard(struct action *action, struct task_result *result);
int row_pages_encode(const struct action *action, const struct task_result *result, struct buf *out,
                     struct fst_error *error);

/* Decodes pages of at most @limit rows of @type. */
int row_pages_decode(fst_type type, int64_t limit, const unsigned char *data, size_t len, struct task_result *result,
                     struct fst_error *error);
