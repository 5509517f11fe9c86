/* The status of a ScheduledSparkApplication. */
#pragma once

#include "base/string_list.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum schedule_state { SCHEDULE_NEW, SCHEDULE_SCHEDULED, SCHEDULE_FAILED_VALIDATION };

/* Owns its texts. Times are ms since 1970; 0 is absent. */
struct schedule_status {
        enum schedule_state state;
        char *reason; /* NULL: none */
        int64_t last_run_ms, next_run_ms;
        char *last_run_name;
        struct string_list successful, failed; /* names of past runs, newest first */
};

void schedule_status_deinit(struct schedule_status *s);
void schedule_status_copy(struct schedule_status *to, const struct schedule_status *from);
bool schedule_status_equal(const struct schedule_status *a, const struct schedule_status *b);

/* Reads the member `status` of an object. NULL and absent members read as a new schedule's. */
void schedule_status_read(const json_t *json, struct schedule_status *out);

/* Returns the status as the genuine operator writes it. The caller owns it. */
json_t *schedule_status_json(const struct schedule_status *s);
