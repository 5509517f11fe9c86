/*
 * Durations as Go writes them: "300ms", "-1.5h", "2h45m". Fields and flags of the genuine operator have this form.
 */
#pragma once

#include <stdint.h>

struct fst_error;

/*
 * Parses a possibly signed sequence of decimal numbers with a unit each (ns, us, µs, ms, s, m, h), or "0". Returns 0
 * with *@out in nanoseconds, or -EINVAL with the message of Go's time.ParseDuration, also if the value is out of range.
 */
int go_duration_parse(const char *text, int64_t *out, struct fst_error *error);
