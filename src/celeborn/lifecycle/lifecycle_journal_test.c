/* Numbers of shuffles from records of earlier drivers. */
#include "celeborn/lifecycle/lifecycle_journal.h"

#include "base/mem.h"
#include "base/vec.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Each driver begins some shuffles, of which no record or only that of the first is durable when the driver dies. */
static void numbers_of_drivers_are_distinct(void **state)
{
        VEC(struct buf) kept = {0};
        VEC(fst_bytes) records = {0};
        int32_t used = -1;
        for (int driver = 0; driver < 3000; driver++) {
                const int32_t first = driver ? lifecycle_next_number(records.data, records.len) : 0;
                const int shuffles = driver % 7 == 3 ? 200 : driver % 5;
                struct buf record = BUF_INIT;
                assert_true(first > used);
                lifecycle_record_numbers(&record, first);
                vec_push(&kept, record);
                vec_push(&records, ((fst_bytes){record.data, record.len}));
                if (driver == 0) { /* its first number is 0 in any case, and no record says so */
                        records.len = 0;
                        buf_deinit(&kept.data[--kept.len]);
                }
                used = first + shuffles - 1;
                if (driver % 3 == 0 && shuffles) { /* the first one is durable */
                        struct buf begun = BUF_INIT;
                        lifecycle_record_shuffle(&begun, &(struct lifecycle_past_shuffle){.number = first});
                        vec_push(&kept, begun);
                        vec_push(&records, ((fst_bytes){begun.data, begun.len}));
                }
        }
        assert_in_range(used, 3000, 3000 * 257 + 200); /* of 2^23 */
        struct buf last = BUF_INIT;
        lifecycle_record_numbers(&last, (1 << 23) - 2000);
        vec_push(&records, ((fst_bytes){last.data, last.len}));
        assert_int_equal(lifecycle_next_number(records.data, records.len), -1);
        buf_deinit(&last);
        for (size_t i = 0; i < kept.len; i++)
                buf_deinit(&kept.data[i]);
        vec_deinit(&kept);
        vec_deinit(&records);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(numbers_of_drivers_are_distinct),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
