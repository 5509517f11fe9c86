/* Pieces of output: sizes, rates, failures, removal, and random outputs whose pieces give the same bytes. */
#include "logs/log_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static const struct log_limits usual = {
        .interval = SECOND, .piece_size = 100, .max_size = 0, .max_rate = 0, .max_waiting = 1000};

static void assert_piece(struct log_pieces *p, int64_t now, bool end, uint64_t from, uint64_t to)
{
        struct log_piece piece;
        assert_true(log_pieces_next(p, now, end, &piece));
        assert_int_equal(piece.range.start, from);
        assert_int_equal(piece.range.end, to);
}

static void assert_nothing(struct log_pieces *p, int64_t now)
{
        struct log_piece piece;
        assert_false(log_pieces_next(p, now, false, &piece));
}

static void put_bytes(struct log_pieces *p, size_t n, int64_t now)
{
        char data[4096];
        memset(data, 'x', sizeof(data));
        log_pieces_put(p, data, n, now);
}

static void small_pieces_become_a_whole_one(void **state)
{
        struct log_pieces p;
        struct piece_range removed;
        log_pieces_init(&p, &usual);
        assert_nothing(&p, 1);
        put_bytes(&p, 10, 1);
        assert_nothing(&p, 1);
        assert_piece(&p, 1 + SECOND, false, 0, 10);
        assert_nothing(&p, 9 * SECOND); /* one is being written */
        put_bytes(&p, 5, 2 * SECOND);
        log_pieces_written(&p, 2 * SECOND);
        assert_piece(&p, 3 * SECOND, false, 10, 15);
        log_pieces_written(&p, 3 * SECOND);
        assert_false(log_pieces_take_removal(&p, &removed));
        put_bytes(&p, 90, 3 * SECOND);
        assert_piece(&p, 3 * SECOND, false, 0, 105); /* does not wait */
        put_bytes(&p, 3, 3 * SECOND);
        log_pieces_written(&p, 3 * SECOND);
        assert_true(log_pieces_take_removal(&p, &removed));
        assert_int_equal(removed.end, 10);
        assert_true(log_pieces_take_removal(&p, &removed));
        assert_int_equal(removed.start, 10);
        assert_false(log_pieces_take_removal(&p, &removed));
        assert_piece(&p, 3 * SECOND, true, 105, 108);
        log_pieces_written(&p, 3 * SECOND);
        assert_int_equal(log_pieces_waiting(&p), 0);
        log_pieces_deinit(&p);
}

/* The whole piece then has the name of the small one: removing that would lose it. */
static void an_end_without_more_output_keeps_its_piece(void **state)
{
        struct log_pieces p;
        struct piece_range removed;
        log_pieces_init(&p, &usual);
        put_bytes(&p, 10, 1);
        assert_piece(&p, 1 + SECOND, false, 0, 10);
        log_pieces_written(&p, 1 + SECOND);
        assert_piece(&p, 2 * SECOND, true, 0, 10);
        log_pieces_written(&p, 2 * SECOND);
        assert_false(log_pieces_take_removal(&p, &removed));
        log_pieces_deinit(&p);
}

static void failed_pieces_wait_and_come_again(void **state)
{
        struct log_pieces p;
        log_pieces_init(&p, &usual);
        put_bytes(&p, 200, 1);
        assert_piece(&p, 1, false, 0, 200);
        log_pieces_failed(&p, 2);
        assert_nothing(&p, 3);
        assert_piece(&p, 2 + SECOND, false, 0, 200);
        log_pieces_deinit(&p);
}

static void failed_pieces_wait_a_moment_at_the_end(void **state)
{
        struct log_pieces p;
        struct log_piece piece;
        log_pieces_init(&p, &usual);
        put_bytes(&p, 10, 1);
        assert_piece(&p, 2, true, 0, 10);
        log_pieces_failed(&p, 3);
        assert_false(log_pieces_next(&p, 3, true, &piece));
        assert_false(log_pieces_next(&p, 2 + LOG_PIECES_END_RETRY, true, &piece));
        assert_piece(&p, 3 + LOG_PIECES_END_RETRY, true, 0, 10);
        log_pieces_written(&p, 4 + LOG_PIECES_END_RETRY);
        put_bytes(&p, 1, 4 + LOG_PIECES_END_RETRY);
        assert_piece(&p, 4 + LOG_PIECES_END_RETRY, true, 10, 11); /* no failure, no pause */
        log_pieces_deinit(&p);
}

static void output_beyond_the_limits_is_left_out(void **state)
{
        struct log_pieces p;
        struct log_piece piece;
        struct log_limits slow = usual;
        log_pieces_init(&p, &usual);
        put_bytes(&p, 1500, 1);
        assert_int_equal(log_pieces_waiting(&p), 1000);
        assert_int_equal(p.total_left_out, 500);
        assert_piece(&p, 1, false, 0, 1000);
        log_pieces_written(&p, 1);
        put_bytes(&p, 1, 2);
        assert_true(log_pieces_next(&p, 2, true, &piece));
        assert_non_null(
                memmem(piece.data, (size_t)(piece.range.end - piece.range.start), "[500 bytes are left out", 23));
        log_pieces_deinit(&p);
        slow.max_rate = 10;
        log_pieces_init(&p, &slow);
        put_bytes(&p, 100, 1);
        assert_int_equal(p.text.len, 80); /* eight seconds' worth at once */
        put_bytes(&p, 100, 1 + 2 * SECOND);
        assert_int_equal(p.total_left_out, 20 + 80);
        log_pieces_deinit(&p);
}

static void the_oldest_pieces_are_removed(void **state)
{
        struct log_pieces p;
        struct piece_range removed;
        struct log_limits few = usual;
        few.max_size = 250;
        log_pieces_init(&p, &few);
        for (int i = 0; i < 4; i++) {
                put_bytes(&p, 100, 1);
                assert_piece(&p, 1, false, 100 * (uint64_t)i, 100 * (uint64_t)i + 100);
                log_pieces_written(&p, 1);
        }
        assert_true(log_pieces_take_removal(&p, &removed));
        assert_int_equal(removed.start, 0);
        assert_true(log_pieces_take_removal(&p, &removed));
        assert_int_equal(removed.start, 100);
        assert_false(log_pieces_take_removal(&p, &removed));
        log_pieces_deinit(&p);
}

static void names_are_read_back(void **state)
{
        static const char *const wrong[] = {"stderr",
                                            "index.json",
                                            "stderr.1-2",
                                            "stderr.00000000000000000005-00000000000000000005",
                                            "stderr.00000000000000000000-99999999999999999999",
                                            "stderr.00000000000000000000-00000000000000000001x",
                                            ".00000000000000000000-00000000000000000001"};
        char name[LOG_PIECE_NAME];
        size_t n;
        struct piece_range range;
        log_piece_name("stderr", (struct piece_range){0, 1024}, name);
        assert_string_equal(name, "stderr.00000000000000000000-00000000000000001024");
        assert_true(log_piece_parse(name, &n, &range));
        assert_int_equal(n, 6);
        assert_int_equal(range.end, 1024);
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
                assert_false(log_piece_parse(wrong[i], &n, &range));
}

static void readers_prefer_the_longest_piece(void **state)
{
        static const struct piece_range ranges[] = {{0, 10}, {10, 20}, {0, 30}, {50, 60}, {50, 55}};
        assert_int_equal(log_pieces_find(ranges, 5, 0), 2);
        assert_int_equal(log_pieces_find(ranges, 2, 5), 0);
        assert_int_equal(log_pieces_find(ranges, 5, 15), 2);
        assert_int_equal(log_pieces_find(ranges, 5, 30), 3); /* after a gap */
        assert_int_equal(log_pieces_find(ranges, 5, 60), 5);
        assert_int_equal(log_pieces_find(NULL, 0, 0), 0);
}

/* Storage that fails at random, and a process that dies at random: what is stored is a beginning of the output. */
static void random_outputs_are_stored_in_order(void **state)
{
        srand(7);
        for (int world = 0; world < 300; world++) {
                static char stored[1 << 16];
                VEC(struct piece_range) there = {0};
                struct log_pieces p;
                struct log_piece piece;
                struct piece_range range;
                struct log_limits limits = {
                        .interval = SECOND, .piece_size = 50 + rand() % 200, .max_waiting = 1 << 20};
                uint64_t put = 0, known = 0;
                log_pieces_init(&p, &limits);
                for (int64_t now = 1; now < 60 * SECOND; now += rand() % SECOND) {
                        char data[64];
                        const size_t n = (size_t)(rand() % 64);
                        for (size_t i = 0; i < n; i++)
                                data[i] = (char)((put + i) * 31 % 251);
                        log_pieces_put(&p, data, n, now);
                        put += n;
                        if (log_pieces_next(&p, now, now > 58 * SECOND, &piece)) {
                                if (rand() % 4 == 0) {
                                        log_pieces_failed(&p, now);
                                        continue;
                                }
                                memcpy(stored + piece.range.start, piece.data,
                                       (size_t)(piece.range.end - piece.range.start));
                                vec_push(&there, piece.range);
                                log_pieces_written(&p, now);
                        }
                        while (log_pieces_take_removal(&p, &range))
                                for (size_t i = 0; i < there.len; i++)
                                        if (there.data[i].start == range.start && there.data[i].end == range.end) {
                                                there.data[i] = there.data[--there.len];
                                                break;
                                        }
                }
                for (size_t i; (i = log_pieces_find(there.data, there.len, known)) < there.len;
                     known = there.data[i].end)
                        assert_true(there.data[i].start <= known);
                assert_true(known <= put && known + log_pieces_waiting(&p) == put);
                for (uint64_t i = 0; i < known; i++)
                        assert_int_equal(stored[i], (char)(i * 31 % 251));
                vec_deinit(&there);
                log_pieces_deinit(&p);
        }
}

/* 130 bytes a second for a minute, polled ten times a second. */
static size_t count_pieces_of_a_minute(int64_t max_interval, size_t bytes)
{
        struct log_limits limits = usual;
        struct log_pieces p;
        struct log_piece piece;
        size_t n = 0;
        limits.piece_size = limits.max_waiting = 8 << 20;
        limits.max_interval = max_interval;
        log_pieces_init(&p, &limits);
        for (int64_t now = SECOND; now < 61 * SECOND; now += SECOND / 10) {
                for (size_t put = 0; now % SECOND == 0 && put < bytes; put += MIN(bytes - put, (size_t)4096))
                        put_bytes(&p, MIN(bytes - put, (size_t)4096), now);
                if (!log_pieces_next(&p, now, false, &piece))
                        continue;
                assert_true(n > 0 || now <= 2 * SECOND); /* the first one is early */
                n++;
                log_pieces_written(&p, now);
        }
        log_pieces_deinit(&p);
        return n;
}

static void little_output_makes_few_pieces(void **state)
{
        assert_in_range(count_pieces_of_a_minute(0, 130), 50, 61);
        assert_in_range(count_pieces_of_a_minute(10 * SECOND, 130), 6, 10);
        assert_in_range(count_pieces_of_a_minute(10 * SECOND, 20000), 50, 61);
        assert_in_range(count_pieces_of_a_minute(10 * SECOND, 8000), 18, 32);
}

static void much_output_is_due_after_the_short_interval(void **state)
{
        struct log_limits limits = usual;
        struct log_pieces p;
        limits.piece_size = limits.max_waiting = 8 << 20;
        limits.max_interval = 10 * SECOND;
        log_pieces_init(&p, &limits);
        put_bytes(&p, 10, SECOND);
        assert_piece(&p, 2 * SECOND, false, 0, 10);
        log_pieces_written(&p, 2 * SECOND);
        put_bytes(&p, 10, 2 * SECOND);
        assert_nothing(&p, 3 * SECOND);
        for (int i = 0; i < 4; i++)
                put_bytes(&p, 4096, 3 * SECOND);
        assert_piece(&p, 3 * SECOND, false, 10, 20 + 16384);
        log_pieces_failed(&p, 3 * SECOND);
        assert_nothing(&p, 3 * SECOND + 1);
        assert_piece(&p, 4 * SECOND, false, 10, 20 + 16384);
        log_pieces_deinit(&p);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(little_output_makes_few_pieces),
                cmocka_unit_test(much_output_is_due_after_the_short_interval),
                cmocka_unit_test(small_pieces_become_a_whole_one),
                cmocka_unit_test(an_end_without_more_output_keeps_its_piece),
                cmocka_unit_test(failed_pieces_wait_and_come_again),
                cmocka_unit_test(failed_pieces_wait_a_moment_at_the_end),
                cmocka_unit_test(output_beyond_the_limits_is_left_out),
                cmocka_unit_test(the_oldest_pieces_are_removed),
                cmocka_unit_test(names_are_read_back),
                cmocka_unit_test(readers_prefer_the_longest_piece),
                cmocka_unit_test(random_outputs_are_stored_in_order),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
