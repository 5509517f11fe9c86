/* Tests that huge pages are given up if their first touch is slow, and tried again later. */
#include "store/huge_pages.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <cmocka.h>

#define FAST 200000
#define SLOW 4000000

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

static void tries_again_after_some_gigabytes(void **state)
{
        size_t size = (size_t)64 << 20, mapped = 0;
        void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(p != MAP_FAILED);
        for (; !huge_pages_wanted(); mapped += size)
                huge_pages_advise(p, size);
        assert_int_equal(mapped, (size_t)4 << 30);
        huge_pages_observe(FAST);
        assert_true(huge_pages_wanted());
        huge_pages_first_touch(p, 4096, true);
        assert_int_equal(*(unsigned char *)p, 0);
        munmap(p, size);
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
        huge_pages_first_touch(p + 100, 8192, false);
        assert_int_equal(pages_resident(p, size), 0); /* huge pages come at their first use */
        huge_pages_observe(SLOW);
        huge_pages_observe(SLOW);
        huge_pages_first_touch(p + 100, 8192, false);
        assert_int_equal(pages_resident(p, size), 3);
        huge_pages_advise_table(p, size);
        assert_int_equal(pages_resident(p, size), 64);
        munmap(p, size);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pauses_after_two_slow_ones_in_a_row),
                cmocka_unit_test(tries_again_after_some_gigabytes),
                cmocka_unit_test(small_pages_are_cleared_at_once),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
