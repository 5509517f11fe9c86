/*
 * Ivy's order and matching of revisions: its latest-revision strategy, Maven's and Ivy's ranges, "1.2.+" and
 * "latest.integration".
 */
#pragma once

#include <stdbool.h>

/*
 * Compares two revisions: negative, 0 or positive as strcmp. Parts are separated by . _ - + and between digits and
 * letters. Numbers compare by value, and a number is later than a word. "dev" precedes other words, "rc" and "final"
 * follow them. A longer revision is later if its next part is a number, and earlier if it is a word.
 */
int revision_compare(const char *a, const char *b);

/* Whether the revision is dynamic: a range, a prefix with +, latest.STATUS. Timestamped snapshots are not dynamic. */
bool revision_is_dynamic(const char *revision);

/* Whether @asked allows @found. A revision that is not dynamic allows only itself, "latest." allows all. */
bool revision_accepts(const char *asked, const char *found);

/*
 * Whether only the module's status decides (latest.release, latest.milestone). @status is "release" or "integration".
 */
bool revision_needs_status(const char *asked);
bool revision_accepts_status(const char *asked, const char *status);
