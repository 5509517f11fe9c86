/*
 * Journals of applications that have succeeded, until the process ends.
 *
 * A driver that is killed after its context has stopped, but before its process has ended, looks like one that failed,
 * and may be started again. With its journal it finds all jobs and outputs done, and succeeds; without, it would begin
 * the application again, and fail because the outputs exist.
 *
 * Any thread.
 */
#pragma once

#include <stdbool.h>

struct journal_place;

/* Keeps the local journal at @place, whose epoch this driver has taken. Steals @place. If the process ends by a signal
 * that it handles, the journal is removed. */
void ended_journals_add(struct journal_place *place);

/* Removes the journals that no later driver has taken; keeps them if the process has not @succeeded. */
void ended_journals_remove(bool succeeded);

/* Makes exit(), which runs with status 0, do that after its other handlers: these may take long, for instance while a
 * driver on YARN reports its end. */
void ended_journals_remove_last(void);
