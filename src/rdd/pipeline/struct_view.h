/*
 * Rows as functions of the application see them. A column of structs is bytes between operators (structs/struct_row.h);
 * a function gets an array of the structs instead. Every operator that calls a function reads its batches by a view.
 *
 *      struct struct_view view;
 *      struct_view_init(&view, type);                  type: of the operator's rows
 *      in = struct_view_rows(&view, run, in);          for each batch; NULL: the task has failed
 *      struct_view_deinit(&view);
 *
 * Rows without structs pass unchanged.
 */
#pragma once

#include "base/mem.h"
#include "rdd/pipeline/op.h"

/* One column. */
struct struct_column {
        const struct struct_type *type; /* NULL: not a column of structs */
        char *rows;                     /* array of the structs */
        uint32_t room;
        struct arena texts; /* those that could not be views */
};

struct struct_view {
        fst_type seen; /* fst_type_seen of its rows */
        struct struct_column key, value;
        struct rows rows;
};

void struct_view_init(struct struct_view *v, fst_type type);
void struct_view_deinit(struct struct_view *v);

static inline bool struct_view_changes(const struct struct_view *v)
{
        return v->key.type || v->value.type;
}

/* The rows of @in in the type `seen`; valid until the next call, and as long as @in. */
const struct rows *struct_view_read(struct struct_view *v, struct task_run *run, const struct rows *in);

static inline const struct rows *struct_view_rows(struct struct_view *v, struct task_run *run, const struct rows *in)
{
        return likely(!struct_view_changes(v)) ? in : struct_view_read(v, run, in);
}

/* The same for the columns of a batch. Returns 0 or -EBADMSG with @error. */
int struct_view_batch(struct struct_view *v, const fst_batch *in, fst_batch *seen, struct fst_error *error);

/* Prepares for a column of @kind and @size: `type` is NULL if it is not one of structs. */
void struct_column_init(struct struct_column *c, uint8_t kind, uint32_t size);
void struct_column_deinit(struct struct_column *c);

/*
 * Reads @n rows of structs: struct_column_read into `rows`, until the next call; struct_column_read_to into
 * @to, whose members that are not fields the caller has cleared; texts may be in `texts`, which the caller empties. The
 * texts are also valid no longer than @encoded. Return 0, or -EBADMSG with @error.
 */
int struct_column_read(struct struct_column *c, const fst_bytes *encoded, uint32_t n, struct fst_error *error);
int struct_column_read_to(struct struct_column *c, const fst_bytes *encoded, uint32_t n, char *to,
                          struct fst_error *error);
