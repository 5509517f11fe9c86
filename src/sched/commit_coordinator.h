/* Decides which attempt may commit the output of a partition: exactly one, even while others still run.
 *
 * Pure, as sched.h. One thread. An attempt is named by its stage attempt and its number in the task.
 */
#pragma once

#include <stdbool.h>

struct commit_coordinator;

struct commit_coordinator *commit_coordinator_new(void);
void commit_coordinator_free(struct commit_coordinator *c);

/* Starts a stage with @partitions, or another attempt of a stage that has not ended, whose decisions stay. Returns
 * false if the stage started with another number of partitions.
 */
bool commit_coordinator_stage_start(struct commit_coordinator *c, int stage, int partitions);
void commit_coordinator_stage_end(struct commit_coordinator *c, int stage);

/* Returns true if this attempt may commit @partition: the first one that asks, also when it asks again. Returns false
 * for stages that have ended or never started, and for attempts reported as failed.
 */
bool commit_coordinator_may_commit(struct commit_coordinator *c, int stage, int stage_attempt, int partition,
                                   int attempt);

/* The attempt ended without success and will not commit: another may. Not called for denied attempts. */
void commit_coordinator_failed(struct commit_coordinator *c, int stage, int stage_attempt, int partition, int attempt);

/* Returns true if no stage is open. */
bool commit_coordinator_is_empty(const struct commit_coordinator *c);
