/*
 * Cron expressions: the syntax of the field `schedule` of a ScheduledSparkApplication.
 *
 *      r = cron_parse("CRON_TZ=Europe/Berlin 0 3 * * 1-5", zone, &cron, error);
 *      next = cron_next(cron, now_ms);
 *      cron_free(cron);
 *
 * Five fields (minute, hour, day of month, month, day of week), each a list of `*`, `?`, numbers or names (JAN, MON),
 * ranges `a-b`, and steps (a range, `*` or a number, then a slash and the step). Or @yearly, @annually, @monthly,
 * @weekly, @daily, @midnight, @hourly, or `@every 1h30m`. A prefix `CRON_TZ=ZONE ` or `TZ=ZONE ` names the zone. If day
 * of month and day of week are both restricted, either suffices. Texts and meaning are those of robfig/cron, which the
 * genuine operator uses: a local time that daylight saving skips does not occur, one that it repeats occurs twice.
 *
 * A schedule is constant after it is parsed.
 */
#pragma once

#include <stdint.h>

struct cron;
struct fst_error;

/*
 * @zone is an IANA name, "Local" or "" (UTC); a prefix of @text wins. Returns 0, or negative with @error: -EINVAL for
 * an invalid expression, with the message of robfig/cron, else the codes of time_zone_load.
 */
int cron_parse(const char *text, const char *zone, struct cron **out, struct fst_error *error);
void cron_free(struct cron *cron); /* NULL is allowed */

#define CRON_NEVER INT64_MAX

/*
 * Returns the first occurrence after @after, both in ms since 1970. CRON_NEVER: the schedule has none (February 30), or
 * @after is beyond the year 9000.
 */
int64_t cron_next(const struct cron *cron, int64_t after);
