/* Tests fst_split against a plain version of Java's String.split. */
#include "base/mem.h"

#include <firesteel/firesteel.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/*
 * The reference: cuts @text at every separator, drops empty pieces at the end, joins the rest by '|' and counts them.
 */
static int reference(const char *text, size_t len, char *joined)
{
        int pieces = 0, kept = 0;
        char *to = joined, *end = joined;
        for (size_t i = 0, from = 0; i <= len; i++) {
                if (i < len && text[i] != ' ')
                        continue;
                memcpy(to, text + from, i - from);
                to += i - from;
                *to++ = '|';
                pieces++;
                if (i > from || len == 0) {
                        kept = pieces;
                        end = to;
                }
                from = i + 1;
        }
        *end = 0;
        return kept;
}

static int split(const char *text, size_t len, char *joined)
{
        int pieces = 0;
        fst_split s = fst_split_of((fst_bytes){text, len}, ' ');
        for (fst_bytes piece; fst_split_next(&s, &piece); pieces++) {
                memcpy(joined, piece.data, piece.len);
                joined += piece.len;
                *joined++ = '|';
        }
        *joined = 0;
        fst_bytes untouched = {"", 7};
        assert_false(fst_split_next(&s, &untouched));
        assert_int_equal(untouched.len, 7);
        return pieces;
}

static void splits_like_java(void **state)
{
        const char *texts[] = {"", " ", "  ", "a", " a", "a ", "a  ", "a b", "a  b", "  a  b  ", "ab cd ef"};
        const int pieces[] = {1, 0, 0, 1, 2, 1, 1, 2, 3, 5, 3};
        char ours[64], theirs[64];
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                assert_int_equal(split(texts[i], strlen(texts[i]), ours), pieces[i]);
                assert_int_equal(reference(texts[i], strlen(texts[i]), theirs), pieces[i]);
                assert_string_equal(ours, theirs);
        }
}

static void skips_empty_words(void **state)
{
        const char *texts[] = {"", "   ", "a", "  a  b c ", "a b"};
        const char *words[] = {"", "", "a|", "a|b|c|", "a|b|"};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                char joined[64], *to = joined;
                fst_split s = fst_split_of(fst_bytes_of(texts[i]), ' ');
                for (fst_bytes word; fst_split_word(&s, &word);)
                        to += sprintf(to, "%.*s|", FST_TEXT(word));
                *to = 0;
                assert_string_equal(joined, words[i]);
        }
}

/* fst_split_all keeps every piece: one more than there are separators. */
static void split_all_keeps_trailing_empty_pieces(void **state)
{
        const char *texts[] = {"", ",", ",,", "a", ",a", "a,", "a,b,,", "a,,b"};
        const char *pieces[] = {"|", "||", "|||", "a|", "|a|", "a||", "a|b|||", "a||b|"};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                char joined[64], *to = joined;
                fst_split s = fst_split_all_of(fst_bytes_of(texts[i]), ',');
                for (fst_bytes piece; fst_split_next(&s, &piece);)
                        to += sprintf(to, "%.*s|", FST_TEXT(piece));
                *to = 0;
                assert_string_equal(joined, pieces[i]);
        }
        char text[300];
        memset(text, ',', sizeof(text));
        for (size_t len = 0; len <= sizeof(text); len++) {
                size_t n = 0;
                fst_split s = fst_split_all_of((fst_bytes){text, len}, ',');
                for (fst_bytes piece; fst_split_next(&s, &piece); n++)
                        assert_int_equal(piece.len, 0);
                assert_int_equal(n, len + 1);
        }
}

/* Texts of every length that end directly before an unmapped page. */
static void reads_nothing_beyond_the_text(void **state)
{
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(memory, MAP_FAILED);
        assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
        unsigned seed = 7;
        for (size_t len = 0; len < 300; len++) {
                for (int round = 0; round < 20; round++) {
                        char *text = memory + page - len, ours[1024], theirs[1024];
                        for (size_t i = 0; i < len; i++)
                                text[i] = rand_r(&seed) % (round + 1) ? 'x' : ' ';
                        assert_int_equal(split(text, len, ours), reference(text, len, theirs));
                        assert_string_equal(ours, theirs);
                }
        }
        munmap(memory, 2 * page);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(splits_like_java),
                cmocka_unit_test(skips_empty_words),
                cmocka_unit_test(split_all_keeps_trailing_empty_pieces),
                cmocka_unit_test(reads_nothing_beyond_the_text),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
