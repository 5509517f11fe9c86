/*
 * Revisions as Ivy orders and matches them: its latest-revision strategy, Maven's and Ivy's ranges, "1.2.+" and
 * "latest.integration".
 */
#pragma once

#include <stdbool.h>

/*
 * Which is later: negative, 0 or positive as for strcmp. Parts are divided by . _ - + and between digits and letters;
 * numbers by value, a number after a word, "dev" before and "rc" and "final" after other words, a longer one later if
 * its next part is a number and earlier if it is a word.
 */
int revision_compare(const char *a, const char *b);

/* Whether it names a choice: a range, a prefix with +, latest.STATUS. Timestamped snapshots are not among them. */
bool revision_is_dynamic(const char *revision);

/* Whether @found is what @asked allows; for one that is not dynamic: the same. "latest." allows all. */
bool revision_accepts(const char *asked, const char *found);

/* Whether only the module's status can tell (latest.release, latest.milestone). @status is "release" or "integration".
 */
bool revision_needs_status(const char *asked);
bool revision_accepts_status(const char *asked, const char *status);
