/*
 * Chooses the events of a log that compaction keeps: those of jobs, stages, tasks and SQL executions that have not
 * ended, of RDDs that they need and of executors that are alive, and all events that are about nothing of these.
 * Spark's EventLogFileCompactor, BasicEventFilterBuilder and SQLEventFilterBuilder have the rules.
 *
 *      … event_filter_learn(f, e), event_filter_learn_line(f, …) for the events of the files, in their order …
 *      event_filter_freeze(f);
 *      if (event_filter_score(f) >= threshold)
 *              … for each line again: event_filter_keeps(f, e), event_filter_keeps_line(f, …) …
 *
 * Pure. One thread at a time.
 */
#pragma once

#include "events/event_reader.h"

struct event_filter;

struct event_filter *event_filter_new(void);
void event_filter_free(struct event_filter *f); /* NULL is allowed */

void event_filter_learn(struct event_filter *f, const struct log_event *e);

/* A line that the event reader passes without an event: a start or end of an SQL execution counts, others do not. */
void event_filter_learn_line(struct event_filter *f, const char *line, size_t length);

void event_filter_freeze(struct event_filter *f);

/* The share of tasks whose events can go, from 0 to 1. NaN if there was no task, which is no reason to compact less. */
double event_filter_score(const struct event_filter *f);

bool event_filter_keeps(const struct event_filter *f, const struct log_event *e);
bool event_filter_keeps_line(const struct event_filter *f, const char *line, size_t length);
