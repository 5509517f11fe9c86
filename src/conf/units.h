/*
 * Sizes and durations as Spark writes them: "64k", "1g", "30s", "2h", or a bare number in a unit that the key
 * decides. Letters of either case, blanks around the whole are ignored, fractions are refused.
 *
 *      size    b  k kb kib  m mb mib  g gb gib  t tb tib  p pb pib      (powers of 1024)
 *      time    us  ms  s  m min  h  d
 *
 * The rules are those of Spark's JavaUtils, with one departure: a value that does not fit into 64 bits is
 * refused, where Spark silently takes the longest time that it can represent.
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
 * Read @text, whose unit is @bare if it names none, and express it in @wanted (rounded towards zero, as Spark
 * does: 999us is 0 ms). Both units are of the same kind. 0, or -EINVAL with @error and *@out untouched. A
 * leading minus is allowed: Spark has keys where -1 switches something off.
 */
int units_parse_bytes(const char *text, enum unit bare, enum unit wanted, int64_t *out, struct fst_error *error);
int units_parse_time(const char *text, enum unit bare, enum unit wanted, int64_t *out, struct fst_error *error);

/* "bytes", "KiB", "ms", "s", …: for messages and for the table of keys. UNIT_NONE is "". */
const char *units_name(enum unit unit);

/* Append a size for people, as Spark's log does: "2.0 MiB", "1500.0 B", "12.1 EiB". */
void units_put_bytes(struct buf *out, int64_t bytes);

/* Append a duration for people, as Spark's log does: "123 ms", "1.5 s", "2.0 m", "10.00 h". */
void units_put_ms(struct buf *out, int64_t ms);
