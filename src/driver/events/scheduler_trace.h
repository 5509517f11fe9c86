/* The file behind spark.firesteel.scheduler.trace. */
#pragma once

struct sched;
struct fst_conf;
struct fst_error;

/*
 * Record @s, to which nothing has happened yet, into the file that @conf names, if it names one; until sched_free.
 * The file is made anew, readable by its owner. 0, or a negative errno with the path in @error. A write that fails
 * later ends the recording with a warning, not the application.
 */
int scheduler_trace_start(struct sched *s, const struct fst_conf *conf, struct fst_error *error);
