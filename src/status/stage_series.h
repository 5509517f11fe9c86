/*
 * The course of a stage: its time in equal slices, and for each the tasks that ended in it. One pass over some columns
 * of the tasks, or of a sample if there are more than 250,000.
 */
#pragma once

#include "status/status.h"

enum { SERIES_SLICES = 60, SERIES_PERCENTILES = 3 };

struct series_slice {
        double running;                    /* tasks, on average */
        int64_t ended, failed;             /* tasks */
        int64_t read_bytes, written_bytes; /* by tasks that ended: input and shuffle read, output and shuffle write */
        /* Durations of successful tasks in ms, to 10 %: 50, 95 and 100 %. 0: none ended. */
        int64_t percentiles[SERIES_PERCENTILES];
};

struct stage_series {
        int64_t begin_ms, end_ms;
        size_t n; /* slices; 0: no task */
        struct series_slice slices[SERIES_SLICES];
};

/* @now_ms ends a stage that runs. Tasks that were removed are missing. */
void stage_series_make(const struct status_stage *stage, int64_t now_ms, struct stage_series *out);
