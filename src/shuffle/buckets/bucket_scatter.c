/* See bucket_scatter.h. A key's place is its partition and bucket in one number, because a hash's partition is the
 * upper part of the product that numbers finer parts (hash_partition). */
#include "shuffle/buckets/bucket_scatter.h"

#include "base/mem.h"
#include "rdd/aggregate/hash.h"

#define MAX_PLACES 128u /* so many segments of 1 KiB stay in the near caches */

struct gathering {
        uint64_t keys[SEGMENT_ROWS], values[SEGMENT_ROWS];
};

struct bucket_scatter {
        uint32_t bits, places;
        uint32_t rows[MAX_PLACES]; /* that gather, by place; less than SEGMENT_ROWS */
        uint32_t place[FST_BATCH_ROWS];
        struct gathering at[];
};

uint32_t bucket_bits(int partitions)
{
        uint32_t bits = 0;
        while (bits < MAX_BUCKET_BITS && (uint64_t)partitions << (bits + 1) <= MAX_PLACES)
                bits++;
        return bits;
}

size_t bucket_scatter_size(int partitions)
{
        return sizeof(struct bucket_scatter) +
               ((size_t)partitions << bucket_bits(partitions)) * sizeof(struct gathering);
}

struct bucket_scatter *bucket_scatter_new(int partitions)
{
        struct bucket_scatter *s = aligned_alloc(64, (bucket_scatter_size(partitions) + 63) & ~(size_t)63);
        if (!s)
                return NULL;
        s->bits = bucket_bits(partitions);
        s->places = (uint32_t)partitions << s->bits;
        memset(s->rows, 0, sizeof(s->rows));
        return s;
}

void bucket_scatter_free(struct bucket_scatter *s)
{
        free(s);
}

static __attribute__((noinline)) int bucket_scatter_move(struct bucket_scatter *s, uint32_t place, struct page **open,
                                                         bucket_page_full_fn full, void *owner)
{
        const uint32_t partition = place >> s->bits, bucket = place & ((1u << s->bits) - 1), n = s->rows[place];
        const struct gathering *g = &s->at[place];
        s->rows[place] = 0;
        if (open[partition] && bucket_page_add(open[partition], bucket, g->keys, g->values, n))
                return 0;
        int r = full(owner, partition, &open[partition]);
        if (r == 0)
                bucket_page_add(open[partition], bucket, g->keys, g->values, n); /* an empty page has room */
        return r;
}

int bucket_scatter_rows(struct bucket_scatter *s, const fst_batch *batch, const uint64_t *hashes, struct page **open,
                        bucket_page_full_fn full, void *owner)
{
        const uint32_t rows = batch->rows;
        const uint64_t *keys = (const uint64_t *)batch->key.i64, *values = (const uint64_t *)batch->value.i64;
        for (uint32_t i = 0; i < rows; i++)
                s->place[i] = hash_partition(hashes[i], s->places);
        for (uint32_t i = 0; i < rows; i++) {
                const uint32_t place = s->place[i], n = s->rows[place];
                struct gathering *g = &s->at[place];
                g->keys[n] = keys[i];
                g->values[n] = values[i];
                s->rows[place] = n + 1;
                if (unlikely(n + 1 == SEGMENT_ROWS)) {
                        int r = bucket_scatter_move(s, place, open, full, owner);
                        if (r)
                                return r;
                }
        }
        return 0;
}

int bucket_scatter_flush(struct bucket_scatter *s, struct page **open, bucket_page_full_fn full, void *owner)
{
        int r = 0;
        for (uint32_t place = 0; place < s->places && r == 0; place++)
                if (s->rows[place])
                        r = bucket_scatter_move(s, place, open, full, owner);
        return r;
}
