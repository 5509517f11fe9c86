/* Times of day as Kubernetes writes them: "2026-11-28T07:44:13Z". */
#pragma once

#include <stdint.h>

#define RFC3339_TEXT 32 /* with the NUL */

/* Writes @ms since 1970 in UTC, without a fraction of a second. */
void rfc3339_format(int64_t ms, char text[static RFC3339_TEXT]);

/* Returns ms since 1970, or 0 for NULL and for a text that is not a time. Accepts fractions and offsets. */
int64_t rfc3339_parse(const char *text);
