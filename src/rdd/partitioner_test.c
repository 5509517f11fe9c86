/* Tests range partitioners against a linear search over their bounds. */
#include "rdd/partitioner.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

enum { KEYS = 3000, PARTITIONS = 1000 };

/* Keys that mostly share their first eight bytes. Some have at most eight bytes. */
static size_t key_of(int i, char *text, size_t size)
{
        switch (i % 7) {
        case 0:
                return (size_t)snprintf(text, size, "%06d", i);
        case 1:
                return (size_t)snprintf(text, size, "zz%d", i);
        default:
                return (size_t)snprintf(text, size, "https://%05d", (i * 7919) % 50000);
        }
}

static void places_by_bounds_with_a_common_prefix(void **state)
{
        struct partitioner p;
        struct sample_key *sample = new_array(struct sample_key, KEYS);
        char(*texts)[32] = mem_alloc(KEYS * sizeof(*texts));
        fst_bytes *keys = new_array(fst_bytes, KEYS);
        for (int i = 0; i < KEYS; i++) {
                keys[i] = (fst_bytes){texts[i], key_of(i, texts[i], sizeof(texts[i]))};
                fst_column column = {.bytes = &keys[i]};
                sample[i] =
                        (struct sample_key){.prefix = key_prefix(FST_BYTES, column, 0), .bytes = keys[i], .weight = 1};
        }
        for (int order = FST_ASCENDING; order <= FST_DESCENDING; order++) {
                partitioner_init_range(&p, PARTITIONS, FST_BYTES, order);
                assert_false(partitioner_ready(&p));
                partitioner_set_bounds(&p, sample, KEYS);
                assert_true(partitioner_ready(&p));
                assert_true(p.n_bounds > PARTITIONS / 2);
                for (int from = 0; from < KEYS; from += FST_BATCH_ROWS) {
                        uint32_t places[FST_BATCH_ROWS];
                        fst_batch batch = {.rows = (uint32_t)MIN(KEYS - from, FST_BATCH_ROWS),
                                           .type = FST_BYTES,
                                           .key.bytes = keys + from};
                        partitioner_place(&p, &batch, places);
                        for (uint32_t i = 0; i < batch.rows; i++) {
                                uint32_t below = 0;
                                while (below < (uint32_t)p.n_bounds &&
                                       fst_bytes_compare(p.bounds[below], keys[from + (int)i]) < 0)
                                        below++;
                                assert_int_equal(places[i],
                                                 order == FST_ASCENDING ? below : (uint32_t)p.n_bounds - below);
                        }
                }
                partitioner_deinit(&p);
        }
        free(sample);
        free(keys);
        free(texts);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(places_by_bounds_with_a_common_prefix),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
