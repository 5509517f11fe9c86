/*
 * Sizes and durations; see units.h.
 *
 * Reads sign, digits and letters, and converts to the wanted unit through the smallest unit of the kind only as far as
 * that fits. Only error messages allocate memory.
 */
#include "conf/units.h"

#include "base/error.h"
#include "base/mem.h"

#include <ctype.h>

static const char *const unit_names[] = {
        [UNIT_NONE] = "",   [UNIT_B] = "bytes", [UNIT_KIB] = "KiB", [UNIT_MIB] = "MiB", [UNIT_GIB] = "GiB",
        [UNIT_TIB] = "TiB", [UNIT_PIB] = "PiB", [UNIT_NS] = "ns",   [UNIT_US] = "us",   [UNIT_MS] = "ms",
        [UNIT_S] = "s",     [UNIT_MIN] = "min", [UNIT_H] = "h",     [UNIT_D] = "d",
};

/* The size of each unit in the smallest unit of its kind (byte, nanosecond). */
static const int64_t unit_size[] = {
        [UNIT_NONE] = 1,
        [UNIT_B] = 1,
        [UNIT_KIB] = INT64_C(1) << 10,
        [UNIT_MIB] = INT64_C(1) << 20,
        [UNIT_GIB] = INT64_C(1) << 30,
        [UNIT_TIB] = INT64_C(1) << 40,
        [UNIT_PIB] = INT64_C(1) << 50,
        [UNIT_NS] = 1,
        [UNIT_US] = 1000,
        [UNIT_MS] = 1000 * 1000,
        [UNIT_S] = 1000 * 1000 * 1000,
        [UNIT_MIN] = INT64_C(60) * 1000 * 1000 * 1000,
        [UNIT_H] = INT64_C(3600) * 1000 * 1000 * 1000,
        [UNIT_D] = INT64_C(86400) * 1000 * 1000 * 1000,
};

struct unit_suffix {
        char text[4];
        uint8_t unit;
};

static const struct unit_suffix size_suffixes[] = {
        {"b", UNIT_B},     {"k", UNIT_KIB}, {"kb", UNIT_KIB}, {"kib", UNIT_KIB}, {"m", UNIT_MIB}, {"mb", UNIT_MIB},
        {"mib", UNIT_MIB}, {"g", UNIT_GIB}, {"gb", UNIT_GIB}, {"gib", UNIT_GIB}, {"t", UNIT_TIB}, {"tb", UNIT_TIB},
        {"tib", UNIT_TIB}, {"p", UNIT_PIB}, {"pb", UNIT_PIB}, {"pib", UNIT_PIB},
};

static const struct unit_suffix time_suffixes[] = {
        {"us", UNIT_US},   {"ms", UNIT_MS}, {"s", UNIT_S}, {"m", UNIT_MIN},
        {"min", UNIT_MIN}, {"h", UNIT_H},   {"d", UNIT_D},
};

const char *units_name(enum unit unit)
{
        return unit_names[unit];
}

/* A parsed value: @amount of @unit, or the reason why it is invalid. */
enum unit_parse_result { READ_OK, READ_FRACTION, READ_SUFFIX, READ_NUMBER, READ_RANGE };

struct unit_amount {
        int64_t value;
        enum unit unit;
        char suffix[16];
};

static bool units_is_blank(char c)
{
        return c != '\0' && (unsigned char)c <= ' ';
}

static enum unit_parse_result units_read_amount(const char *text, const struct unit_suffix *known, size_t n_known,
                                                enum unit bare, struct unit_amount *out)
{
        while (units_is_blank(*text))
                text++;
        bool negative = *text == '-';
        text += negative;
        if (!isdigit((unsigned char)*text))
                return READ_NUMBER;
        int64_t value = 0;
        bool range = false;
        for (; isdigit((unsigned char)*text); text++) {
                range |= __builtin_mul_overflow(value, 10, &value);
                range |= negative ? __builtin_sub_overflow(value, *text - '0', &value)
                                  : __builtin_add_overflow(value, *text - '0', &value);
        }
        if (*text == '.' && isdigit((unsigned char)text[1]))
                return READ_FRACTION;
        size_t n = 0;
        for (; isalpha((unsigned char)*text) && n < sizeof(out->suffix) - 1; text++)
                out->suffix[n++] = (char)tolower((unsigned char)*text);
        out->suffix[n] = '\0';
        while (units_is_blank(*text))
                text++;
        if (*text)
                return READ_NUMBER;
        out->value = value;
        out->unit = bare;
        if (n) {
                size_t i = 0;
                while (i < n_known && strcmp(known[i].text, out->suffix) != 0)
                        i++;
                if (i == n_known)
                        return READ_SUFFIX;
                out->unit = known[i].unit;
        }
        return range ? READ_RANGE : READ_OK;
}

/* Computes value × (size of from ÷ size of to), rounded towards zero. Returns true on overflow. */
static bool units_convert(int64_t value, enum unit from, enum unit to, int64_t *out)
{
        if (unit_size[from] < unit_size[to]) {
                *out = value / (unit_size[to] / unit_size[from]);
                return false;
        }
        return __builtin_mul_overflow(value, unit_size[from] / unit_size[to], out);
}

/* The suffixes of a kind of amount, and the messages for invalid ones. */
struct amount_kind {
        const struct unit_suffix *suffixes;
        size_t n_suffixes;
        const char *form, *range, *failure;
};

static int units_parse(const struct amount_kind *kind, const char *text, enum unit bare, enum unit wanted, int64_t *out,
                       struct fst_error *error)
{
        struct unit_amount amount = {0};
        enum unit_parse_result reading = units_read_amount(text, kind->suffixes, kind->n_suffixes, bare, &amount);
        int64_t value = 0;
        if (reading == READ_OK && units_convert(amount.value, amount.unit, wanted, &value))
                reading = READ_RANGE;
        switch (reading) {
        case READ_OK:
                *out = value;
                return 0;
        case READ_FRACTION:
                return error_set(error, -EINVAL, "%s\nFractional values are not supported. Input was: %s", kind->form,
                                 text);
        case READ_SUFFIX:
                return error_set(error, -EINVAL, "%s\nInvalid suffix: \"%s\"", kind->form, amount.suffix);
        case READ_RANGE:
                return error_set(error, -EINVAL, "%s\n%s. Input was: %s", kind->form, kind->range, text);
        default:
                return error_set(error, -EINVAL, "%s\n%s: %s", kind->form, kind->failure, text);
        }
}

int units_parse_bytes(const char *text, enum unit bare, enum unit wanted, int64_t *out, struct fst_error *error)
{
        static const struct amount_kind size = {
                .suffixes = size_suffixes,
                .n_suffixes = ARRAY_SIZE(size_suffixes),
                .form = "Size must be specified as bytes (b), kibibytes (k), mebibytes (m), gibibytes (g), "
                        "tebibytes (t), or pebibytes(p). E.g. 50b, 100k, or 250m.",
                .range = "The size exceeds 8 EiB",
                .failure = "Failed to parse byte string",
        };
        return units_parse(&size, text, bare, wanted, out, error);
}

int units_parse_time(const char *text, enum unit bare, enum unit wanted, int64_t *out, struct fst_error *error)
{
        static const struct amount_kind time = {
                .suffixes = time_suffixes,
                .n_suffixes = ARRAY_SIZE(time_suffixes),
                .form = "Time must be specified as seconds (s), milliseconds (ms), microseconds (us), "
                        "minutes (m or min), hour (h), or day (d). E.g. 50s, 100ms, or 250us.",
                .range = "The time is too long",
                .failure = "Failed to parse time string",
        };
        return units_parse(&time, text, bare, wanted, out, error);
}

void units_put_bytes(struct buf *out, int64_t bytes)
{
        static const char names[][4] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
        size_t i = ARRAY_SIZE(names) - 1;
        double unit = (double)(INT64_C(1) << 60);
        for (; i > 0 && (double)bytes < 2 * unit; i--)
                unit /= 1024;
        buf_printf(out, "%.1f %s", (double)bytes / unit, names[i]);
}
