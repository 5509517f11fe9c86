/*
 * Who may commit the output of a partition: one attempt, whatever others of it still run.
 *
 * Pure, as sched.h. One thread. An attempt is named by its stage attempt and its number in the task.
 */
#pragma once

#include <stdbool.h>

struct commit_coordinator;

struct commit_coordinator *commit_coordinator_new(void);
void commit_coordinator_free(struct commit_coordinator *c);

/*
 * A stage with @partitions begins, or an attempt of one that has begun and not ended: what was decided then stays.
 * False if it began with another number of partitions.
 */
bool commit_coordinator_stage_start(struct commit_coordinator *c, int stage, int partitions);
void commit_coordinator_stage_end(struct commit_coordinator *c, int stage);

/*
 * Whether this attempt may commit @partition: yes for the first that asks, and when it asks again. No for stages that
 * have ended or never began, and for attempts that were reported as failed.
 */
bool commit_coordinator_may_commit(struct commit_coordinator *c, int stage, int stage_attempt, int partition,
                                   int attempt);

/* The attempt ended without success and will not commit: another one may. Not for denied ones. */
void commit_coordinator_failed(struct commit_coordinator *c, int stage, int stage_attempt, int partition, int attempt);

/* True if no stage is open. */
bool commit_coordinator_is_empty(const struct commit_coordinator *c);
