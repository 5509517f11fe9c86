/* Parses Go's durations. Fractions are cut to whole nanoseconds, as Go does. */
#include "operator/schedule/go_duration.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <stdbool.h>

static const struct {
        const char *name;
        int64_t ns;
} duration_units[] = {
        {"ns", 1},           {"us", 1000},         {"\xc2\xb5s", 1000}, /* U+00B5, micro sign */
        {"\xce\xbcs", 1000},                                            /* U+03BC, Greek mu */
        {"ms", NS_PER_MS},   {"s", NS_PER_SECOND}, {"m", 60 * NS_PER_SECOND}, {"h", 3600 * NS_PER_SECOND},
};

/* Returns the nanoseconds of the unit with the name @text[0, n), or 0. */
static int64_t duration_unit(const char *text, size_t n)
{
        for (size_t i = 0; i < ARRAY_SIZE(duration_units); i++)
                if (strlen(duration_units[i].name) == n && memcmp(duration_units[i].name, text, n) == 0)
                        return duration_units[i].ns;
        return 0;
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* Adds one number with its unit at *@at to *@sum, and moves *@at behind it. Returns NULL, or the reason of a failure.
 */
static const char *duration_add_part(const char **at, int64_t *sum)
{
        const char *p = *at;
        int64_t whole = 0, part;
        double fraction = 0, digit = 1;
        bool any = false;
        for (; is_digit(*p); p++, any = true)
                if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *p - '0', &whole))
                        return "invalid";
        if (*p == '.')
                for (p++; is_digit(*p); p++, any = true)
                        fraction += (*p - '0') * (digit /= 10);
        if (!any)
                return "invalid";
        size_t n = 0;
        while (p[n] && p[n] != '.' && !is_digit(p[n]))
                n++;
        if (n == 0)
                return "missing unit";
        int64_t unit = duration_unit(p, n);
        if (unit == 0)
                return "unknown unit";
        if (__builtin_mul_overflow(whole, unit, &part) || __builtin_add_overflow(*sum, part, sum) ||
            __builtin_add_overflow(*sum, (int64_t)(fraction * (double)unit), sum))
                return "invalid";
        *at = p + n;
        return NULL;
}

int go_duration_parse(const char *text, int64_t *out, struct fst_error *error)
{
        const char *p = text, *reason = NULL;
        int64_t sum = 0;
        bool negative = *p == '-';
        if (*p == '-' || *p == '+')
                p++;
        if (strcmp(p, "0") == 0) {
                *out = 0;
                return 0;
        }
        if (!*p)
                reason = "invalid";
        while (*p && !reason)
                reason = duration_add_part(&p, &sum);
        if (!reason) {
                *out = negative ? -sum : sum;
                return 0;
        }
        if (strcmp(reason, "invalid") == 0)
                return error_set(error, -EINVAL, "time: invalid duration \"%s\"", text);
        return error_set(error, -EINVAL, "time: %s in duration \"%s\" (write, for example, 1h30m or 90s)", reason,
                         text);
}
