/*
 * What Ivy prints about a resolution, line for line but for times.
 */
#pragma once

#include "ivy/finder.h"

struct report {
        struct names *names;
        const struct graph *graph;
        const struct downloads *downloads;
        long resolve_ms, download_ms;
        void (*say)(void *context, const char *line);
        void *context;
};

/* ":: resolution report ::" with modules in use, those evicted, and the table. */
void report_resolution(const struct report *r);

/* Those without a module and jars without a file, as warnings: appended to the finder's. */
void report_problems(const struct report *r, struct finder *f);

/* ":: problems summary ::", if there were any. */
void report_warnings(const struct report *r, const struct finder *f);

/* "[unresolved dependency: a#b;1.0: not found, download failed: …]", or NULL if all went well. In the arena. */
const char *report_failure(const struct report *r);
