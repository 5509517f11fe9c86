/*
 * Parses numbers: fst_parse_i64, fst_parse_f64 and fst_parse_f64s of include/firesteel/text.h.
 *
 * Most decimals have few digits. A double holds their digits exactly as an integer, and a power of ten exactly too, so
 * one multiplication or division rounds once and correctly (Clinger 1990). libc parses the others, in its "C" locale.
 */
#include <firesteel/text.h>

#include "base/mem.h"

#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>

#define MAX_DIGITS 19             /* digits that always fit a u64 */
#define EXACT ((uint64_t)1 << 53) /* a double holds every integer up to here */
#define MAX_POWER 22              /* 10^22 is the greatest power of ten that a double holds exactly */
#define MAX_EXPONENT 100000       /* exponents beyond give zero or infinity */

static bool is_digit(const char *p, const char *end)
{
        return p < end && *p >= '0' && *p <= '9';
}

FST_API bool fst_parse_i64(fst_bytes text, int64_t *x)
{
        const char *p = text.data, *end = p + text.len;
        bool negative = p < end && *p == '-';
        uint64_t n = 0, most = (uint64_t)INT64_MAX + negative;
        if (p < end && (*p == '-' || *p == '+'))
                p++;
        if (p == end)
                return false;
        for (; p < end; p++) {
                if (!is_digit(p, end) || n > (most - (uint64_t)(*p - '0')) / 10)
                        return false;
                n = n * 10 + (uint64_t)(*p - '0');
        }
        *x = (int64_t)(negative ? 0 - n : n);
        return true;
}

static locale_t c_locale;

static void make_locale(void)
{
        c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Converts a valid decimal of any length. */
static bool by_libc(fst_bytes text, double *x)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        char small[128], *copy = text.len < sizeof(small) ? small : malloc(text.len + 1);
        pthread_once(&once, make_locale);
        if (!copy || !c_locale)
                return false;
        memcpy(copy, text.data, text.len);
        copy[text.len] = 0;
        *x = strtod_l(copy, NULL, c_locale);
        if (copy != small)
                free(copy);
        return true;
}

struct decimal {
        uint64_t digits; /* the first digits, as a number */
        int count;       /* the count of those digits, without leading zeros */
        int64_t power;   /* the value is digits × 10^power */
        bool exact;      /* all other digits are zero */
};

static const char *read_digits(const char *p, const char *end, struct decimal *d, int fraction)
{
        for (; is_digit(p, end); p++) {
                if (d->count < MAX_DIGITS) {
                        d->digits = d->digits * 10 + (uint64_t)(*p - '0');
                        d->count += d->digits > 0;
                        d->power -= fraction;
                } else {
                        d->exact = d->exact && *p == '0';
                        d->power += !fraction;
                }
        }
        return p;
}

/*
 * Whether the text is [digits] [. digits] [e [sign] digits] as a whole, with a digit on at least one side of the point.
 */
static bool read_decimal(const char *p, const char *end, struct decimal *d)
{
        const char *from = p;
        *d = (struct decimal){.exact = true};
        p = read_digits(p, end, d, 0);
        size_t seen = (size_t)(p - from);
        if (p < end && *p == '.') {
                from = ++p;
                p = read_digits(p, end, d, 1);
                seen += (size_t)(p - from);
        }
        if (seen == 0)
                return false;
        if (p == end || (*p != 'e' && *p != 'E'))
                return p == end;
        bool negative = ++p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+'))
                p++;
        int64_t exponent = 0;
        for (from = p; is_digit(p, end); p++)
                exponent = MIN(exponent * 10 + (*p - '0'), (int64_t)MAX_EXPONENT);
        d->power += negative ? -exponent : exponent;
        return p == end && p > from;
}

static bool text_equals(const char *p, const char *end, const char *word)
{
        return (size_t)(end - p) == strlen(word) && memcmp(p, word, strlen(word)) == 0;
}

FST_API bool fst_parse_f64(fst_bytes text, double *x)
{
        static const double powers[MAX_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
        const char *p = text.data, *end = p + text.len;
        double sign = p < end && *p == '-' ? -1 : 1;
        struct decimal d;
        if (p < end && (*p == '-' || *p == '+'))
                p++;
        if (text_equals(p, end, "NaN") || text_equals(p, end, "Infinity")) {
                *x = *p == 'N' ? __builtin_nan("") : sign * __builtin_inf();
                return true;
        }
        if (!read_decimal(p, end, &d))
                return false;
        if (!d.exact || d.digits > EXACT || d.power < -MAX_POWER || d.power > MAX_POWER)
                return by_libc(text, x);
        *x = sign * (d.power < 0 ? (double)d.digits / powers[-d.power] : (double)d.digits * powers[d.power]);
        return true;
}

FST_API int fst_parse_f64s(fst_bytes text, double *x, size_t max)
{
        size_t n = 0;
        fst_split words = fst_split_of(text, ' ');
        for (fst_bytes word; fst_split_word(&words, &word); n++)
                if (n == max || n == INT_MAX || !fst_parse_f64(word, &x[n]))
                        return -1;
        return (int)n;
}
