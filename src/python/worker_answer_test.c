/* The answers of workers: golden bytes, cut at every place; and bytes that are not answers. */
#include "python/worker_answer.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define BYTES(literal) (literal), sizeof(literal) - 1
#define LONG(last) "\0\0\0\0\0\0\0" last
#define TIMES_3 "\377\377\377\375" LONG("\1") LONG("\2") LONG("\3")
#define SPILLED LONG("\5") LONG("\6")
#define END "\377\377\377\377\0\0\0\0\377\377\377\374"

static const struct {
        const char *label;
        int version;
        const char *bytes;
        size_t len;
        const char *events; /* a letter of each event */
} answers[] = {
        {"two rows", 403, BYTES("\0\0\0\1a\0\0\0\0" TIMES_3 LONG("\4") SPILLED END), "rrte"},
        {"3.5", 305, BYTES("\0\0\0\1a" TIMES_3 SPILLED END), "rte"},
        {"4.1", 401, BYTES(TIMES_3 SPILLED END), "te"},
        {"updates", 403, BYTES("\377\377\377\377\0\0\0\2\0\0\0\2uv\0\0\0\0\377\377\377\374"), "uue"},
        {"not reusable", 403, BYTES("\377\377\377\377\0\0\0\0\377\377\377\377"), "E"},
        {"traceback", 403, BYTES("\0\0\0\1a\377\377\377\376\0\0\0\4Oops"), "rx"},
};

/* Reads @bytes of which ever more arrive and writes a letter of each event. */
static void read_answer(int version, const char *bytes, size_t len, size_t step, char *letters)
{
        struct python_answer answer;
        struct python_event event;
        size_t at = 0, end = 0;
        python_answer_begin(&answer, version);
        for (;;) {
                size_t used = python_answer_next(&answer, bytes + at, end - at, &event);
                switch (event.kind) {
                case PYTHON_EVENT_MORE:
                        assert_int_equal(used, 0);
                        assert_true(event.need > end - at);
                        if (end == len || at + event.need > len) {
                                *letters = '\0';
                                return;
                        }
                        end = MIN(len, end + step);
                        continue;
                case PYTHON_EVENT_ROW:
                        assert_int_equal(event.bytes.len, used);
                        *letters++ = 'r';
                        break;
                case PYTHON_EVENT_TIMINGS:
                        assert_int_equal(event.boot_ms, 1);
                        assert_int_equal(event.finish_ms, 3);
                        assert_int_equal(event.memory_spilled, 5);
                        assert_int_equal(event.disk_spilled, 6);
                        *letters++ = 't';
                        break;
                case PYTHON_EVENT_TRACEBACK:
                        assert_memory_equal(event.bytes.data, "Oops", 4);
                        *letters++ = 'x';
                        break;
                case PYTHON_EVENT_UPDATE:
                        *letters++ = 'u';
                        break;
                case PYTHON_EVENT_END:
                        *letters++ = event.reusable ? 'e' : 'E';
                        assert_int_equal(at + used, len);
                        *letters = '\0';
                        return;
                default:
                        *letters++ = '!';
                        *letters = '\0';
                        return;
                }
                at += used;
        }
}

static void reads_answers_in_pieces(void **state)
{
        for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
                for (size_t step = 1; step <= answers[i].len; step++) {
                        char letters[64];
                        CASE_LABEL("%s in pieces of %zu", answers[i].label, step);
                        read_answer(answers[i].version, answers[i].bytes, answers[i].len, step, letters);
                        assert_string_equal(letters, answers[i].events);
                }
}

static void refuses_what_is_no_answer(void **state)
{
        static const struct {
                const char *label, *bytes;
                size_t len;
                int32_t code;
        } cases[] = {
                {"unknown signal", BYTES("\377\377\377\371"), -7},
                {"null as a row", BYTES("\377\377\377\373"), -5},
                {"negative traceback", BYTES("\377\377\377\376\377\377\377\377"), -1},
                {"negative number of updates", BYTES("\377\377\377\377\377\377\377\376"), -2},
                {"negative update", BYTES("\377\377\377\377\0\0\0\1\377\377\377\375"), -3},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct python_answer answer;
                struct python_event event;
                CASE_LABEL("%s", cases[i].label);
                python_answer_begin(&answer, 403);
                assert_int_equal(python_answer_next(&answer, cases[i].bytes, cases[i].len, &event), 0);
                assert_int_equal(event.kind, PYTHON_EVENT_INVALID);
                assert_int_equal(event.code, cases[i].code);
        }
}

static void asks_for_as_much_as_a_large_row_needs(void **state)
{
        struct python_answer answer;
        struct python_event event;
        python_answer_begin(&answer, 403);
        assert_int_equal(python_answer_next(&answer, "\177\377\377\377x", 5, &event), 0);
        assert_int_equal(event.kind, PYTHON_EVENT_MORE);
        assert_int_equal(event.need, (size_t)INT32_MAX + 4);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_answers_in_pieces),
                cmocka_unit_test(refuses_what_is_no_answer),
                cmocka_unit_test(asks_for_as_much_as_a_large_row_needs),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
