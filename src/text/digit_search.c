/*
 * See digit_search.h. A state is the length of the longest beginning of the text that ends at the last digit read (the
 * automaton of Knuth, Morris and Pratt). The last state is the whole text, and stays. A table has the state behind each
 * group of four digits, so that a number of eight digits takes two look-ups.
 *
 * Invariants: a text that fits into no number has no tables. A text with "-" is compared with the written numbers that
 * are negative, which are few.
 */
#include "text/digit_search.h"

#include "base/mem.h"
#include "text/number_format.h"

#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* GATHER_PADDING: a state is read with the three bytes behind it. */
enum { GROUP = 10000, MAX_DIGITS = NUMBER_I64_SIZE - 1, GATHER_PADDING = 3 };

struct digit_search {
        char text[NUMBER_I64_SIZE + 1];
        uint8_t length; /* of the text: the state that stays; 0: no number contains the text */
        bool has_sign;
        uint8_t first[GROUP];       /* the state behind the first group, which has no leading zeros */
        uint16_t before[GROUP + 1]; /* how many lesser numbers contain the text */
        uint8_t next[][GROUP];
};

/* Fills the states behind one digit. */
static void digit_search_fill_digits(const struct digit_search *d, uint8_t (*next)[10])
{
        uint8_t n = d->length, back = 0; /* the state behind the text without its first digit */
        for (uint8_t state = 0; state < n; state++) {
                for (uint8_t digit = 0; digit < 10; digit++)
                        next[state][digit] = (uint8_t)(d->text[state] == '0' + digit ? state + 1
                                                       : state                       ? next[back][digit]
                                                                                     : 0);
                if (state)
                        back = next[back][d->text[state] - '0'];
        }
        memset(next[n], n, 10);
}

static void digit_search_fill(struct digit_search *d)
{
        uint8_t digits[MAX_DIGITS + 1][10];
        digit_search_fill_digits(d, digits);
        for (uint8_t state = 0; state <= d->length; state++)
                for (int group = 0; group < GROUP; group++)
                        d->next[state][group] =
                                digits[digits[digits[digits[state][group / 1000]][group / 100 % 10]][group / 10 % 10]]
                                      [group % 10];
        for (int group = 0; group < GROUP; group++) {
                int scale = group >= 1000 ? 1000 : group >= 100 ? 100 : group >= 10 ? 10 : 1;
                uint8_t state = 0;
                for (; scale; scale /= 10)
                        state = digits[state][group / scale % 10];
                d->first[group] = state;
                d->before[group + 1] = (uint16_t)(d->before[group] + (state == d->length));
        }
}

struct digit_search *digit_search_new(const char *text)
{
        size_t length = strlen(text);
        bool has_sign = strchr(text, '-') != NULL;
        bool fits = length > 0 && length <= (has_sign ? NUMBER_I64_SIZE : MAX_DIGITS);
        size_t n_states = fits && !has_sign ? length + 1 : 0;
        struct digit_search *d = mem_zero(sizeof(*d) + n_states * sizeof(d->next[0]) + GATHER_PADDING);
        d->has_sign = has_sign;
        if (!fits)
                return d;
        d->length = (uint8_t)length;
        memcpy(d->text, text, length);
        if (!has_sign)
                digit_search_fill(d);
        return d;
}

void digit_search_free(struct digit_search *d)
{
        free(d);
}

static uint8_t digit_search_state(const struct digit_search *d, uint64_t x)
{
        return x < GROUP ? d->first[x] : d->next[digit_search_state(d, x / GROUP)][x % GROUP];
}

bool digit_search_has(const struct digit_search *d, int64_t value)
{
        char digits[NUMBER_I64_SIZE];
        if (!d->length)
                return false;
        if (!d->has_sign)
                return digit_search_state(d, value < 0 ? -(uint64_t)value : (uint64_t)value) == d->length;
        return value < 0 && memmem(digits, number_format_i64(digits, value), d->text, d->length) != NULL;
}

/* The same for values of at most one group, two, and three. */
static inline uint64_t digit_search_short(const struct digit_search *d, int64_t value)
{
        return d->first[(uint32_t)value] == d->length;
}

static inline uint64_t digit_search_middle(const struct digit_search *d, int64_t value)
{
        uint32_t x = (uint32_t)value;
        return (x < GROUP ? d->first[x] : d->next[d->first[x / GROUP]][x % GROUP]) == d->length;
}

static inline uint64_t digit_search_long(const struct digit_search *d, int64_t value)
{
        uint32_t high = (uint32_t)(value / (GROUP * GROUP)), low = (uint32_t)(value % (GROUP * GROUP));
        if (!high)
                return digit_search_middle(d, value);
        return d->next[d->next[d->first[high]][low / GROUP]][low % GROUP] == d->length;
}

/* Searches 64 values. Their bits together tell which loop is enough for all of them. */
static uint64_t digit_search_word(const struct digit_search *d, const int64_t *values)
{
        enum { SHORT_BITS = 13, MIDDLE_BITS = 26, LONG_BITS = 39 }; /* less than 10^4, 10^8, 10^12 */
        uint64_t all = 0, word = 0;
        for (size_t i = 0; i < 64; i++)
                all |= (uint64_t)values[i];
        if (!d->has_sign && all >> SHORT_BITS == 0) {
#pragma GCC unroll 64
                for (size_t i = 0; i < 64; i++)
                        word |= digit_search_short(d, values[i]) << i;
        } else if (!d->has_sign && all >> MIDDLE_BITS == 0) {
#pragma GCC unroll 64
                for (size_t i = 0; i < 64; i++)
                        word |= digit_search_middle(d, values[i]) << i;
        } else if (!d->has_sign && all >> LONG_BITS == 0) {
                for (size_t i = 0; i < 64; i++)
                        word |= digit_search_long(d, values[i]) << i;
        } else {
                for (size_t i = 0; i < 64; i++)
                        word |= (uint64_t)digit_search_has(d, values[i]) << i;
        }
        return word;
}

void digit_search_mark(const struct digit_search *d, const int64_t *values, size_t n, uint64_t *bits)
{
        size_t i = 0;
        if (!d->length)
                return;
        for (; i + 64 <= n; i += 64)
                bits[i / 64] |= digit_search_word(d, values + i);
        for (; i < n; i++)
                bits[i / 64] |= (uint64_t)digit_search_has(d, values[i]) << i % 64;
}

/* ------------------------------------------------------------------------------------------- packed values */

static int64_t digit_offsets_value(const struct digit_offsets *values, size_t i)
{
        uint32_t offset = 0;
        memcpy(&offset, (const char *)values->offsets + i * values->width, values->width);
        return (int64_t)((uint64_t)values->least + offset);
}

/* Searches @n values from @first on, at most 64. */
static uint64_t digit_offsets_word(const struct digit_search *d, const struct digit_offsets *values, size_t first,
                                   size_t n)
{
        int64_t word[64];
        uint64_t bits = 0;
        for (size_t i = 0; i < n; i++)
                word[i] = digit_offsets_value(values, first + i);
        if (n == 64)
                return digit_search_word(d, word);
        for (size_t i = 0; i < n; i++)
                bits |= (uint64_t)digit_search_has(d, word[i]) << i;
        return bits;
}

#ifdef __x86_64__
/* How to search values that have the same digits before the last eight: none, or such that lead to a state. */
struct digit_kernel {
        const struct digit_search *d;
        const uint8_t *high; /* the states behind the group before the last; NULL: the last is the only one */
        const uint8_t *low;  /* behind the last, for each state behind the one before: GROUP apart */
        uint32_t base;       /* the last eight digits of the least value; it plus an offset has no more */
};

/* Returns false if the values need another way. */
static bool digit_kernel_init(struct digit_kernel *k, const struct digit_search *d, const struct digit_offsets *values)
{
        const int64_t eight = (int64_t)GROUP * GROUP;
        int64_t before = values->least / eight;
        *k = (struct digit_kernel){.d = d, .low = d->next[0], .base = (uint32_t)(values->least % eight)};
        if (d->has_sign || values->least < 0 || before != values->greatest / eight || before >= GROUP)
                return false;
        if (before)
                k->high = d->next[d->first[before]];
        else if (values->least >= GROUP)
                k->high = d->first;
        else
                k->low = d->first;
        return before || k->high || values->greatest < GROUP;
}

__attribute__((target("avx2"))) static inline __m256i digit_offsets_load(const struct digit_offsets *values, size_t i)
{
        const char *from = (const char *)values->offsets + i * values->width;
        if (values->width == 1)
                return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)from));
        if (values->width == 2)
                return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from));
        return _mm256_loadu_si256((const __m256i *)from);
}

/* Divides eight numbers below 2^32 by GROUP. */
__attribute__((target("avx2"))) static inline __m256i digit_divide_by_group(__m256i x)
{
        const __m256i inverse = _mm256_set1_epi64x(3518437209); /* 2^45 / GROUP, rounded up */
        __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(x, inverse), 45);
        __m256i odd = _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(x, 32), inverse), 45);
        return _mm256_or_si256(even, _mm256_slli_epi64(odd, 32));
}

__attribute__((target("avx2"))) static inline __m256i digit_look_up(const uint8_t *states, __m256i at)
{
        return _mm256_and_si256(_mm256_i32gather_epi32((const int *)(const void *)states, at, 1),
                                _mm256_set1_epi32(0xff));
}

/* Searches 64 values. */
__attribute__((target("avx2"))) static uint64_t digit_kernel_word(const struct digit_kernel *k,
                                                                  const struct digit_offsets *values, size_t first)
{
        const __m256i base = _mm256_set1_epi32((int)k->base), group = _mm256_set1_epi32(GROUP);
        const __m256i found = _mm256_set1_epi32(k->d->length);
        uint64_t word = 0;
        for (size_t i = 0; i < 64; i += 8) {
                __m256i x = _mm256_add_epi32(digit_offsets_load(values, first + i), base);
                if (k->high) {
                        __m256i high = digit_divide_by_group(x);
                        __m256i low = _mm256_sub_epi32(x, _mm256_mullo_epi32(high, group));
                        x = _mm256_add_epi32(_mm256_mullo_epi32(digit_look_up(k->high, high), group), low);
                }
                __m256i equal = _mm256_cmpeq_epi32(digit_look_up(k->low, x), found);
                word |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(equal)) << i;
        }
        return word;
}
#endif

void digit_search_mark_offsets(const struct digit_search *d, const struct digit_offsets *values, size_t n,
                               uint64_t *bits)
{
        size_t i = 0;
        if (!d->length)
                return;
#ifdef __x86_64__
        struct digit_kernel kernel;
        if (__builtin_cpu_supports("avx2") && digit_kernel_init(&kernel, d, values))
                for (; i + 64 <= n; i += 64)
                        bits[i / 64] |= digit_kernel_word(&kernel, values, i);
#endif
        for (; i < n; i += 64)
                bits[i / 64] |= digit_offsets_word(d, values, i, n - i < 64 ? n - i : 64);
}

bool digit_search_may_find(const struct digit_search *d, int64_t least, int64_t greatest)
{
        if (!d->length)
                return false;
        if (least == greatest)
                return digit_search_has(d, least);
        if (d->has_sign)
                return least < 0;
        return least < 0 || greatest >= GROUP || d->before[greatest + 1] > d->before[least];
}
