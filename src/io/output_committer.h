/*
 * Makes the part files of a job its output, all or none: Hadoop's FileOutputCommitter.
 *
 *      OUT/_temporary/0/_temporary/attempt_…_m_000003_0/part-00003     a task writes here
 *      OUT/_temporary/0/task_…_m_000003/part-00003                     committing it is one rename
 *      OUT/part-00003, OUT/_SUCCESS                                    committing the job moves all, writes _SUCCESS,
 * cleans up
 *
 * Version 2 of the algorithm moves a task's files into OUT when the task commits. In both versions an output without
 * `_SUCCESS` is incomplete. As in Hadoop on a local disk, nothing is fsynced: the order of renames protects against
 * failures of tasks and processes, not of the machine.
 *
 * Any thread may call the task functions, one thread at a time the job functions.
 */
#pragma once

#include "io/codec/codec.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct output_committer;

struct output_options {
        int algorithm; /* spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version: 1 or 2 */
        bool validate; /* spark.hadoop.validateOutputSpecs: reject an existing output directory */
        /* The compression of part files: spark.hadoop.mapreduce.output.fileoutputformat.compress and .codec (by default
         * Hadoop's DefaultCodec), or their older names mapred.output.compress(ion.codec). */
        enum codec_kind codec;
        bool mark; /* spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs: write _SUCCESS */
};
#define OUTPUT_OPTIONS_INIT ((struct output_options){.algorithm = 1, .validate = true, .mark = true})

/* Reads the options from a configuration. Returns -EINVAL with key and value for an invalid value. */
int output_options_read(const struct fst_conf *conf, struct output_options *options, struct fst_error *error);

/* Results of output_committer_commit_task. */
#define FST_OUTPUT_E_DENIED 1 /* another attempt of this task has committed: abort this one */

/* Creates a committer for output @path (as the user wrote it) of job number @job, which becomes part of the attempts'
 * names. Does not access the disk. Errors: those of file_system_resolve. */
int output_committer_new(const char *path, int job, const struct output_options *options,
                         struct output_committer **committer, struct fst_error *error);
void output_committer_free(struct output_committer *c);

/* Identifies a committer across processes: attempts of all of them write below the same temporary directory. */
struct output_identity {
        const char *path;    /* full path */
        const char *tracker; /* unique among the jobs that write there; at most 47 digits */
        int job;
        int algorithm; /* 1 or 2 */
        enum codec_kind codec;
};

/* The identity; borrows from @c. */
struct output_identity output_committer_identity(const struct output_committer *c);

/*
 * Creates a committer in another process, for the task functions only. It cannot know which of several processes'
 * attempts may commit: ask the driver first. Returns -EINVAL for an invalid identity, or the errors of
 * output_committer_new.
 */
int output_committer_join(const struct output_identity *identity, struct output_committer **committer,
                          struct fst_error *error);

/* Returns -EEXIST "Output directory file:/… already exists" if it does, unless @validate is off; in that case the
 * commit replaces files of the same name. */
int output_committer_check_output(const struct output_committer *c, struct fst_error *error);

/* Checks the output, and creates the temporary directory. */
int output_committer_setup_job(struct output_committer *c, struct fst_error *error);

/*
 * For a process that goes on with the job of another one, which has ended. set_tracker takes its tracker before the
 * first task: -EINVAL for text that is not one. set_resumed: the output may exist. find_tasks sets committed[p] for
 * each of the @n partitions whose task has committed. set_committed: that process has committed the job. clear removes
 * what it left: the temporary files or, with
 * @output, the whole output directory.
 */
int output_committer_set_tracker(struct output_committer *c, const char *tracker);
void output_committer_set_resumed(struct output_committer *c);
int output_committer_find_tasks(const struct output_committer *c, uint8_t *committed, int n, struct fst_error *error);
void output_committer_set_committed(struct output_committer *c);
int output_committer_clear(struct output_committer *c, bool output, struct fst_error *error);

/*
 * An attempt of that process was allowed to commit: from now on it cannot, even if its process is only slow. Returns
 * FST_OUTPUT_E_MOVED if its files are gone: it has committed them, or has removed them. Returns 0 if they were there.
 */
#define FST_OUTPUT_E_MOVED 2
int output_committer_revoke_task(const struct output_committer *c, int partition, int attempt, struct fst_error *error);

/* The full path of the part file of attempt @attempt of task @partition: "…/part-00003" with the codec's suffix. The
 * caller owns it. */
char *output_committer_task_path(const struct output_committer *c, int partition, int attempt);

/*
 * Makes the attempt's files the task's result. Returns 0, also if this attempt has already committed;
 * FST_OUTPUT_E_DENIED if another attempt has committed or is committing; or negative, after which another attempt may
 * commit. Every attempt writes its part file, even an empty one: -ENOENT if it is missing.
 */
int output_committer_commit_task(struct output_committer *c, int partition, int attempt, struct fst_error *error);

/* Call this when all tasks run again: other attempts may then commit and replace results. Any thread. */
void output_committer_forget_commits(struct output_committer *c);

/* Removes the attempt's files. A committed result stays. */
int output_committer_abort_task(struct output_committer *c, int partition, int attempt, struct fst_error *error);

/* Moves the tasks' results into the output and writes _SUCCESS. Returns 0, also when called again after success. After
 * a failure, call it again (version 1) or call output_committer_abort_job. */
int output_committer_commit_job(struct output_committer *c, struct fst_error *error);

/* Removes all temporary files. Files that version 2 has moved stay, without _SUCCESS. */
int output_committer_abort_job(struct output_committer *c, struct fst_error *error);
