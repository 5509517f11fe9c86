/* Prints Ivy's report of a resolution, equal line by line except for times. */
#pragma once

#include "ivy/finder.h"

struct report {
        struct names *names;
        const struct graph *graph;
        const struct ivy_downloads *downloads;
        long resolve_ms, download_ms;
        void (*say)(void *context, const char *line);
        void *context;
};

/* ":: resolution report ::" with used modules, evicted modules and the table. */
void report_resolution(const struct report *r);

/* Appends missing modules and missing jars to the finder's warnings. */
void report_problems(const struct report *r, struct finder *f);

/* ":: problems summary ::", if there were problems. */
void report_warnings(const struct report *r, const struct finder *f);

/* "[unresolved dependency: a#b;1.0: not found, download failed: …]", or NULL without problems. In the arena. */
const char *report_failure(const struct report *r);
