/*
 * Time zones from the system's tz database (TZif files, RFC 9636), read by us: the C library knows only one zone per
 * process, which setenv("TZ") changes for all threads.
 *
 *      r = time_zone_load("Europe/Berlin", &zone, error);
 *      offset = time_zone_at(zone, seconds, &until);
 *      time_zone_free(zone);
 *
 * A zone is constant after it is loaded: any number of threads may read it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct time_zone;

/*
 * Loads a zone by its IANA name. "" and "UTC" are UTC, "Local" is the zone of this process (TZ, else /etc/localtime,
 * else UTC), as in Go. The files are in TZDIR, else /usr/share/zoneinfo. Returns 0, -EINVAL with @error for a name that
 * is not one, -ENOENT for an unknown zone, or another negative code for an unreadable or damaged file.
 */
int time_zone_load(const char *name, struct time_zone **out, struct fst_error *error);

/* Reads the content of a TZif file. Returns 0, or -EINVAL with @error if it is damaged. */
int time_zone_parse(const void *data, size_t n, struct time_zone **out, struct fst_error *error);

void time_zone_free(struct time_zone *zone); /* NULL is allowed */

/*
 * Returns the offset from UTC in seconds (east is positive) at @at, in seconds since 1970. Sets *@until to the time at
 * which another offset begins, or to INT64_MAX. @until is always above @at.
 */
int time_zone_at(const struct time_zone *zone, int64_t at, int64_t *until);
