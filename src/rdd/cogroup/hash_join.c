/* See hash_join.h. */
#include "rdd/cogroup/hash_join.h"

#include "base/mem.h"

struct hash_join *hash_join_new(void)
{
        return new0(struct hash_join);
}

void hash_join_end(struct hash_join *j)
{
        if (!j->started)
                return;
        join_table_free(&j->table);
        memory_consumer_deinit(&j->memory);
        j->started = false;
}

void hash_join_free(struct hash_join *j)
{
        if (!j)
                return;
        hash_join_end(j);
        columns_deinit(&j->columns[JOIN_LEFT]);
        columns_deinit(&j->columns[JOIN_RIGHT]);
        free(j);
}

int hash_join_start(struct hash_join *j, struct memory_task *memory, struct sort_index *left, struct sort_index *right,
                    enum hash_filter filter, uint32_t preserved)
{
        hash_join_end(j);
        j->built = filter == HASH_JOIN && left->n < right->n ? JOIN_LEFT : JOIN_RIGHT;
        j->filter = filter;
        j->preserved = filter == HASH_SUBTRACT ? 1 << JOIN_LEFT : preserved;
        unsigned bits = join_partitions_bits(j->built == JOIN_LEFT ? left->n : right->n);
        join_partitions_count(&j->sides[JOIN_LEFT], left, bits);
        join_partitions_count(&j->sides[JOIN_RIGHT], right, bits);
        size_t largest = j->sides[j->built].largest;
        memory_consumer_init(&j->memory, memory, "join", NULL);
        j->started = true;
        int r = memory_acquire(&j->memory, join_table_bytes(largest));
        if (r == 0 && !join_table_alloc(&j->table, largest))
                r = FST_MEMORY_E_DENIED;
        if (r) {
                hash_join_end(j);
                return r;
        }
        columns_start(&j->columns[JOIN_LEFT], left->order.type);
        columns_start(&j->columns[JOIN_RIGHT], right->order.type);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ running */

static int hash_join_push(struct hash_join *j, const fst_batch *probing, const fst_batch *built, uint32_t n)
{
        return j->built == JOIN_RIGHT ? j->rows(j->owner, probing, built, n) : j->rows(j->owner, built, probing, n);
}

/* Passes on rows @at[0 … @n) of @side, which the other side does not match. */
static int hash_join_push_missing(struct hash_join *j, enum join_side side, const struct join_rows *rows,
                                  const uint32_t *at, uint32_t n)
{
        fst_batch present = join_rows_gather(rows, &j->columns[side], true, at, n);
        fst_batch absent = {.rows = n, .type = j->sides[!side].index->order.type, .key = present.key};
        return side == JOIN_LEFT ? j->rows(j->owner, &present, &absent, n) : j->rows(j->owner, &absent, &present, n);
}

/* Passes on the rows of the table that no row has matched. */
static int hash_join_push_unmatched(struct hash_join *j, uint32_t room)
{
        const struct join_table *t = &j->table;
        uint32_t *at = j->search.missing.probing, n = 0;
        int r = 0;
        for (uint32_t row = 0; row < t->rows.n && r == 0; row++) {
                at[n] = row;
                n += !t->matched[row];
                if (n == room || (row + 1 == t->rows.n && n)) {
                        r = hash_join_push_missing(j, j->built, &t->rows, at, n);
                        n = 0;
                }
        }
        return r;
}

/* Passes on the first row that finds each key of the table. */
static int hash_join_push_first(struct hash_join *j, const struct join_rows *probing)
{
        struct join_search *s = &j->search;
        bool *matched = j->table.matched;
        uint32_t n = 0;
        for (uint32_t i = 0; i < s->pairs.n; i++) {
                const uint32_t row = s->pairs.built[i];
                s->pairs.probing[n] = s->pairs.probing[i];
                n += !matched[row];
                matched[row] = true;
        }
        return n ? hash_join_push_missing(j, JOIN_LEFT, probing, s->pairs.probing, n) : 0;
}

static int hash_join_push_pairs(struct hash_join *j, const struct join_rows *rows, const struct join_rows *probing)
{
        const enum join_side built = j->built;
        const struct join_search *s = &j->search;
        if (j->filter == HASH_SUBTRACT)
                return 0;
        if (j->filter == HASH_INTERSECT)
                return hash_join_push_first(j, probing);
        if (j->preserved >> built & 1)
                for (uint32_t i = 0; i < s->pairs.n; i++)
                        j->table.matched[s->pairs.built[i]] = true;
        fst_batch found = join_rows_gather(rows, &j->columns[built], built == JOIN_LEFT, s->pairs.built, s->pairs.n);
        fst_batch of = join_rows_gather(probing, &j->columns[!built], built != JOIN_LEFT, s->pairs.probing, s->pairs.n);
        return hash_join_push(j, &of, &found, s->pairs.n);
}

static int hash_join_partition(struct hash_join *j, uint32_t partition, uint32_t room)
{
        const enum join_side built = j->built;
        struct join_rows rows = join_partitions_rows(&j->sides[built], partition),
                         probing = join_partitions_rows(&j->sides[!built], partition);
        const bool lists_missing = j->preserved >> !built & 1, lists_unmatched = j->preserved >> built & 1;
        if ((rows.n == 0 && !lists_missing) || (probing.n == 0 && !lists_unmatched))
                return 0;
        join_table_build(&j->table, j->sides[built].key, rows, j->sides[built].bits);
        struct join_search *s = &j->search;
        join_search_start(s, &j->table, probing, room, lists_missing);
        s->first_only = j->filter != HASH_JOIN;
        int r = 0;
        while (r == 0 && join_search_next(s)) {
                if (s->pairs.n)
                        r = hash_join_push_pairs(j, &rows, &probing);
                if (s->missing.n && r == 0)
                        r = hash_join_push_missing(j, !built, &probing, s->missing.probing, s->missing.n);
        }
        return r == 0 && lists_unmatched ? hash_join_push_unmatched(j, room) : r;
}

int hash_join_run(struct hash_join *j, hash_join_rows_fn rows, void *owner)
{
        const uint32_t room = MIN(j->columns[JOIN_LEFT].room, j->columns[JOIN_RIGHT].room);
        int r = 0;
        j->rows = rows;
        j->owner = owner;
        join_partitions_place(&j->sides[JOIN_LEFT]);
        join_partitions_place(&j->sides[JOIN_RIGHT]);
        for (uint32_t i = 0; i < 1u << j->sides[JOIN_LEFT].bits && r == 0; i++)
                r = hash_join_partition(j, i, room);
        return r;
}
