/* Tests that huge pages are given up while their first touch is slow, and what that costs. */
#include "store/huge_pages.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <cmocka.h>

#define FAST 200000
#define SLOW 4000000

/* Maps in steps until huge pages are wanted again. Returns how much that was. */
static size_t map_until_wanted(void)
{
        size_t size = (size_t)8 << 20, mapped = 0;
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(p != MAP_FAILED);
        for (; !huge_pages_wanted(); mapped += size)
                huge_pages_advise(p, size);
        munmap(p, size);
        return mapped;
}

/* Ends a pause, and makes the next one the shortest. */
static int forget_slow_pages(void **state)
{
        map_until_wanted();
        for (int i = 0; i < 10; i++)
                huge_pages_observe(FAST);
        return 0;
}

static void pauses_after_two_slow_ones_in_a_row(void **state)
{
        assert_true(huge_pages_wanted());
        huge_pages_observe(SLOW);
        huge_pages_observe(FAST);
        huge_pages_observe(SLOW);
        assert_true(huge_pages_wanted());
        huge_pages_observe(SLOW);
        assert_false(huge_pages_wanted());
}

static void a_slow_page_after_each_pause_doubles_it_up_to_4_gib(void **state)
{
        huge_pages_observe(SLOW);
        for (size_t pause = 32; pause <= 8192; pause *= 2) {
                assert_true(huge_pages_wanted());
                huge_pages_observe(SLOW);
                assert_int_equal(map_until_wanted() >> 20, pause > 4096 ? 4096 : pause);
        }
}

static void a_fast_page_after_the_pause_brings_huge_pages_back(void **state)
{
        huge_pages_observe(SLOW);
        huge_pages_observe(SLOW);
        assert_int_equal(map_until_wanted(), (size_t)32 << 20);
        huge_pages_observe(FAST);
        huge_pages_observe(SLOW);
        assert_true(huge_pages_wanted()); /* again two decide */
        huge_pages_observe(SLOW);
        assert_int_equal(map_until_wanted(), (size_t)32 << 20); /* the fast page halved the pause */
}

static void pages_of_2_ms_pause_only_if_most_are_so(void **state)
{
        for (int i = 0; i < 400; i++)
                huge_pages_observe(i % 4 == 0 ? 2000000 : FAST);
        assert_true(huge_pages_wanted());
        int n = 0;
        for (; huge_pages_wanted(); n++)
                huge_pages_observe(2000000);
        assert_in_range(n, 10, 30);
}

/*
 * Returns the cost of clearing 400 MiB if the huge pages @slow_from to @slow_to are slow, and small pages take 0.5 ms
 * for each 2 MiB.
 */
static int64_t cost_of_400_mib(int slow_from, int slow_to)
{
        int64_t cost = 0;
        char p[1];
        for (int page = 0; page < 200; page++) {
                if (huge_pages_wanted()) {
                        int64_t ns = page >= slow_from && page < slow_to ? 6 * SLOW / 4 : FAST;
                        huge_pages_observe(ns);
                        cost += ns;
                } else {
                        huge_pages_advise(p, HUGE_PAGE);
                        cost += 500000;
                }
        }
        return cost;
}

static void costs_little_more_than_the_better_kind_of_page(void **state)
{
        static const struct {
                const char *label;
                int from, to;
                double most; /* ms: with huge pages alone, with small ones alone, and with the first rule, 4 GiB at once
                              */
        } rows[] = {
                {"all fast", 0, 0, 40.0},                   /* 40, 100, 40 */
                {"two slow at the start", 0, 2, 60.0},      /* 52, 100, 111 */
                {"two slow in the middle", 100, 102, 60.0}, /* 52, 100, 81 */
                {"ten slow at the start", 0, 10, 65.0},     /* 98, 100, 111 */
                {"all slow", 0, 200, 130.0},                /* 1200, 100, 111 */
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                forget_slow_pages(NULL);
                double ms = (double)cost_of_400_mib(rows[i].from, rows[i].to) / 1e6;
                if (ms > rows[i].most)
                        fail_msg("%s: takes %.1f ms, more than %.1f", rows[i].label, ms, rows[i].most);
        }
}

/* How many pages of the mapping are resident. */
static size_t pages_resident(void *start, size_t size)
{
        unsigned char resident[64];
        size_t n = 0;
        assert_true(size / 4096 <= sizeof(resident));
        assert_int_equal(mincore(start, size, resident), 0);
        for (size_t i = 0; i < size / 4096; i++)
                n += resident[i] & 1;
        return n;
}

static void small_pages_are_cleared_at_once(void **state)
{
        const size_t size = 64 * 4096;
        unsigned char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(p != MAP_FAILED);
        huge_pages_first_touch(p + 100, 8192, false, p + size);
        assert_int_equal(pages_resident(p, size), 0); /* huge pages come at their first use */
        huge_pages_observe(SLOW);
        huge_pages_observe(SLOW);
        huge_pages_first_touch(p + 100, 8192, false, p + size);
        assert_int_equal(pages_resident(p, size), 3);
        huge_pages_advise_table(p, size);
        assert_int_equal(pages_resident(p, size), 64);
        munmap(p, size);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup(pauses_after_two_slow_ones_in_a_row, forget_slow_pages),
                cmocka_unit_test_setup(a_slow_page_after_each_pause_doubles_it_up_to_4_gib, forget_slow_pages),
                cmocka_unit_test_setup(a_fast_page_after_the_pause_brings_huge_pages_back, forget_slow_pages),
                cmocka_unit_test_setup(pages_of_2_ms_pause_only_if_most_are_so, forget_slow_pages),
                cmocka_unit_test_setup(costs_little_more_than_the_better_kind_of_page, forget_slow_pages),
                cmocka_unit_test_setup(small_pages_are_cleared_at_once, forget_slow_pages),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
