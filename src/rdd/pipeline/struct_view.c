/* See struct_view.h. */
#include "rdd/pipeline/struct_view.h"

#include "base/error.h"
#include "base/mem.h"
#include "structs/struct_row.h"

void struct_column_init(struct struct_column *c, uint8_t kind, uint32_t size)
{
        *c = (struct struct_column){.type = struct_type_of_column(kind, size)};
}

void struct_column_deinit(struct struct_column *c)
{
        free(c->rows);
        arena_deinit(&c->texts);
        *c = (struct struct_column){0};
}

void struct_view_init(struct struct_view *v, fst_type type)
{
        *v = (struct struct_view){.seen = fst_type_seen(type)};
        struct_column_init(&v->key, type.key, type.key_size);
        struct_column_init(&v->value, type.value, type.value_size);
}

void struct_view_deinit(struct struct_view *v)
{
        struct_column_deinit(&v->key);
        struct_column_deinit(&v->value);
}

/* Makes room for @n structs. Members that are not fields are 0, because nothing else writes to the array. */
static void struct_column_reserve(struct struct_column *c, uint32_t n)
{
        if (c->room >= n)
                return;
        free(c->rows);
        c->rows = mem_zero_array(n, c->type->size);
        c->room = n;
}

static int struct_column_read_row(struct struct_column *c, fst_bytes encoded, char *to)
{
        int r = struct_row_read(c->type, encoded, to, NULL);
        return likely(r != STRUCT_ROW_E_SPACE)
                       ? r
                       : struct_row_read(c->type, encoded, to, arena_alloc(&c->texts, encoded.len));
}

int struct_column_read_to(struct struct_column *c, const fst_bytes *encoded, uint32_t n, char *to,
                          struct fst_error *error)
{
        for (uint32_t i = 0; i < n; i++, to += c->type->size) {
                int r = struct_column_read_row(c, encoded[i], to);
                if (unlikely(r))
                        return error_set(error, r, "a row of %zu bytes is not a %s", encoded[i].len, c->type->text);
        }
        return 0;
}

int struct_column_read(struct struct_column *c, const fst_bytes *encoded, uint32_t n, struct fst_error *error)
{
        struct_column_reserve(c, MAX(n, 1u));
        arena_reset(&c->texts);
        return struct_column_read_to(c, encoded, n, c->rows, error);
}

int struct_view_batch(struct struct_view *v, const fst_batch *in, fst_batch *seen, struct fst_error *error)
{
        fst_batch made = *in;
        made.type = v->seen;
        int r = 0;
        if (v->key.type)
                r = struct_column_read(&v->key, in->key.bytes, in->rows, error);
        if (v->value.type && r == 0)
                r = struct_column_read(&v->value, in->value.bytes, in->rows, error);
        if (r)
                return r;
        if (v->key.type)
                made.key.fixed = v->key.rows;
        if (v->value.type)
                made.value.fixed = v->value.rows;
        *seen = made;
        return 0;
}

const struct rows *struct_view_read(struct struct_view *v, struct task_run *run, const struct rows *in)
{
        struct fst_error error = FST_ERROR_INIT;
        v->rows = *in;
        int r = struct_view_batch(v, &in->batch, &v->rows.batch, &error);
        if (r == 0)
                return &v->rows;
        task_run_fail_with(run, r, &error);
        return NULL;
}
