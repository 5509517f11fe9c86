/* See skewed_placer.h. */
#include "rdd/cogroup/skewed_placer.h"

#include "rdd/aggregate/hash.h"
#include "rdd/cogroup/join_rows.h"
#include "rdd/pipeline/key.h"

void skewed_placer_begin(struct skewed_placer *s, const struct partitioner *p, int partition)
{
        s->p = p;
        s->partition = (uint32_t)partition;
        s->batch = NULL;
        s->n = s->at = 0;
}

void skewed_placer_deinit(struct skewed_placer *s)
{
        columns_deinit(&s->columns);
}

/* A hash of the value of row @row. Equal values have the same. */
static uint64_t skewed_value_hash(const fst_batch *batch, uint32_t row)
{
        const size_t size = batch->type.value_size;
        switch (batch->type.value) {
        case FST_KIND_I64:
                return key_mix((uint64_t)batch->value.i64[row]);
        case FST_KIND_F64: /* the bits of a NaN may differ when it is computed again */
                return key_mix(key_f64_bits(batch->value.f64[row]));
        case FST_KIND_BYTES:
                return key_hash_bytes(batch->value.bytes[row].data, batch->value.bytes[row].len);
        default:
                return key_hash_bytes(batch->value.fixed + row * size, size);
        }
}

void skewed_placer_place(struct skewed_placer *s, const fst_batch *batch, uint32_t *out)
{
        const struct partitioner *p = s->p;
        const uint32_t partitions = (uint32_t)p->partitions;
        uint64_t hashes[FST_BATCH_ROWS];
        hash_keys(batch, hashes);
        partitioner_place_hashes(p, hashes, batch->rows, out);
        s->batch = batch;
        s->n = s->at = 0;
        s->part = 1;
        if (p->heavy.n == 0)
                return;
        for (uint32_t i = 0; i < batch->rows; i++) {
                const struct heavy_key *key = heavy_keys_find(&p->heavy, hashes[i]);
                if (likely(!key))
                        continue;
                if (key->spread == p->side) {
                        /* The values of a key may be equal, or its rows in few map partitions. */
                        out[i] = heavy_key_place(key, s->partition + (uint32_t)skewed_value_hash(batch, i), partitions);
                        continue;
                }
                out[i] = key->start;
                s->rows[s->n] = i;
                s->keys[s->n++] = key;
        }
}

bool skewed_placer_next_copies(struct skewed_placer *s, fst_batch *copies, uint32_t *out)
{
        uint32_t n = 0;
        if (s->at == s->n)
                return false;
        columns_start(&s->columns, s->batch->type);
        while (s->at < s->n && n < s->columns.room) {
                s->gathered[n] = s->rows[s->at];
                out[n++] = heavy_key_place(s->keys[s->at], s->part, (uint32_t)s->p->partitions);
                if (++s->part < s->keys[s->at]->parts)
                        continue;
                s->at++;
                s->part = 1;
        }
        const struct join_rows rows = {.n = s->batch->rows, .type = s->batch->type, .batch = s->batch};
        *copies = join_rows_gather(&rows, &s->columns, true, s->gathered, n);
        return true;
}
