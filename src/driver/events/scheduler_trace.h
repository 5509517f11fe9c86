/* Writes the file of spark.firesteel.scheduler.trace. */
#pragma once

struct sched;
struct fst_conf;
struct fst_error;

/*
 * Record @s, which is new, into the file that @conf names, if any, until sched_free. Replaces the file. Only its owner
 * can read it. Returns 0, or a negative errno with the path in @error. A later write error logs a warning and ends the
 * recording, not the application.
 */
int scheduler_trace_start(struct sched *s, const struct fst_conf *conf, struct fst_error *error);
