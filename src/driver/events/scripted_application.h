/*
 * Posts the events of a small application that never ran to a listener bus: for tests, and for the check that genuine
 * Spark's history server reads our event log (tests/spark/).
 *
 * Job 0 (group "words") has stage 0, whose task 2 fails once, and stage 1, which caches RDD 3. Job 1 skips stage 2 and
 * runs stage 3. In job 2 stage 4 fails: one task succeeds, one fails for good, one is killed.
 */
#pragma once

#include "driver/events/listener_bus.h"

#define SCRIPTED_APPLICATION_ID "local-1700000000000"

/* Post the application's events. Executor names and text are static. */
void scripted_application_play(struct listener_bus *bus);

/* Post every other kind of event and task end, with text that needs escapes. */
void scripted_application_play_rest(struct listener_bus *bus);
