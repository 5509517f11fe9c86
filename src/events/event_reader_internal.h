/* Shared by event_reader.c, which reads most events, event_parts.c, and task_reader.c, which reads those of tasks. */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash_table.h"
#include "base/vec.h"
#include "events/event_reader.h"
#include "text/json_cursor.h"

enum { EVENT_READER_MAPS = 8 };

struct event_reader {
        struct event_reader_options options;
        struct event_reader_counts counts;
        char *data; /* the text that has not been read */
        size_t begin, len, cap;
        struct buf line;                       /* the present one, for on_line */
        bool skips_line;                       /* the rest of a line that was too long */
        struct arena arena;                    /* what the current event points to */
        struct strmap maps[EVENT_READER_MAPS]; /* those of the current event */
        size_t n_maps;
        struct log_event event;

        struct arena names; /* executors and classes */
        struct object_table executors;
        const struct executor_ref *last_executor;
        VEC(const char *) unknown;
        bool has_excluded; /* the log has the new names of exclusion events, so the old ones repeat them */
};

/* Returns the executor with this id and host. */
const struct executor_ref *event_reader_executor(struct event_reader *r, const char *id, const char *host);

/* Read the rest of a line of a task event into r->event. Return false with c->problem. */
bool task_reader_start(struct event_reader *r, struct json_cursor *c);
bool task_reader_getting_result(struct event_reader *r, struct json_cursor *c);
bool task_reader_end(struct event_reader *r, struct json_cursor *c);

/* Fields of block_manager_ref, executor_peaks and stage_info. */
extern const struct json_fields event_reader_block_manager_fields, event_reader_peak_fields, event_reader_stage_fields;

/* Returns a new map that lives as long as the current event, or NULL if the event has too many. */
struct strmap *event_reader_new_map(struct event_reader *r);

/* Copies an array to the arena of the line and stores it at @base: a pointer, then its length as a size_t. */
void event_reader_store(struct event_reader *r, void *base, const void *data, size_t n, size_t size);

/* For tables of fields: @context is the reader. */
json_read_value event_reader_read_accumulables; /* into a struct accumulable_list */
json_read_value event_reader_read_map;          /* into a const struct strmap * */
json_read_value event_reader_read_level;        /* into an enum fst_storage_level */
json_read_value event_reader_read_ids;          /* into a pointer to ints and their number */
json_read_value event_reader_read_stages;       /* into a pointer to stages and their number */

struct accumulable_list {
        const struct accumulable *list;
        size_t n;
};
