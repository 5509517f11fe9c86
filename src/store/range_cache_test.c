#include "store/range_cache.h"

#include "store/huge_pages.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define SIZE ((size_t)1 << 20)

static bool is_zero(const unsigned char *bytes, size_t size)
{
        return bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static void gives_the_same_range_again_cleared(void **state)
{
        range_cache_shed(0);
        unsigned char *range = range_map(SIZE);
        assert_true(is_zero(range, SIZE));
        memset(range, 0xff, SIZE);
        range_unmap(range, SIZE);
        assert_int_equal(range_cache_spare(), SIZE);
        unsigned char *again = range_map(SIZE);
        assert_ptr_equal(again, range);
        assert_true(is_zero(again, SIZE));
        assert_int_equal(range_cache_spare(), 0);
        range_unmap(again, SIZE);
}

static void maps_another_size_anew(void **state)
{
        range_cache_shed(0);
        range_unmap(range_map(SIZE), SIZE);
        unsigned char *larger = range_map(4 * SIZE);
        assert_int_equal((uintptr_t)larger % HUGE_PAGE, 0);
        assert_int_equal(range_cache_spare(), SIZE);
        larger[4 * SIZE - 1] = 1;
        range_unmap(larger, 4 * SIZE);
        assert_int_equal(range_cache_spare(), 5 * SIZE);
        range_unmap(NULL, SIZE);
        assert_int_equal(range_cache_spare(), 5 * SIZE);
}

static void sheds_the_largest_first(void **state)
{
        range_cache_shed(0);
        void *ranges[] = {range_map(SIZE), range_map(4 * SIZE), range_map(2 * SIZE)};
        range_unmap(ranges[0], SIZE);
        range_unmap(ranges[1], 4 * SIZE);
        range_unmap(ranges[2], 2 * SIZE);
        range_cache_shed(7 * SIZE);
        assert_int_equal(range_cache_spare(), 7 * SIZE);
        range_cache_shed(6 * SIZE);
        assert_int_equal(range_cache_spare(), 3 * SIZE);
        range_cache_shed(0);
        assert_int_equal(range_cache_spare(), 0);
}

/* Small ranges, and more than there is room for, go to the system. */
static void keeps_a_bounded_number(void **state)
{
        enum { N = 100 };
        void *ranges[N];
        range_cache_shed(0);
        range_unmap(range_map(4096), 4096);
        assert_int_equal(range_cache_spare(), 0);
        for (int i = 0; i < N; i++)
                ranges[i] = range_map(SIZE);
        for (int i = 0; i < N; i++)
                range_unmap(ranges[i], SIZE);
        assert_in_range(range_cache_spare(), SIZE, 64 * SIZE);
        range_cache_shed(0);
}

static void *use_ranges(void *failed)
{
        for (size_t i = 0; i < 2000; i++) {
                size_t size = SIZE / 8 << i % 2;
                unsigned char *range = range_map(size);
                if (range[0] || range[size - 1])
                        *(bool *)failed = true;
                range[0] = range[size - 1] = 1;
                range_unmap(range, size);
                if (i % 100 == 0)
                        range_cache_shed(SIZE);
        }
        return NULL;
}

static void threads_never_share_a_range(void **state)
{
        pthread_t threads[4];
        bool failed[4] = {false};
        for (int i = 0; i < 4; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, use_ranges, &failed[i]), 0);
        for (int i = 0; i < 4; i++) {
                pthread_join(threads[i], NULL);
                assert_false(failed[i]);
        }
        range_cache_shed(0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(gives_the_same_range_again_cleared),
                cmocka_unit_test(maps_another_size_anew),
                cmocka_unit_test(sheds_the_largest_first),
                cmocka_unit_test(keeps_a_bounded_number),
                cmocka_unit_test(threads_never_share_a_range),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
