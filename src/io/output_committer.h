/*
 * How the part files of a job become its output, or leave no trace: Hadoop's FileOutputCommitter.
 *
 *      OUT/_temporary/0/_temporary/attempt_…_m_000003_0/part-00003     a task writes here
 *      OUT/_temporary/0/task_…_m_000003/part-00003                     committing it is one rename
 *      OUT/part-00003, OUT/_SUCCESS                                    committing the job moves all, marks, cleans up
 *
 * Version 2 of the algorithm moves a task's files into OUT when the task commits. In both an output without
 * `_SUCCESS` is not complete. Nothing is fsynced, as with Hadoop on a local disk: the order of renames protects
 * against failing tasks and processes, not against a failing machine.
 *
 * A committer is shared: task functions may be called from any thread, job functions from one at a time.
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
        bool validate; /* spark.hadoop.validateOutputSpecs: refuse an output directory that exists */
        /*
         * How part files are packed: spark.hadoop.mapreduce.output.fileoutputformat.compress and .codec (Hadoop's
         * DefaultCodec unless that is said); also their older names, mapred.output.compress(ion.codec).
         */
        enum codec_kind codec;
        bool mark; /* spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs: write _SUCCESS */
};
#define OUTPUT_OPTIONS_INIT ((struct output_options){.algorithm = 1, .validate = true, .mark = true})

/* What a configuration asks for; -EINVAL with key and value for one that cannot be read. */
int output_options_read(const struct fst_conf *conf, struct output_options *options, struct fst_error *error);

/* Outcomes of output_committer_commit_task. */
#define FST_OUTPUT_E_DENIED 1 /* another attempt of this task has committed: abort this one */

/*
 * A committer for output @path (as the user wrote it) of job number @job (part of the attempts' names). Nothing
 * is touched on disk. Errors: those of file_system_resolve.
 */
int output_committer_new(const char *path, int job, const struct output_options *options,
                         struct output_committer **committer, struct fst_error *error);
void output_committer_free(struct output_committer *c);

/* What makes a committer the same one in another process: whose attempts write to the same temporary places. */
struct output_identity {
        const char *path;    /* full */
        const char *tracker; /* distinguishes the job from all others that write there; digits, 47 at most */
        int job;
        int algorithm; /* 1 or 2 */
        enum codec_kind codec;
};

/* Borrowed from @c. */
struct output_identity output_committer_identity(const struct output_committer *c);

/*
 * The same committer, for the task functions alone. Of attempts in several processes it cannot know which one may
 * commit: that is asked before. -EINVAL for what no committer is; errors of output_committer_new.
 */
int output_committer_join(const struct output_identity *identity, struct output_committer **committer,
                          struct fst_error *error);

/*
 * Make the temporary directory. -EEXIST "Output directory file:/… already exists" unless @validate is off; then
 * files of the same name are replaced.
 */
int output_committer_setup_job(struct output_committer *c, struct fst_error *error);

/*
 * Where attempt @attempt of task @partition writes its part file: full path, "…/part-00003" and the codec's suffix.
 * Owned by the caller.
 */
char *output_committer_task_path(const struct output_committer *c, int partition, int attempt);

/*
 * Make the attempt's files the task's result: 0, also when this attempt has committed already; FST_OUTPUT_E_DENIED
 * when another has or is about to; or negative, after which another attempt may. Every attempt writes its part file,
 * be it empty: -ENOENT when there is none.
 */
int output_committer_commit_task(struct output_committer *c, int partition, int attempt, struct fst_error *error);

/* All tasks run again: other attempts than those that have committed may, and replace their results. Any thread. */
void output_committer_forget_commits(struct output_committer *c);

/* Remove what the attempt wrote. A committed result stays. */
int output_committer_abort_task(struct output_committer *c, int partition, int attempt, struct fst_error *error);

/*
 * Make the tasks' results the job's output and write _SUCCESS: 0, also when called again after 0. After a failure it
 * may be called again (version 1) or output_committer_abort_job.
 */
int output_committer_commit_job(struct output_committer *c, struct fst_error *error);

/* Remove everything temporary. What version 2 has moved stays, without _SUCCESS. */
int output_committer_abort_job(struct output_committer *c, struct fst_error *error);
