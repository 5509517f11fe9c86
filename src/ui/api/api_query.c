/* The parameters of /api/v1, and how their errors are answered; see api_internal.h. */
#include "base/mem.h"
#include "ui/api/api_internal.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>

bool api_get_int(struct api_call *c, const char *name, int *value)
{
        const char *text = form_get(c->q->query, name);
        char *end;
        if (!text || !*text)
                return true;
        errno = 0;
        long number = strtol(text, &end, 10);
        if (*end || isspace((unsigned char)*text) || errno || number < INT32_MIN || number > INT32_MAX) {
                api_fail_parameter(c);
                return false;
        }
        *value = (int)number;
        return true;
}

bool api_get_flag(const struct api_call *c, const char *name, bool otherwise)
{
        const char *text = form_get(c->q->query, name);
        return text ? strcasecmp(text, "true") == 0 : otherwise;
}

bool api_get_set(struct api_call *c, const char *name, const char *const *names, size_t n, uint32_t *bits)
{
        *bits = 0;
        for (size_t i = 0; i < c->q->query->fields.len; i++) {
                const struct form_field *field = &c->q->query->fields.data[i];
                size_t k = 0;
                if (strcmp(field->name, name) != 0)
                        continue;
                while (k < n && strcasecmp(field->value, names[k]) != 0)
                        k++;
                if (k == n) {
                        api_fail_parameter(c);
                        return false;
                }
                *bits |= UINT32_C(1) << k;
        }
        return true;
}

/* ---------------------------------------------------------------------------------------------------- dates */

/* Parses digits and the character that follows them ('\0': any). Returns false if there are none. */
static bool api_date_number(const char **at, char behind, long *out)
{
        char *end;
        if (!isdigit((unsigned char)**at))
                return false;
        errno = 0;
        *out = strtol(*at, &end, 10);
        if (errno || *out > 1000000 || (behind && *end != behind))
                return false;
        *at = end + (behind != 0);
        return true;
}

/* Parses "GMT", "UTC", "Z", "-0500", "GMT-05:00" and the zones of the United States. Sets minutes east of Greenwich. */
static bool api_date_zone(const char *at, long *minutes)
{
        static const struct {
                const char *name;
                int hours;
        } zones[] = {{"UTC", 0},  {"EST", -5}, {"EDT", -4}, {"CST", -6}, {"CDT", -5},
                     {"MST", -7}, {"MDT", -6}, {"PST", -8}, {"PDT", -7}};
        int hours, rest = 0;
        char sign;
        for (size_t i = 0; i < ARRAY_SIZE(zones); i++)
                if (strncasecmp(at, zones[i].name, 3) == 0) {
                        *minutes = zones[i].hours * 60;
                        return true;
                }
        bool is_gmt = strncasecmp(at, "GMT", 3) == 0;
        at += is_gmt ? 3 : 0;
        if (sscanf(at, "%c%2d:%2d", &sign, &hours, &rest) < 3 && sscanf(at, "%c%2d%2d", &sign, &hours, &rest) < 2) {
                *minutes = 0;
                return is_gmt;
        }
        if ((sign != '+' && sign != '-') || hours < 0 || rest < 0) {
                *minutes = 0;
                return is_gmt;
        }
        *minutes = (hours * 60 + rest) * (sign == '-' ? -1 : 1);
        return true;
}

/* As Java's lenient SimpleDateFormat: a month of 13 is January of the next year, and a text may follow. */
static bool api_parse_date(const char *text, int64_t *ms)
{
        long year, month, day, hour, minute, second, milli, zone;
        const char *at = text;
        if (!api_date_number(&at, '-', &year) || !api_date_number(&at, '-', &month) || !api_date_number(&at, 0, &day))
                return false;
        struct tm tm = {.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day};
        *ms = (int64_t)timegm(&tm) * 1000;
        if (*at++ != 'T' || !api_date_number(&at, ':', &hour) || !api_date_number(&at, ':', &minute) ||
            !api_date_number(&at, '.', &second) || !api_date_number(&at, 0, &milli) || !api_date_zone(at, &zone))
                return true;
        *ms += ((hour * 60 + minute - zone) * 60 + second) * INT64_C(1000) + milli;
        return true;
}

bool api_get_date(struct api_call *c, const char *name, int64_t *ms)
{
        const char *text = form_get(c->q->query, name);
        if (!text || !*text || api_parse_date(text, ms))
                return true;
        api_fail(c, 400, "Couldn't parse date: %s", text);
        c->a->type = "application/json";
        return false;
}

/* ------------------------------------------------------------------------------------------------- quantiles */

static int api_quantile_compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

/* A double as Java reads it: blanks around it and a letter d or f behind it are allowed. */
static bool api_parse_double(const char *text, double *out)
{
        char *end;
        while (isspace((unsigned char)*text))
                text++;
        if (!isdigit((unsigned char)*text) && !strchr("+-.NI", *text))
                return false;
        *out = strtod(text, &end);
        if (end == text)
                return false;
        if (*end && strchr("dDfF", *end))
                end++;
        while (isspace((unsigned char)*end))
                end++;
        return *end == '\0';
}

bool api_get_quantiles(struct api_call *c, const char *otherwise, struct api_quantiles *out)
{
        const char *text = form_get(c->q->query, "quantiles");
        if (!text)
                text = otherwise;
        size_t length = strlen(text);
        while (length > 0 && text[length - 1] == ',') /* Java drops empty parts at the end */
                length--;
        const char *end = text + length;
        out->n = 0;
        do {
                const char *comma = memchr(text, ',', (size_t)(end - text));
                _cleanup_free_ char *part = mem_strndup(text, (size_t)((comma ? comma : end) - text));
                if (out->n == API_MAX_QUANTILES || !api_parse_double(part, &out->values[out->n]) ||
                    isnan(out->values[out->n])) {
                        api_fail(c, 400, "Bad value for parameter \"quantiles\".  Expected a double, got \"%s\"", part);
                        return false;
                }
                out->n++;
                text = comma ? comma + 1 : NULL;
        } while (text);
        qsort(out->values, out->n, sizeof(double), api_quantile_compare);
        return true;
}

int api_path_number(const char **at, int *number)
{
        const char *digits = *at + 1;
        size_t n = **at == '/' ? strspn(digits, "0123456789") : 0;
        if (n == 0 || (digits[n] && digits[n] != '/'))
                return 0;
        errno = 0;
        long value = strtol(digits, NULL, 10);
        if (errno || value > INT32_MAX)
                return -1;
        *number = (int)value;
        *at = digits + n;
        return 1;
}
