#include "rdd/aggregate/key_sample.h"

#include "rdd/pipeline/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Adds the keys 0 … @keys - 1, each @times times, by their hashes. */
static void add_keys(struct key_sample *s, uint64_t keys, int times)
{
        uint64_t hashes[256];
        uint32_t n = 0;
        for (int time = 0; time < times; time++)
                for (uint64_t key = 0; key < keys; key++) {
                        hashes[n++] = key_hash_short((struct short_key){key, 0}, sizeof(key));
                        if (n == 256 || key + 1 == keys) {
                                key_sample_add(s, hashes, n);
                                n = 0;
                        }
                }
}

static void counts_few_keys_exactly(void **state)
{
        static struct key_sample s;
        key_sample_clear(&s);
        assert_int_equal(key_sample_estimate(&s), 0);
        add_keys(&s, 1, 3);
        assert_int_equal(key_sample_estimate(&s), 1);
        add_keys(&s, KEY_SAMPLE_ROOM / 2, 3);
        assert_int_equal(key_sample_estimate(&s), KEY_SAMPLE_ROOM / 2);
}

static void estimates_many_keys_regardless_of_repetition(void **state)
{
        static struct key_sample s;
        for (uint64_t keys = 10000; keys <= 1000000; keys *= 10) {
                key_sample_clear(&s);
                add_keys(&s, keys, 1);
                uint64_t once = key_sample_estimate(&s);
                assert_in_range(once, keys / 100 * 92, keys / 100 * 108);
                add_keys(&s, keys, 2);
                assert_int_equal(key_sample_estimate(&s), once);
                key_sample_start(&s, 4);
                add_keys(&s, keys, 1);
                assert_in_range(key_sample_estimate(&s), keys / 100 * 88, keys / 100 * 112);
        }
}

/* The sample takes these hashes with up to 49 zero bits. It must stay within its room. */
static void survives_equal_upper_bits(void **state)
{
        static struct key_sample s;
        key_sample_clear(&s);
        for (uint64_t hash = 0; hash < 4 * KEY_SAMPLE_ROOM; hash++)
                key_sample_add(&s, &hash, 1);
        assert_in_range(s.n, 1, KEY_SAMPLE_ROOM / 2 + 1);
}

/* Hashes are looked at eight at a time, and one by one here. */
static void takes_the_same_keys_in_any_portions(void **state)
{
        static struct key_sample one_by_one, portions;
        enum { HASHES = 60000 };
        static uint64_t hashes[HASHES];
        for (uint64_t i = 0; i < HASHES; i++)
                hashes[i] = key_hash_short((struct short_key){i % 50000, 0}, sizeof(i));
        key_sample_clear(&one_by_one);
        key_sample_clear(&portions);
        for (uint32_t i = 0; i < HASHES; i++)
                key_sample_add(&one_by_one, &hashes[i], 1);
        for (uint32_t i = 0, n; i < HASHES; i += n) {
                n = 1 + i % 1000 < HASHES - i ? 1 + i % 1000 : HASHES - i;
                key_sample_add(&portions, hashes + i, n);
        }
        assert_memory_equal(&one_by_one, &portions, sizeof(portions));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_few_keys_exactly),
                cmocka_unit_test(estimates_many_keys_regardless_of_repetition),
                cmocka_unit_test(survives_equal_upper_bits),
                cmocka_unit_test(takes_the_same_keys_in_any_portions),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
