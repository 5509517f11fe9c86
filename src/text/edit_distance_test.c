/* Distances of misspelled names, and a comparison with the whole table. */
#include "text/edit_distance.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static int distance_of(const char *a, const char *b, int limit)
{
        return edit_distance(a, strlen(a), b, strlen(b), limit);
}

static void counts_edits_up_to_limit(void **state)
{
        static const struct {
                const char *a, *b;
                int limit, distance;
        } cases[] = {
                {"", "", 2, 0},
                {"", "ab", 2, 2},
                {"abc", "", 2, 3},
                {"same", "same", 0, 0},
                {"same", "sane", 0, 1},
                {"memmory", "memory", 2, 1},
                {"drivr", "driver", 2, 1},
                {"memroy", "memory", 2, 1},
                {"mmeroy", "memory", 2, 2},
                {"abcdef", "badcfe", 2, 3},
                {"abcdef", "badcfe", 3, 3},
                {"x", "memory", 2, 3},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int found = distance_of(cases[i].a, cases[i].b, cases[i].limit);
                if (found != cases[i].distance)
                        fail_msg("%s and %s: %d", cases[i].a, cases[i].b, found);
        }
}

/* The same by the whole table. */
static int whole_table_distance(const char *a, const char *b)
{
        int d[16][16];
        size_t n = strlen(a), m = strlen(b);
        for (size_t i = 0; i <= n; i++)
                for (size_t j = 0; j <= m; j++) {
                        d[i][j] = i == 0 ? (int)j : j == 0 ? (int)i : d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
                        if (i > 0 && j > 0)
                                d[i][j] = MIN(d[i][j], d[i - 1][j] + 1);
                        if (i > 0 && j > 0)
                                d[i][j] = MIN(d[i][j], d[i][j - 1] + 1);
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                d[i][j] = MIN(d[i][j], d[i - 2][j - 2] + 1);
                }
        return d[n][m];
}

static void equals_whole_table_on_random_words(void **state)
{
        uint64_t seed = 7;
        char words[2][12];
        for (int round = 0; round < 20000; round++) {
                for (int w = 0; w < 2; w++) {
                        seed = seed * 6364136223846793005u + 1442695040888963407u;
                        size_t len = (seed >> 33) % 11;
                        for (size_t i = 0; i < len; i++)
                                words[w][i] = (char)('a' + (seed >> (13 + 3 * i)) % 3);
                        words[w][len] = '\0';
                }
                int limit = round % 5, expected = MIN(whole_table_distance(words[0], words[1]), limit + 1);
                int found = distance_of(words[0], words[1], limit);
                if (found != expected)
                        fail_msg("%s and %s up to %d: %d instead of %d", words[0], words[1], limit, found, expected);
        }
}

static void refuses_words_beyond_table(void **state)
{
        char word[300];
        memset(word, 'x', sizeof(word));
        assert_int_equal(edit_distance(word, 255, word, 254, 2), 1);
        assert_int_equal(edit_distance(word, 256, word, 256, 2), 3);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_edits_up_to_limit),
                cmocka_unit_test(equals_whole_table_on_random_words),
                cmocka_unit_test(refuses_words_beyond_table),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
