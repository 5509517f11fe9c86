/*
 * Formats numbers as Java does.
 *
 * Doubles follow Raffaello Giulietti's "The Schubfach way to render doubles", which the JDK uses since 19. With v the
 * value, k is chosen such that one to ten multiples of 10^k lie in the interval of decimals that round to v. Then v and
 * the ends of the interval, in quarters of 10^k, are compared with two neighbouring multiples. One multiplication by a
 * 126-bit approximation g of 10^-k is exact enough for these comparisons if the dropped bits are kept as a sticky bit
 * ("rounding to odd").
 *
 * The 617 values of g take 10 KiB and 50 µs, so they are computed when the first double that is not a small integer is
 * formatted. They are floor(10^n × 2^s) + 1 with s such that the result has 126 bits.
 */
#include "text/number_format.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

typedef unsigned __int128 u128;

#define POWER_MIN (-292) /* powers of 10 that the exponents of doubles need */
#define POWER_MAX 324

static struct power {
        uint64_t high, low;
} powers[POWER_MAX - POWER_MIN + 1];
static pthread_once_t powers_once = PTHREAD_ONCE_INIT;

/* Numbers of 27 × 32 bits, lowest word first: enough for 5^324 (753 bits) and for 2^832 / 5^292 (154 bits). */
#define WORDS 27

static void set_power(int n, const uint32_t *words)
{
        int top = WORDS - 1;
        while (words[top] == 0)
                top--;
        /* Keeps the highest 160 bits, then shifts so that 126 remain. */
        u128 value = 0;
        uint32_t fifth = 0;
        for (int i = 0; i < 4; i++)
                value = value << 32 | (top - i >= 0 ? words[top - i] : 0);
        if (top >= 4)
                fifth = words[top - 4];
        int lead = __builtin_clz(words[top]);
        if (lead > 0)
                value = value << lead | fifth >> (32 - lead);
        value = (value >> 2) + 1;
        powers[n - POWER_MIN] = (struct power){(uint64_t)(value >> 64), (uint64_t)value};
}

static void make_powers(void)
{
        uint32_t words[WORDS] = {1};
        for (int n = 0; n <= POWER_MAX; n++) {
                set_power(n, words); /* 5^n has the same leading bits as 10^n */
                uint64_t carry = 0;
                for (int i = 0; i < WORDS; i++) {
                        carry += (uint64_t)words[i] * 5;
                        words[i] = (uint32_t)carry;
                        carry >>= 32;
                }
        }
        memset(words, 0, sizeof(words));
        words[WORDS - 1] = 1; /* 2^832 */
        for (int n = -1; n >= POWER_MIN; n--) {
                uint64_t rest = 0;
                for (int i = WORDS - 1; i >= 0; i--) {
                        rest = rest << 32 | words[i];
                        words[i] = (uint32_t)(rest / 5);
                        rest %= 5;
                }
                set_power(n, words);
        }
}

/* floor(log10(2^q)), floor(log10(3/4 × 2^q)), floor(log2(10^n)): exact in the range of doubles' exponents. */
static int log10_of_pow2(int q)
{
        return (q * 1262611) >> 22;
}

static int log10_of_three_quarters_pow2(int q)
{
        return (q * 1262611 - 524031) >> 22;
}

static int log2_of_pow10(int n)
{
        return (n * 1741647) >> 19;
}

/* g × cp / 2^127, with the lowest bit set if anything was dropped. */
static uint64_t number_format_scale(const struct power *g, uint64_t cp)
{
        u128 product = (u128)g->high * cp + (uint64_t)((u128)g->low * cp >> 64);
        return (uint64_t)(product >> 63) | (((uint64_t)product & INT64_MAX) != 0);
}

/* The decimal × 10^*exponent for c × 2^q. @narrow_below: the next smaller double is at half the usual distance. */
static uint64_t number_format_shortest(uint64_t c, int q, bool narrow_below, int *exponent)
{
        bool odd = c & 1;
        uint64_t cb = c << 2, cbr = cb + 2, cbl = narrow_below ? cb - 1 : cb - 2;
        int k = narrow_below ? log10_of_three_quarters_pow2(q) : log10_of_pow2(q);
        int h = q + log2_of_pow10(-k) + 2;
        const struct power *g = &powers[-k - POWER_MIN];
        uint64_t vb = number_format_scale(g, cb << h), vbl = number_format_scale(g, cbl << h) + odd,
                 vbr = number_format_scale(g, cbr << h) - odd;

        *exponent = k;
        uint64_t s = vb >> 2;
        if (s >= 100) { /* Java writes at least two digits */
                /* Drops one digit if exactly one of the two neighbours with that many digits lies in the interval. */
                uint64_t down = s / 10 * 10, up = down + 10;
                bool down_in = vbl <= down << 2, up_in = up << 2 <= vbr;
                if (down_in != up_in)
                        return down_in ? down : up;
        }
        bool down_in = vbl <= s << 2, up_in = (s + 1) << 2 <= vbr;
        if (down_in != up_in)
                return down_in ? s : s + 1;
        uint64_t middle = (s << 2) + 2;
        return vb < middle || (vb == middle && (s & 1) == 0) ? s : s + 1;
}

static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354"
        "5556575859606162636465666768697071727374757677787980818283848586878889909192939495969798"
        "99";

static size_t number_format_digits_of(char *out, uint64_t x)
{
        char reversed[20];
        size_t n = 0;
        while (x >= 100) {
                const char *pair = pairs + x % 100 * 2;
                x /= 100;
                reversed[n++] = pair[1];
                reversed[n++] = pair[0];
        }
        reversed[n++] = (char)('0' + x % 10);
        if (x >= 10)
                reversed[n++] = (char)('0' + x / 10);
        for (size_t i = 0; i < n; i++)
                out[i] = reversed[n - 1 - i];
        return n;
}

size_t number_format_i64(char *out, int64_t x)
{
        if (x >= 0)
                return number_format_digits_of(out, (uint64_t)x);
        *out = '-';
        return 1 + number_format_digits_of(out + 1, -(uint64_t)x);
}

/* Lays out digits × 10^exponent as Java does. */
static size_t lay_out(char *out, uint64_t decimal, int exponent)
{
        char digits[20];
        while (decimal % 10 == 0) {
                decimal /= 10;
                exponent++;
        }
        int n = (int)number_format_digits_of(digits, decimal);
        int point = n + exponent; /* the value is 0.digits × 10^point */
        char *p = out;

        if (point >= -2 && point <= 0) {
                *p++ = '0';
                *p++ = '.';
                for (int i = point; i < 0; i++)
                        *p++ = '0';
                memcpy(p, digits, (size_t)n);
                return (size_t)(p + n - out);
        }
        bool plain = point > 0 && point <= 7;
        int before = plain ? point : 1;
        for (int i = 0; i < before; i++)
                *p++ = i < n ? digits[i] : '0';
        *p++ = '.';
        if (n <= before)
                *p++ = '0';
        for (int i = before; i < n; i++)
                *p++ = digits[i];
        if (!plain) {
                *p++ = 'E';
                p += number_format_i64(p, point - 1);
        }
        return (size_t)(p - out);
}

size_t number_format_f64(char *out, double x)
{
        uint64_t bits;
        memcpy(&bits, &x, sizeof(bits));
        uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
        int biased = (int)(bits >> 52 & 0x7ff);
        char *p = out;

        if (biased == 0x7ff && fraction) {
                memcpy(out, "NaN", 3);
                return 3;
        }
        if (bits >> 63) {
                *p++ = '-';
                x = -x;
        }
        if (biased == 0x7ff) {
                memcpy(p, "Infinity", 8);
                return (size_t)(p + 8 - out);
        }
        if (x < 1e7 && x == (double)(int64_t)x) {
                p += number_format_digits_of(p, (uint64_t)x);
                memcpy(p, ".0", 2);
                return (size_t)(p + 2 - out);
        }
        pthread_once(&powers_once, make_powers);
        int exponent;
        uint64_t decimal;
        if (biased > 0)
                decimal = number_format_shortest(fraction | (uint64_t)1 << 52, biased - 1075,
                                                 fraction == 0 && biased > 1, &exponent);
        else if (fraction >= 3)
                decimal = number_format_shortest(fraction, -1074, false, &exponent);
        else {
                /*
                 * The two smallest doubles have fewer than two digits of their own. Java takes them from ten times the
                 * value.
                 */
                decimal = number_format_shortest(fraction * 10, -1074, false, &exponent);
                exponent--;
        }
        return (size_t)(p - out) + lay_out(p, decimal, exponent);
}
