/*
 * Events as the lines of Spark's event log. Field names and their order are those of JsonProtocol in Spark 4.3.
 *
 * Every function appends one whole line with "\n" to a buffer. task_json.h writes task events. Text may have any bytes:
 * U+FFFD replaces invalid UTF-8. Only the buffer allocates memory.
 */
#pragma once

#include "events/events.h"

#include "base/buf.h"

/* The version of the format, written in the first line. */
#define EVENT_JSON_SPARK_VERSION "4.3.0"

/*
 * Returns the value to log for a property: the value itself, or a placeholder for a secret. Borrowed. NULL: log all
 * values unchanged.
 */
struct event_json_redact {
        const char *(*value)(void *context, const char *key, const char *value);
        void *context;
};

/* `"key":"value",…` in braces; NULL is {}. */
void event_json_map(struct buf *b, const struct strmap *map, const struct event_json_redact *redact);

/* SparkListenerLogStart, the first line of every log. */
void event_json_log_start(struct buf *b);

void event_json_application_start(struct buf *b, const struct application_start *e);
void event_json_application_end(struct buf *b, const struct application_end *e);
void event_json_environment_update(struct buf *b, const struct environment_update *e,
                                   const struct event_json_redact *redact);
void event_json_resource_profile_added(struct buf *b, const struct resource_profile_added *e);
void event_json_block_manager_added(struct buf *b, const struct block_manager_added *e);
void event_json_block_manager_removed(struct buf *b, const struct block_manager_removed *e);
void event_json_executor_added(struct buf *b, const struct executor_added *e);
/* The peak metrics of an executor during one attempt of a stage. */
void event_json_stage_executor_metrics(struct buf *b, const char *executor_id, int stage_id, int stage_attempt,
                                       const struct executor_metrics *peaks);
/* firesteel.NodeMetrics, which Spark skips: the node of an executor, after some @heartbeats. */
void event_json_node_metrics(struct buf *b, const char *executor_id, const struct node_counters *node, int heartbeats);
void event_json_executor_removed(struct buf *b, const struct executor_removed *e);

/* Appends two lines, like Spark: with the old and the current name of the event. */
void event_json_exclusion_changed(struct buf *b, const struct exclusion_changed *e);

void event_json_job_start(struct buf *b, const struct job_start *e, const struct event_json_redact *redact);
void event_json_job_end(struct buf *b, const struct job_end *e);
void event_json_stage_submitted(struct buf *b, const struct stage_submitted *e, const struct event_json_redact *redact);

/* @accumulables: the content of the stage's "Accumulables" array; "" for none. */
void event_json_stage_completed(struct buf *b, const struct stage_completed *e, const char *accumulables);
void event_json_unpersist_rdd(struct buf *b, const struct unpersist_rdd *e);
void event_json_block_updated(struct buf *b, const struct block_updated *e);

/* Parts that task ends also use. */
void event_json_storage_level(struct buf *b, enum fst_storage_level level);
/* The storage level of a block: the part of its level that applies to its current location. */
void event_json_block_level(struct buf *b, const struct block_update *block);
void event_json_block_manager(struct buf *b, const struct block_manager_ref *m);
