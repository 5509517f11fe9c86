/* Quantities by the rules of fabric8's Quantity, which Spark 4.3 uses. */
#include "kubernetes/api/quantity.h"

#include "base/error.h"
#include "base/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

__extension__ typedef __int128 wide;

#define SCALE 9 /* decimal places of the result */
#define FAR 60  /* beyond this power of ten a value is the maximum or zero */

/* Returns the start of the unit. */
static size_t unit_at(const char *text)
{
        return strcspn(text, "EGKMPTeikmnu");
}

int quantity_check(const char *text, struct fst_error *error)
{
        const char *unit = text + unit_at(text);
        size_t n = strlen(unit);
        if (!*text)
                return error_set(error, -EINVAL, "Invalid quantity string format passed.");
        if (unit[strcspn(unit, "0123456789")] && isalpha((unsigned char)unit[n - 1]))
                return error_set(error, -EINVAL, "Invalid quantity string format passed");
        return 0;
}

/* Parses @number in billionths, saturating. Returns false if it is not a number. */
static bool quantity_read_decimal(const char *number, size_t n, wide *out)
{
        const wide most = (wide)1 << 100;
        bool minus = n && *number == '-', dot = false, digits = false;
        int places = 0;
        wide value = 0;
        for (size_t i = n && (*number == '-' || *number == '+'); i < n; i++) {
                if (number[i] == '.' && !dot) {
                        dot = true;
                        continue;
                }
                if (!isdigit((unsigned char)number[i]))
                        return false;
                digits = true;
                if (places == SCALE)
                        continue;
                places += dot;
                value = MIN(value * 10 + (number[i] - '0'), most);
        }
        for (; places < SCALE; places++)
                value = MIN(value * 10, most);
        *out = minus ? -value : value;
        return digits;
}

static const struct {
        const char *name;
        int tens, twos;
} units[] = {
        {"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},   {"M", 6, 0},
        {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},  {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20},
        {"Gi", 0, 30}, {"Ti", 0, 40}, {"Pi", 0, 50}, {"Ei", 0, 60},
};

static bool read_unit(const char *text, int *tens, int *twos)
{
        if ((*text == 'e' || *text == 'E') && text[1] && !text[strspn(text, "eE+-0123456789")]) {
                long exponent = strtol(text + 1, NULL, 10);
                *tens = (int)MAX(MIN(exponent, FAR), -FAR);
                *twos = 0;
                return true;
        }
        for (size_t i = 0; i < ARRAY_SIZE(units); i++)
                if (strcmp(units[i].name, text) == 0) {
                        *tens = units[i].tens;
                        *twos = units[i].twos;
                        return true;
                }
        return false;
}

/* Returns @value times @factor, saturating. */
static wide multiply_saturated(wide value, int factor)
{
        const wide most = (wide)1 << 120;
        if (value > most / factor)
                return most;
        return value < -most / factor ? -most : value * factor;
}

static int read_quantity(const char *text, wide *out, struct fst_error *error)
{
        size_t n = unit_at(text);
        int tens, twos;
        if (!read_unit(text + n, &tens, &twos))
                return error_set(error, -EINVAL, "Invalid quantity format passed to parse");
        if (!quantity_read_decimal(text, n, out))
                return error_set(error, -EINVAL,
                                 "'%s' is not a valid quantity (write a number and a unit, such as 500m or 2)", text);
        for (; tens > 0; tens--)
                *out = multiply_saturated(*out, 10);
        for (; tens < 0; tens++)
                *out /= 10;
        for (; twos > 0; twos--)
                *out = multiply_saturated(*out, 2);
        return 0;
}

int quantity_compare(const char *a, const char *b, int *order, struct fst_error *error)
{
        wide left, right;
        int r = read_quantity(a, &left, error);
        if (r == 0)
                r = read_quantity(b, &right, error);
        if (r == 0)
                *order = (left > right) - (left < right);
        return r;
}

int quantity_read(const char *text, int places, int64_t *out, struct fst_error *error)
{
        wide value = 0;
        int r = read_quantity(text, &value, error);
        for (int i = places; r == 0 && i < SCALE; i++)
                value /= 10;
        if (r == 0)
                *out = value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
        return r;
}
