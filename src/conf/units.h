/*
 * Sizes and durations in Spark's notation: "64k", "1g", "30s", "2h", or a bare number in the key's unit. Upper and
 * lower case are equal, blanks around the whole are ignored, fractions are refused.
 *
 *      size    b  k kb kib  m mb mib  g gb gib  t tb tib  p pb pib      (powers of 1024)
 *      time    us  ms  s  m min  h  d
 *
 * The rules are those of Spark's JavaUtils. Differs from Spark: a value that exceeds 64 bits is refused, where Spark
 * silently takes the longest time.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct fst_error;

enum unit {
        UNIT_NONE,
        UNIT_B,
        UNIT_KIB,
        UNIT_MIB,
        UNIT_GIB,
        UNIT_TIB,
        UNIT_PIB,
        UNIT_NS,
        UNIT_US,
        UNIT_MS,
        UNIT_S,
        UNIT_MIN,
        UNIT_H,
        UNIT_D,
};

/*
 * Parse @text, in the unit @bare if it names none, and convert it to @wanted, rounded towards zero as in Spark (999us
 * is 0 ms). Both units are of the same kind. Returns 0, or -EINVAL with @error and *@out unchanged. Accepts a leading
 * minus: in Spark -1 disables some keys.
 */
int units_parse_bytes(const char *text, enum unit bare, enum unit wanted, int64_t *out, struct fst_error *error);
int units_parse_time(const char *text, enum unit bare, enum unit wanted, int64_t *out, struct fst_error *error);

/* "bytes", "KiB", "ms", "s", …: for messages and for the table of keys. "" for UNIT_NONE. */
const char *units_name(enum unit unit);

/* Append a size in the form of Spark's log: "2.0 MiB", "1500.0 B", "12.1 EiB". */
void units_put_bytes(struct buf *out, int64_t bytes);
