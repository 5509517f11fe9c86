/* See join_probe.h. */
#include "rdd/cogroup/join_probe.h"

void join_probe_start(struct join_probe *p, fst_type left, fst_type right, enum join_side built, bool lists_missing)
{
        p->built = built;
        p->lists_missing = lists_missing;
        p->built_type = built == JOIN_LEFT ? left : right;
        columns_start(&p->columns[JOIN_LEFT], left);
        columns_start(&p->columns[JOIN_RIGHT], right);
}

void join_probe_deinit(struct join_probe *p)
{
        columns_deinit(&p->columns[JOIN_LEFT]);
        columns_deinit(&p->columns[JOIN_RIGHT]);
}

static int join_probe_push(const struct join_probe *p, const fst_batch *arriving, const fst_batch *built, uint32_t n,
                           hash_join_rows_fn rows, void *owner)
{
        return p->built == JOIN_RIGHT ? rows(owner, arriving, built, n) : rows(owner, built, arriving, n);
}

static int join_probe_push_pairs(const struct join_probe *p, hash_join_rows_fn rows, void *owner)
{
        const struct join_search *s = &p->search;
        const enum join_side built = p->built;
        fst_batch found =
                join_rows_gather(&s->table->rows, &p->columns[built], built == JOIN_LEFT, s->pairs.built, s->pairs.n);
        fst_batch arriving =
                join_rows_gather(&s->rows, &p->columns[!built], built == JOIN_RIGHT, s->pairs.probing, s->pairs.n);
        return join_probe_push(p, &arriving, &found, s->pairs.n, rows, owner);
}

static int join_probe_push_missing(const struct join_probe *p, hash_join_rows_fn rows, void *owner)
{
        const struct join_search *s = &p->search;
        fst_batch arriving = join_rows_gather(&s->rows, &p->columns[!p->built], true, s->missing.probing, s->missing.n);
        fst_batch none = {.rows = s->missing.n, .type = p->built_type, .key = arriving.key};
        return join_probe_push(p, &arriving, &none, s->missing.n, rows, owner);
}

int join_probe_batch(struct join_probe *p, const struct join_table *table, const fst_batch *batch,
                     hash_join_rows_fn rows, void *owner)
{
        struct join_search *s = &p->search;
        const uint32_t room = MIN(p->columns[JOIN_LEFT].room, p->columns[JOIN_RIGHT].room);
        int r = 0;
        join_search_start(s, table, join_rows_of_batch(batch, p->arriving), room, p->lists_missing);
        while (r == 0 && join_search_next(s)) {
                if (s->pairs.n)
                        r = join_probe_push_pairs(p, rows, owner);
                if (s->missing.n && r == 0)
                        r = join_probe_push_missing(p, rows, owner);
        }
        return r;
}
