/*
 * Reads event logs of Firesteel and of genuine Spark, from 2.3 to 4.3, into the structs of events.h.
 *
 *      struct event_reader *r = event_reader_new(&(struct event_reader_options){.on_event = take, .owner = me});
 *      do {
 *              char *to = event_reader_room(r, &room);
 *              n = read(fd, to, room);
 *              event_reader_filled(r, n);
 *      } while (n > 0);
 *      event_reader_end(r, false);
 *
 * The text may come in pieces of any size. One pass reads a line into a struct, without a tree. Fields may have any
 * order; unknown ones are skipped, and missing ones have the values that Spark's own reader gives them.
 *
 * A damaged line is reported with its number and skipped: the others still count. Events of unknown classes are
 * counted, and each class is named once. Events of Spark SQL and others that nothing here shows are skipped by their
 * names.
 *
 * Not thread-safe. Two readers may run at the same time.
 */
#pragma once

#include "events/events.h"

/* The first line of a log. */
struct log_start {
        const char *spark_version;
};

/* The peaks of an executor during a stage attempt. */
struct stage_executor_metrics {
        const char *executor_id;
        int32_t stage_id, stage_attempt;
        struct executor_peaks peaks;
};

/* A process of the application that is no executor: YARN's ApplicationMaster. */
struct process_added {
        int64_t ms;
        const char *id, *host_port;
        int cores;
        const struct strmap *log_urls; /* NULL: none */
};

/* The counters of an executor's node: an event of Firesteel, which Spark skips. */
struct node_metrics {
        const char *executor_id;
        struct node_counters node;
        int heartbeats; /* since the last one of the log */
};

#define LOG_EVENT_KINDS(X)                                                                                             \
        EVENT_KINDS(X)                                                                                                 \
        X(task_start)                                                                                                  \
        X(task_end)                                                                                                    \
        X(log_start)                                                                                                   \
        X(stage_executor_metrics)                                                                                      \
        X(process_added)                                                                                               \
        X(node_metrics)

#define LOG_EVENT_TYPE(kind) EVENT_##kind,
enum log_event_type { LOG_EVENT_KINDS(LOG_EVENT_TYPE) };
#undef LOG_EVENT_TYPE

/* One event of a log. The member of its type is valid. */
struct log_event {
        enum log_event_type type;
        union {
#define LOG_EVENT_MEMBER(kind) struct kind kind;
                LOG_EVENT_KINDS(LOG_EVENT_MEMBER)
#undef LOG_EVENT_MEMBER
        };
};

struct event_reader_options {
        /* An event. Borrowed until the callback returns, except executor_ref, which lives until event_reader_free. */
        void (*on_event)(void *owner, const struct log_event *e);
        /* A line that is not a valid event. @line counts from 1. NULL: only count. */
        void (*on_damaged)(void *owner, size_t line, const char *problem);
        /* The first event of an unknown class. NULL: only count. */
        void (*on_unknown)(void *owner, size_t line, const char *class_name);
        /* Any line that was read, after its event: damaged, unknown and ignored ones too. NULL: lines are not kept. */
        void (*on_line)(void *owner, const char *line, size_t length);
        void *owner;
        size_t max_line; /* bytes; longer lines count as damaged; 0: 256 MiB, as spark.history.fs.eventLog.maxLineLength
                          */
};

struct event_reader_counts {
        size_t lines, events;
        size_t damaged; /* lines */
        size_t unknown; /* events of unknown classes */
        size_t ignored; /* events of known classes that nothing here shows, as those of Spark SQL */
        uint64_t bytes;
};

struct event_reader;

struct event_reader *event_reader_new(const struct event_reader_options *options);

/* Returns where to put the next piece of the log, and sets @room to at least 64 KiB. */
char *event_reader_room(struct event_reader *r, size_t *room);

/* Reads the lines that end in the @n bytes put there. */
void event_reader_filled(struct event_reader *r, size_t n);

/*
 * Ends the log. A last line without a newline counts, unless the log @is_growing: then it is the beginning of one, and
 * no damage.
 */
void event_reader_end(struct event_reader *r, bool is_growing);

/* Goes on with a log of @spark_version (NULL: unknown) behind lines that an earlier reader has read. Before any text.
 */
void event_reader_resume(struct event_reader *r, const char *spark_version);

/* Returns how many bytes of an unfinished line it holds, or SIZE_MAX if it skips one that is too long. */
size_t event_reader_pending(const struct event_reader *r);

struct event_reader_counts event_reader_counts(const struct event_reader *r);

/* NULL is allowed. */
void event_reader_free(struct event_reader *r);
