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

enum { GROUP = 10000, MAX_DIGITS = NUMBER_I64_SIZE - 1 };

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
        struct digit_search *d = mem_zero(sizeof(*d) + n_states * sizeof(d->next[0]));
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
