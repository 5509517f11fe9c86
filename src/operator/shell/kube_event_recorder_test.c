/* Notes of events. */
#include "operator/shell/kube_event_recorder.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void note_has_at_most_1000_bytes_and_whole_characters(void **state)
{
        static const struct {
                size_t before; /* bytes of ASCII */
                const char *then;
                size_t length;
        } rows[] = {
                {0, "", 0},
                {5, "", 5},
                {1000, "", 1000},
                {1000, "x", 1000},
                {998, "\xc3\xa4", 1000},        /* ends at the limit */
                {999, "\xc3\xa4", 999},         /* one byte within */
                {998, "\xe2\x82\xac", 998},     /* two of three within */
                {997, "\xf0\x9f\x98\x80", 997}, /* three of four within */
                {996, "\xf0\x9f\x98\x80more", 1000},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                char text[1100] = "";
                memset(text, 'a', rows[i].before);
                strcpy(text + rows[i].before, rows[i].then);
                assert_int_equal(event_note_length(text), rows[i].length);
        }
}

static void note_without_a_first_byte_of_a_character_is_empty(void **state)
{
        char text[1100];
        memset(text, 0x80, sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        assert_int_equal(event_note_length(text), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(note_has_at_most_1000_bytes_and_whole_characters),
                cmocka_unit_test(note_without_a_first_byte_of_a_character_is_empty),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
