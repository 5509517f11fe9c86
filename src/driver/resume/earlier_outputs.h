/* Map outputs of an earlier driver, as a job of the next one is told of them. */
#pragma once

struct earlier_output;
struct remote_shuffle_driver;

/*
 * Drops those of shuffles that have ended and of which some are missing: the map stage writes its outputs elsewhere
 * then.
 * @outputs are sorted by shuffle. @store may be NULL. Returns how many are left.
 */
int earlier_outputs_drop_incomplete(struct earlier_output *outputs, int n, const struct remote_shuffle_driver *store);
