/*
 * Parses cron expressions into a bit set per field, and finds occurrences.
 *
 * Occurrences are searched in local time, within the span of time in which one offset from UTC is valid: there local
 * time is UTC plus a constant, so the search is arithmetic of the calendar. If the result lies beyond the span, the
 * search starts again at the beginning of the next span. That yields exactly the instants whose local time matches.
 */
#include "operator/schedule/cron.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/schedule/civil_time.h"
#include "operator/schedule/go_duration.h"
#include "operator/schedule/time_zone.h"

#include <ctype.h>
#include <limits.h>
#include <strings.h>

enum cron_field_index { CRON_MINUTE, CRON_HOUR, CRON_DAY, CRON_MONTH, CRON_WEEKDAY, N_CRON_FIELDS };

#define STAR_BIT (UINT64_C(1) << 63) /* the field is unrestricted */
#define DAY_MINUTES (24 * 60)
#define LAST_MS INT64_C(221845392000000) /* the year 9000 */
#define MAX_YEARS 9                      /* two leap days are at most eight years apart */

struct cron {
        int64_t every; /* seconds; 0: the fields count */
        uint64_t fields[N_CRON_FIELDS];
        struct time_zone *zone;
};

struct cron_field {
        int min, max;
        const char *const *names; /* of the values from @min on, or NULL */
};

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                          "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct cron_field cron_fields[N_CRON_FIELDS] = {
        [CRON_MINUTE] = {0, 59},
        [CRON_HOUR] = {0, 23},
        [CRON_DAY] = {1, 31},
        [CRON_MONTH] = {1, 12, month_names},
        [CRON_WEEKDAY] = {0, 6, weekday_names},
};

static const struct {
        const char *name, *fields;
} cron_descriptors[] = {
        {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
        {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

/* ------------------------------------------------------------------------------------------------------- parsing */

static int cron_number(const char *text, int *out, struct fst_error *error)
{
        char *end = NULL;
        errno = 0;
        long value = strtol(text, &end, 10);
        bool syntax = *text && !*end && !isspace((unsigned char)text[0]);
        if (!syntax || errno || value > INT_MAX || value < INT_MIN)
                return error_set(error, -EINVAL, "failed to parse int from %s: strconv.Atoi: parsing \"%s\": %s", text,
                                 text, syntax ? "value out of range" : "invalid syntax");
        if (value < 0)
                return error_set(error, -EINVAL, "negative number (%ld) not allowed: %s", value, text);
        *out = (int)value;
        return 0;
}

static int cron_value(const struct cron_field *field, const char *text, int *out, struct fst_error *error)
{
        for (int i = 0; field->names && field->names[i]; i++)
                if (strcasecmp(field->names[i], text) == 0) {
                        *out = field->min + i;
                        return 0;
                }
        return cron_number(text, out, error);
}

/* Adds one element of a list, such as "1-30/5", to *@bits. */
static int cron_range(const struct cron_field *field, const char *text, uint64_t *bits, struct fst_error *error)
{
        _cleanup_free_ char *copy = mem_strdup(text);
        char *slash = strchr(copy, '/'), *step_text = slash ? slash + 1 : NULL;
        if (slash)
                *slash = '\0';
        if (step_text && strchr(step_text, '/'))
                return error_set(error, -EINVAL, "too many slashes: %s", text);
        char *hyphen = strchr(copy, '-'), *end_text = hyphen ? hyphen + 1 : NULL;
        if (hyphen)
                *hyphen = '\0';
        int start = field->min, end = field->max, step = 1, r = 0;
        uint64_t star = 0;
        if (strcmp(copy, "*") == 0 || strcmp(copy, "?") == 0) {
                star = STAR_BIT;
        } else {
                r = cron_value(field, copy, &start, error);
                if (r == 0 && end_text && strchr(end_text, '-'))
                        r = error_set(error, -EINVAL, "too many hyphens: %s", text);
                end = start;
                if (r == 0 && end_text)
                        r = cron_value(field, end_text, &end, error);
        }
        if (r == 0 && step_text) {
                r = cron_number(step_text, &step, error);
                if (!end_text)
                        end = field->max;
                if (step > 1)
                        star = 0;
        }
        if (r < 0)
                return r;
        if (start < field->min)
                return error_set(error, -EINVAL, "beginning of range (%d) below minimum (%d): %s", start, field->min,
                                 text);
        if (end > field->max)
                return error_set(error, -EINVAL, "end of range (%d) above maximum (%d): %s", end, field->max, text);
        if (start > end)
                return error_set(error, -EINVAL, "beginning of range (%d) beyond end of range (%d): %s", start, end,
                                 text);
        if (step == 0)
                return error_set(error, -EINVAL, "step of range should be a positive number: %s", text);
        for (int64_t i = start; i <= end; i += step)
                *bits |= UINT64_C(1) << i;
        *bits |= star;
        return 0;
}

static int cron_fields_parse(struct cron *c, const char *text, struct fst_error *error)
{
        _cleanup_free_ char *copy = mem_strdup(text);
        char *words[N_CRON_FIELDS + 1], *rest = copy, *word;
        int n = 0;
        while ((word = strtok_r(n == 0 ? copy : NULL, " \t\n\v\f\r", &rest))) {
                if (n < N_CRON_FIELDS)
                        words[n] = word;
                n++;
        }
        if (n != N_CRON_FIELDS)
                return error_set(error, -EINVAL, "expected exactly %d fields, found %d: %s", N_CRON_FIELDS, n, text);
        for (int i = 0; i < N_CRON_FIELDS; i++) {
                char *list = words[i], *element;
                bool any = false;
                while ((element = strsep(&list, ","))) {
                        if (!*element)
                                continue;
                        any = true;
                        int r = cron_range(&cron_fields[i], element, &c->fields[i], error);
                        if (r < 0)
                                return r;
                }
                if (!any)
                        return error_set(error, -EINVAL, "a field without a value: %s", text);
        }
        return 0;
}

static int cron_descriptor_parse(struct cron *c, const char *text, struct fst_error *error)
{
        static const char every[] = "@every ";
        for (size_t i = 0; i < ARRAY_SIZE(cron_descriptors); i++)
                if (strcmp(text, cron_descriptors[i].name) == 0)
                        return cron_fields_parse(c, cron_descriptors[i].fields, error);
        if (!text_starts_with(text, every))
                return error_set(error, -EINVAL, "unrecognized descriptor: %s", text);
        int64_t duration;
        int r = go_duration_parse(text + strlen(every), &duration, error);
        if (r < 0)
                return error_wrap(error, r, "failed to parse duration %s", text);
        c->every = MAX(duration / NS_PER_SECOND, (int64_t)1);
        return 0;
}

/* Splits a prefix "TZ=ZONE " from @text, which it moves. Sets *@zone, which the caller owns. */
static int cron_zone(const char **text, const char *fallback, char **zone, struct fst_error *error)
{
        if (!text_starts_with(*text, "TZ=") && !text_starts_with(*text, "CRON_TZ=")) {
                *zone = mem_strdup(fallback);
                return 0;
        }
        const char *value = strchr(*text, '=') + 1, *space = strchr(*text, ' ');
        if (!space)
                return error_set(error, -EINVAL, "a time zone without a schedule: %s", *text);
        *zone = mem_strndup(value, (size_t)(space - value));
        *text = space;
        return 0;
}

int cron_parse(const char *text, const char *zone, struct cron **out, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL, *copy = NULL;
        if (!*text)
                return error_set(error, -EINVAL, "empty spec string");
        const char *at = text;
        int r = cron_zone(&at, zone, &name, error);
        if (r < 0)
                return r;
        if (at != text) {
                copy = mem_strdup(at + strspn(at, " \t\n\v\f\r"));
                for (size_t n = strlen(copy); n > 0 && isspace((unsigned char)copy[n - 1]); n--)
                        copy[n - 1] = '\0';
                at = copy;
        }
        struct cron *c = new0(struct cron);
        r = time_zone_load(name, &c->zone, error);
        if (r < 0 && copy)
                error_wrap(error, r, "provided bad location %s", name);
        if (r == 0)
                r = *at == '@' ? cron_descriptor_parse(c, at, error) : cron_fields_parse(c, at, error);
        if (r < 0)
                cron_free(c);
        else
                *out = c;
        return r;
}

void cron_free(struct cron *c)
{
        if (!c)
                return;
        time_zone_free(c->zone);
        free(c);
}

/* --------------------------------------------------------------------------------------------------- occurrences */

static bool cron_day_matches(const struct cron *c, int64_t days, int day)
{
        uint64_t by_day = c->fields[CRON_DAY], by_weekday = c->fields[CRON_WEEKDAY];
        bool day_matches = by_day >> day & 1, weekday_matches = by_weekday >> weekday_of_days(days) & 1;
        if ((by_day | by_weekday) & STAR_BIT)
                return day_matches && weekday_matches;
        return day_matches || weekday_matches;
}

/* Returns the first matching minute of a day, from @minute on, or -1. */
static int cron_minute_of_day(const struct cron *c, int minute)
{
        for (int hour = minute / 60; hour < 24; hour++) {
                if (!(c->fields[CRON_HOUR] >> hour & 1))
                        continue;
                for (int i = hour == minute / 60 ? minute % 60 : 0; i < 60; i++)
                        if (c->fields[CRON_MINUTE] >> i & 1)
                                return hour * 60 + i;
        }
        return -1;
}

/*
 * Returns the first matching local minute from @minute on, both counted from 1970, or INT64_MAX if none lies before
 * @last_year ends. Local time is taken as an even count of minutes.
 */
static int64_t cron_local_minute(const struct cron *c, int64_t minute, int64_t last_year)
{
        int64_t days = minute / DAY_MINUTES - (minute % DAY_MINUTES < 0), year;
        int of_day = (int)(minute - days * DAY_MINUTES), month, day;
        civil_of_days(days, &year, &month, &day);
        while (year <= last_year) {
                if (!(c->fields[CRON_MONTH] >> month & 1)) {
                        days += days_in_month(year, month) - day + 1;
                        day = 1;
                        year += month == 12;
                        month = month % 12 + 1;
                        of_day = 0;
                        continue;
                }
                int found = cron_day_matches(c, days, day) ? cron_minute_of_day(c, of_day) : -1;
                if (found >= 0)
                        return days * DAY_MINUTES + found;
                of_day = 0;
                days++;
                if (++day > days_in_month(year, month)) {
                        day = 1;
                        year += month == 12;
                        month = month % 12 + 1;
                }
        }
        return INT64_MAX;
}

/* Division that rounds down. */
static int64_t floor_divide(int64_t a, int64_t b)
{
        return a / b - (a % b < 0);
}

int64_t cron_next(const struct cron *c, int64_t after)
{
        if (after > LAST_MS)
                return CRON_NEVER;
        after = MAX(after, -LAST_MS);
        int64_t now = floor_divide(after, 1000), year;
        int month, day;
        if (c->every > 0)
                return c->every > LAST_MS / 1000 ? CRON_NEVER : (now + c->every) * 1000;
        civil_of_days(floor_divide(now, DAY_MINUTES * 60), &year, &month, &day);
        for (int64_t at = now + 1; at < LAST_MS / 1000;) {
                int64_t until, offset = time_zone_at(c->zone, at, &until);
                int64_t minute = cron_local_minute(c, floor_divide(at + offset + 59, 60), year + MAX_YEARS);
                if (minute == INT64_MAX)
                        return CRON_NEVER;
                int64_t found = minute * 60 - offset;
                if (found < until)
                        return found * 1000;
                at = until;
        }
        return CRON_NEVER;
}
