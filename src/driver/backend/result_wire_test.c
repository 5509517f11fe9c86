/* Tests the results of tasks as bytes: golden bytes, and damaged ones. */
#include "exec/task/stage_wire.h"

#include "base/buf.h"
#include "base/mem.h"
#include "exec/actions/action_kinds.h"
#include "store/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void as_hexadecimal(const struct buf *bytes, struct buf *text)
{
        for (size_t i = 0; i < bytes->len; i++)
                buf_printf(text, "%02x", (unsigned char)bytes->data[i]);
}

static void results_round_trip(struct action *action, struct task_result *from, const char *golden,
                               struct task_result *back)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT, text = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(task_result_encode(action, from, &bytes, &error), 0);
        as_hexadecimal(&bytes, &text);
        assert_string_equal(buf_text(&text), golden);
        assert_int_equal(task_result_decode(action, bytes.data, bytes.len, back, &error), 0);
        for (size_t i = 0; i < bytes.len * 2; i++) { /* cut short, then damaged */
                struct task_result other = {0};
                size_t at = i % bytes.len, len = i < bytes.len ? at : bytes.len;
                char *copy = mem_alloc(len + 1);
                memcpy(copy, bytes.data, len);
                if (at < len)
                        copy[at] = (char)~copy[at];
                if (task_result_decode(action, copy, len, &other, &error) == 0 && action->class->discard)
                        action->class->discard(action, &other);
                error_deinit(&error);
                free(copy);
        }
}

static void results_of_numbers_round_trip(void **state)
{
        struct action action = {.class = &count_action_class, .type = FST_I64};
        struct task_result result = {.number = 258}, back = {0};
        results_round_trip(&action, &result, "010201000000000000", &back);
        assert_int_equal(back.number, 258);
        assert_int_equal(back.bytes, 8);
}

static void results_of_values_round_trip(void **state)
{
        struct reduce_action action = {
                {.class = &reduce_action_class, .type = FST_BYTES}, fst_fn_first, FST_BYTES, NULL};
        struct reduce_value *value = new0(struct reduce_value);
        struct task_result result = {.data = value}, back = {0};
        results_round_trip(&action.action, &result, "01", &back);
        assert_false(((struct reduce_value *)back.data)->present);
        reduce_action_class.discard(&action.action, &back);

        value = new0(struct reduce_value);
        *value = (struct reduce_value){true, 0, mem_strdup("abc"), 3};
        result.data = value;
        results_round_trip(&action.action, &result, "0101616263", &back);
        value = back.data;
        assert_true(value->present);
        assert_true(value->size == 3);
        assert_true(memcmp(value->data, "abc", 3) == 0);
        reduce_action_class.discard(&action.action, &back);
}

static void results_of_rows_round_trip(void **state)
{
        struct rows_action action = {
                {.class = &rows_action_class, .type = FST_PAIR(BYTES, I64)}, 2, .made = FST_PAIR(BYTES, I64)};
        fst_bytes keys[] = {{"a", 1}, {"bc", 2}};
        int64_t values[] = {7, -1};
        fst_batch batch = {2, FST_PAIR(BYTES, I64), {.bytes = keys}, {.i64 = values}};
        struct page *page;
        assert_int_equal(page_new(NULL, batch.type, 16, &page), 0);
        assert_int_equal(page_append(page, &batch, 0), 2);
        struct task_result result = {.data = page}, back = {0};
        results_round_trip(&action.action, &result,
                           "01"
                           "46535031030100000000000008000000020000001b000000b43cb01ad5f38d56" /* header */
                           "01000000610700000000000000"                                       /* "a", 7 */
                           "020000006263ffffffffffffffff",                                    /* "bc", -1 */
                           &back);
        page = back.data;
        assert_int_equal(page->rows, 2);
        assert_int_equal(page->used, 4 + 1 + 8 + 4 + 2 + 8);
        assert_true(page->block < 256);
        assert_null(page->next);
        assert_int_equal(back.bytes, page->used);
        page_list_free(NULL, page);
}

static void results_of_keys_round_trip(void **state)
{
        struct sample_action action = {{.class = &sample_action_class, .type = FST_BYTES}, 2};
        struct sampled_keys *d = new0(struct sampled_keys);
        d->keys = new_array(struct sample_key, 2);
        d->n = 2;
        d->keys[0] = (struct sample_key){0, {"kiwi", 4}, 1.5};
        d->keys[1] = (struct sample_key){0, {"", 0}, 1.5};
        struct task_result result = {.data = d}, back = {0};
        results_round_trip(&action.action, &result, "01000000000000f83f040000006b69776900000000", &back);
        d = back.data;
        assert_int_equal(d->n, 2);
        assert_true(d->keys[0].weight == 1.5);
        assert_true(fst_bytes_equal(d->keys[0].bytes, fst_bytes_of("kiwi")));
        assert_int_equal(d->keys[0].prefix >> 32, 0x6b697769);
        sampled_keys_free(d);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(results_of_numbers_round_trip),
                cmocka_unit_test(results_of_values_round_trip),
                cmocka_unit_test(results_of_rows_round_trip),
                cmocka_unit_test(results_of_keys_round_trip),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
