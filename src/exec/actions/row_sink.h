/*
 * Where tasks gather the rows that they send to the driver: a sink that makes pages of them, and these as a result.
 */
#pragma once

#include "exec/actions/action.h"

struct page;

/* Rows of @type, at most @limit of a partition: then it has enough. */
struct op *row_sink_new(struct task_run *run, fst_type type, int64_t limit);

/* The rows so far, a list that the caller owns (NULL: none), of *@bytes. */
struct page *row_sink_take(struct op *op, size_t *bytes);

/* As of a struct action_class, of a result whose data are such pages. */
void row_pages_discard(struct action *action, struct task_result *result);
int row_pages_encode(const struct action *action, const struct task_result *result, struct buf *out,
                     struct fst_error *error);

/* And back: of rows of @type, no more than @limit. */
int row_pages_decode(fst_type type, int64_t limit, const unsigned char *data, size_t len, struct task_result *result,
                     struct fst_error *error);
