/*
 * Counts words as a C program does that knows no more than an engine, on two threads.
 *                                                                       generic_words ROWS WORDS ROUNDS
 *
 * The words and what it prints are those of `bench/apps/in_memory.c words`. A string takes two words, as in columns of
 * DuckDB and Polars: its length and 12 bytes of a short one, or the length, four bytes and the address of a long one.
 */
#include <inttypes.h>

#include "generator.h"
#include "generic_combine.h"

struct string {
        uint32_t length;
        char start[4];
        union {
                char rest[8];
                const char *text;
        };
};

#define SHORT_STRING 12

static struct string string_of(const char *text, uint32_t length)
{
        struct string s = {.length = length};
        memcpy(s.start, text, length <= SHORT_STRING ? length : sizeof(s.start));
        if (length > SHORT_STRING)
                s.text = text;
        return s;
}

static uint64_t long_string_hash(const struct string *s)
{
        uint64_t hash = s->length, word = 0;
        for (uint32_t i = 0; i + 8 <= s->length; i += 8) {
                memcpy(&word, s->text + i, 8);
                hash = mix(hash ^ word);
        }
        memcpy(&word, s->text + s->length - 8, 8);
        return mix(hash ^ word);
}

static void hash_strings(const uint64_t *rows, size_t stride, size_t n, uint64_t *hashes)
{
        for (size_t i = 0; i < n; i++) {
                const uint64_t *words = rows + i * stride;
                struct string s;
                memcpy(&s, words, sizeof(s));
                if (s.length <= SHORT_STRING)
                        hashes[i] = mix(words[0] * 0x9e3779b97f4a7c15u ^ words[1]);
                else
                        hashes[i] = long_string_hash(&s);
        }
}

static bool strings_equal(const uint64_t *a, const uint64_t *b)
{
        struct string s, t;
        if (a[0] != b[0])
                return false;
        if (a[1] == b[1])
                return true;
        memcpy(&s, a, sizeof(s));
        memcpy(&t, b, sizeof(t));
        return s.length > SHORT_STRING && memcmp(s.text, t.text, s.length) == 0;
}

static void total_row(void *total, const uint64_t *row)
{
        total_add(total, 1, row[2]);
}

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "usage: generic_words ROWS WORDS ROUNDS\n"), 2;
        size_t n = strtoull(argv[1], NULL, 10);
        int64_t words = atoll(argv[2]);
        uint64_t *rows = huge_alloc(n * 24);
        char(*digits)[17] = memory_checked(malloc((size_t)words * sizeof(*digits)));
        for (int64_t i = 0; i < words; i++)
                snprintf(digits[i], sizeof(*digits), "%016llx", (unsigned long long)mix((uint64_t)i));
        for (size_t i = 0; i < n; i++) {
                uint64_t random = mix(i);
                int64_t word = below(random, words) * below(random << 32, words) / words;
                struct string s = string_of(digits[word], 3 + (uint32_t)(word % 10));
                memcpy(rows + 3 * i, &s, sizeof(s));
                rows[3 * i + 2] = 1;
        }
        const struct row_type known = {2, 1, hash_strings, strings_equal, add_number};
        const struct row_type *volatile type = &known; /* the compiler does not know it */
        struct total all = {0};
        combine_run(type, rows, n, atoi(argv[3]), total_row, &all);
        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        free(digits);
        return 0;
}
