/*
 * Reads TZif files: transitions until the last one of the file, then the rule of its footer (a POSIX TZ string).
 *
 * Only offsets matter here; names of zones and daylight-saving flags are skipped. Leap seconds are ignored, as Go does.
 */
#include "operator/schedule/time_zone.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/schedule/civil_time.h"

#include <limits.h>

#define MAX_ZONE_FILE (1u << 20)
#define MAX_OFFSET (26 * 3600) /* RFC 9636 allows -25 h to 26 h */
#define DAY 86400

/* A day of the year at which an offset begins, in the form of POSIX TZ strings. */
struct rule_date {
        char kind; /* 'M': @day of week @week in @month; 'J': day 1 to 365, never February 29; '0': day 0 to 365 */
        int month, week, day;
        int time; /* seconds after midnight, in local time before the change */
};

struct zone_rule {
        int standard, summer; /* offsets in seconds */
        bool has_summer;
        struct rule_date start, end; /* of summer */
};

struct zone_change {
        int64_t at; /* seconds since 1970 */
        int offset;
};

struct time_zone {
        int first; /* the offset before the first change */
        bool has_rule;
        struct zone_rule rule; /* from the last change on */
        size_t n;
        struct zone_change changes[];
};

/* -------------------------------------------------------------------------------------------------------- rules */

/* Parses an unsigned number of at most @max. Returns -1 if there is none. */
static int rule_number(const char **at, int max)
{
        const char *p = *at;
        int value = 0;
        for (; *p >= '0' && *p <= '9'; p++)
                if ((value = value * 10 + (*p - '0')) > max)
                        return -1;
        if (p == *at)
                return -1;
        *at = p;
        return value;
}

/* Parses [+-]hh[:mm[:ss]] into seconds. */
static bool rule_time(const char **at, int *out)
{
        const char *p = *at;
        int sign = *p == '-' ? -1 : 1;
        if (*p == '-' || *p == '+')
                p++;
        int value = rule_number(&p, 167) * 3600;
        if (value < 0)
                return false;
        for (int unit = 60; unit > 0 && *p == ':'; unit /= 60) {
                p++;
                int part = rule_number(&p, 59);
                if (part < 0)
                        return false;
                value += part * unit;
        }
        *out = sign * value;
        *at = p;
        return true;
}

static bool rule_name(const char **at)
{
        const char *p = *at;
        if (*p == '<') {
                size_t n = strcspn(p, ">");
                if (!p[n])
                        return false;
                *at = p + n + 1;
                return true;
        }
        while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'))
                p++;
        bool any = p > *at;
        *at = p;
        return any;
}

/* Parses ",M3.2.0/2", ",J60" or ",59". */
static bool rule_date_parse(const char **at, struct rule_date *d)
{
        const char *p = *at;
        if (*p++ != ',')
                return false;
        *d = (struct rule_date){.kind = *p == 'M' || *p == 'J' ? *p++ : '0', .time = 2 * 3600};
        if (d->kind == 'M') {
                d->month = rule_number(&p, 12);
                if (d->month < 1 || *p++ != '.')
                        return false;
                d->week = rule_number(&p, 5);
                if (d->week < 1 || *p++ != '.')
                        return false;
                d->day = rule_number(&p, 6);
        } else {
                d->day = rule_number(&p, 365);
        }
        if (d->day < 0 || (d->kind == 'J' && d->day < 1))
                return false;
        if (*p == '/') {
                p++;
                if (!rule_time(&p, &d->time))
                        return false;
        }
        *at = p;
        return true;
}

/* Parses a whole POSIX TZ string. Offsets in it are west-positive. */
static bool zone_rule_parse(const char *text, struct zone_rule *rule)
{
        const char *p = text;
        struct zone_rule r = {0};
        int west;
        if (!rule_name(&p) || !rule_time(&p, &west))
                return false;
        r.standard = -west;
        if (*p) {
                if (!rule_name(&p))
                        return false;
                r.summer = r.standard + 3600;
                if (*p && *p != ',') {
                        if (!rule_time(&p, &west))
                                return false;
                        r.summer = -west;
                }
                r.has_summer = true;
                if (!rule_date_parse(&p, &r.start) || !rule_date_parse(&p, &r.end))
                        return false;
        }
        if (*p || abs(r.standard) > MAX_OFFSET || abs(r.summer) > MAX_OFFSET)
                return false;
        *rule = r;
        return true;
}

/* Returns the local time of @d in @year, in seconds since 1970 as if local time were UTC. */
static int64_t rule_date_in(const struct rule_date *d, int64_t year)
{
        int64_t first = days_of_civil(year, 1, 1), day;
        if (d->kind == 'M') {
                int64_t month = days_of_civil(year, d->month, 1);
                day = month + (d->day - weekday_of_days(month) + 7) % 7 + (int64_t)(d->week - 1) * 7;
                if (day >= month + days_in_month(year, d->month))
                        day -= 7;
        } else if (d->kind == 'J') {
                day = first + d->day - 1 + (is_leap_year(year) && d->day >= 60);
        } else {
                day = first + d->day;
        }
        return day * DAY + d->time;
}

/* As time_zone_at, from the rule. The changes of the years around @at are sorted, and the last one up to @at counts. */
static int zone_rule_at(const struct zone_rule *r, int64_t at, int64_t *until)
{
        *until = INT64_MAX;
        if (!r->has_summer)
                return r->standard;
        int64_t year;
        int month, day;
        civil_of_days(at / DAY - (at % DAY < 0), &year, &month, &day);
        int64_t last = INT64_MIN;
        int offset = r->standard;
        for (int64_t y = year - 1; y <= year + 1; y++)
                for (int i = 0; i < 2; i++) {
                        int64_t when = i == 0 ? rule_date_in(&r->start, y) - r->standard
                                              : rule_date_in(&r->end, y) - r->summer;
                        if (when > at && when < *until)
                                *until = when;
                        if (when <= at && when >= last) {
                                last = when;
                                offset = i == 0 ? r->summer : r->standard;
                        }
                }
        return offset;
}

/* --------------------------------------------------------------------------------------------------------- files */

struct zone_header {
        char version;
        uint32_t isut, isstd, leap, times, types, chars;
};

static uint32_t zone_u32(const unsigned char *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t zone_i64(const unsigned char *p)
{
        return (int64_t)((uint64_t)zone_u32(p) << 32 | zone_u32(p + 4));
}

static bool zone_header_parse(const unsigned char *p, size_t n, struct zone_header *h)
{
        if (n < 44 || memcmp(p, "TZif", 4) != 0)
                return false;
        *h = (struct zone_header){.version = (char)p[4],
                                  .isut = zone_u32(p + 20),
                                  .isstd = zone_u32(p + 24),
                                  .leap = zone_u32(p + 28),
                                  .times = zone_u32(p + 32),
                                  .types = zone_u32(p + 36),
                                  .chars = zone_u32(p + 40)};
        return h->types > 0 && h->types <= 256 && h->times < MAX_ZONE_FILE && h->leap < MAX_ZONE_FILE &&
               h->chars < MAX_ZONE_FILE && h->isut <= 256 && h->isstd <= 256;
}

static size_t zone_block_size(const struct zone_header *h, size_t width)
{
        return h->times * (width + 1) + (size_t)h->types * 6 + h->chars + h->leap * (width + 4) + h->isstd + h->isut;
}

/* Reads the changes of a block with times of @width bytes. NULL: damaged. */
static struct time_zone *zone_block_read(const unsigned char *p, const struct zone_header *h, size_t width)
{
        const unsigned char *indexes = p + h->times * width, *types = indexes + h->times;
        struct time_zone *z = mem_zero(sizeof(*z) + h->times * sizeof(z->changes[0]));
        z->n = h->times;
        z->first = (int32_t)zone_u32(types);
        bool valid = abs(z->first) <= MAX_OFFSET;
        for (size_t i = 0; i < z->n && valid; i++) {
                struct zone_change *c = &z->changes[i];
                c->at = width == 8 ? zone_i64(p + i * 8) : (int32_t)zone_u32(p + i * 4);
                valid = indexes[i] < h->types && (i == 0 || c->at > c[-1].at);
                if (valid)
                        c->offset = (int32_t)zone_u32(types + (size_t)indexes[i] * 6);
                valid = valid && c->offset > -MAX_OFFSET && c->offset < MAX_OFFSET;
        }
        if (valid)
                return z;
        free(z);
        return NULL;
}

int time_zone_parse(const void *data, size_t n, struct time_zone **out, struct fst_error *error)
{
        const unsigned char *p = data, *end = p + n;
        struct zone_header h;
        size_t width = 4;
        if (!zone_header_parse(p, n, &h))
                return error_set(error, -EINVAL, "not a TZif file, or a damaged one");
        if (h.version >= '2') {
                size_t skip = 44 + zone_block_size(&h, 4);
                if (skip > n || !zone_header_parse(p + skip, n - skip, &h))
                        return error_set(error, -EINVAL, "a damaged TZif file: no second block");
                p += skip;
                width = 8;
        }
        p += 44;
        if (zone_block_size(&h, width) > (size_t)(end - p))
                return error_set(error, -EINVAL, "a truncated TZif file");
        struct time_zone *z = zone_block_read(p, &h, width);
        if (!z)
                return error_set(error, -EINVAL, "a damaged TZif file: an invalid transition");
        p += zone_block_size(&h, width);
        if (width == 8 && end - p > 2 && p[0] == '\n') {
                const unsigned char *line = memchr(p + 1, '\n', (size_t)(end - p - 1));
                _cleanup_free_ char *rule = line ? mem_strndup((const char *)p + 1, (size_t)(line - p - 1)) : NULL;
                z->has_rule = rule && *rule;
                if (z->has_rule && !zone_rule_parse(rule, &z->rule)) {
                        free(z);
                        return error_set(error, -EINVAL, "a TZif file with the invalid rule '%s'", rule);
                }
        }
        *out = z;
        return 0;
}

static int time_zone_read(const char *path, const char *name, struct time_zone **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf data = BUF_INIT;
        int r = file_text_read(path, MAX_ZONE_FILE, &data, error);
        if (r == -ENOENT || r == -ENOTDIR || r == -EISDIR)
                return error_set(error, -ENOENT, "unknown time zone %s (no file %s: is tzdata installed?)", name, path);
        if (r == 0)
                r = time_zone_parse(data.data, data.len, out, error);
        return r < 0 ? error_wrap(error, r, "time zone %s", name) : 0;
}

/* UTC: no changes, no rule. */
static int time_zone_utc(struct time_zone **out)
{
        *out = mem_zero(sizeof(struct time_zone));
        return 0;
}

/* The zone of this process: TZ names a file, a zone or a rule. */
static int time_zone_local(struct time_zone **out, struct fst_error *error)
{
        const char *tz = getenv("TZ");
        if (tz && *tz == ':')
                tz++;
        if (!tz) {
                int r = time_zone_read("/etc/localtime", "Local", out, error);
                return r == -ENOENT ? time_zone_utc(out) : r;
        }
        if (tz[0] == '/')
                return time_zone_read(tz, tz, out, error);
        struct zone_rule rule;
        if (zone_rule_parse(tz, &rule)) {
                time_zone_utc(out);
                (*out)->has_rule = true;
                (*out)->rule = rule;
                return 0;
        }
        return strcmp(tz, "Local") == 0 ? time_zone_utc(out) : time_zone_load(tz, out, error);
}

int time_zone_load(const char *name, struct time_zone **out, struct fst_error *error)
{
        if (!*name || strcmp(name, "UTC") == 0)
                return time_zone_utc(out);
        if (strcmp(name, "Local") == 0)
                return time_zone_local(out, error);
        if (name[0] == '/' || strchr(name, '\\') || strstr(name, "..") || strlen(name) > NAME_MAX)
                return error_set(error, -EINVAL, "time: invalid location name '%s' (write an IANA name, Europe/Berlin)",
                                 name);
        const char *folder = getenv("TZDIR");
        _cleanup_free_ char *path = mem_printf("%s/%s", folder && *folder ? folder : "/usr/share/zoneinfo", name);
        return time_zone_read(path, name, out, error);
}

void time_zone_free(struct time_zone *zone)
{
        free(zone);
}

int time_zone_at(const struct time_zone *z, int64_t at, int64_t *until)
{
        size_t low = 0, high = z->n; /* the number of changes up to @at */
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (z->changes[middle].at <= at)
                        low = middle + 1;
                else
                        high = middle;
        }
        if (low == z->n && z->has_rule)
                return zone_rule_at(&z->rule, at, until);
        *until = low < z->n ? z->changes[low].at : INT64_MAX;
        return low == 0 ? z->first : z->changes[low - 1].offset;
}
