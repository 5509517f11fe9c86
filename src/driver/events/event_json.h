/*
 * Events as the lines of Spark's event log: field names and their order are Spark 4.3's JsonProtocol's.
 *
 * Every function appends one whole line, "\n" included, to a buffer. Task events are written by task_json.h.
 * Text may be any bytes: what is not UTF-8 becomes U+FFFD. Nothing here allocates beyond the buffer.
 */
#pragma once

#include "driver/events/events.h"

#include "base/buf.h"

/* The version whose format this is; what the first line says. */
#define EVENT_JSON_SPARK_VERSION "4.3.0"

/* The value to log for a property: itself, or a placeholder for a secret. Borrowed. NULL: log all as they are. */
struct event_json_redact {
        const char *(*value)(void *context, const char *key, const char *value);
        void *context;
};

/* `"key":"value",…` in braces; NULL is {}. */
void event_json_map(struct buf *b, const struct strmap *map, const struct event_json_redact *redact);

/* SparkListenerLogStart, which begins every log. */
void event_json_log_start(struct buf *b);

void event_json_application_start(struct buf *b, const struct application_start *e);
void event_json_application_end(struct buf *b, const struct application_end *e);
void event_json_environment_update(struct buf *b, const struct environment_update *e,
                                   const struct event_json_redact *redact);
void event_json_resource_profile_added(struct buf *b, const struct resource_profile_added *e);
void event_json_block_manager_added(struct buf *b, const struct block_manager_added *e);
void event_json_block_manager_removed(struct buf *b, const struct block_manager_removed *e);
void event_json_executor_added(struct buf *b, const struct executor_added *e);
/* The peaks of an executor in one attempt of a stage. */
void event_json_stage_executor_metrics(struct buf *b, const char *executor_id, int stage_id, int stage_attempt,
                                       const struct executor_metrics *peaks);
void event_json_executor_removed(struct buf *b, const struct executor_removed *e);

/* Two lines, as Spark writes them: by the older name of the event and by the present one. */
void event_json_exclusion_changed(struct buf *b, const struct exclusion_changed *e);

void event_json_job_start(struct buf *b, const struct job_start *e, const struct event_json_redact *redact);
void event_json_job_end(struct buf *b, const struct job_end *e);
void event_json_stage_submitted(struct buf *b, const struct stage_submitted *e, const struct event_json_redact *redact);

/* @accumulables: the inside of the stage's "Accumulables" array, "" for none. */
void event_json_stage_completed(struct buf *b, const struct stage_completed *e, const char *accumulables);
void event_json_unpersist_rdd(struct buf *b, const struct unpersist_rdd *e);
void event_json_block_updated(struct buf *b, const struct block_updated *e);

/* Parts that task ends share with the above. */
void event_json_storage_level(struct buf *b, enum fst_storage_level level);
/* The same of a block: what of its level holds for where it is now. */
void event_json_block_level(struct buf *b, const struct block_update *block);
void event_json_block_manager(struct buf *b, const struct block_manager_ref *m);
