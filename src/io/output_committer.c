/*
 * Hadoop's FileOutputCommitter; see output_committer.h.
 *
 * A table, not the file system, prevents two attempts of a task from both committing: the first attempt that asks holds
 * the task's entry until its rename has succeeded or failed. Other attempts are denied meanwhile, and afterwards if it
 * succeeded. Spark's OutputCommitCoordinator does this on the driver.
 *
 * An attempt whose files are gone (another job with the same output has removed _temporary) fails to commit. Hadoop
 * treats it as a task without output and loses its rows.
 *
 * Only results of this job are merged: task directories carry a random job tracker id, so files that an earlier job
 * left under _temporary are never taken for output (in Hadoop they would be).
 */
#include "io/output_committer.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define NO_ATTEMPT (-1)

struct task_commit {
        int attempt; /* the one that commits or has committed, or NO_ATTEMPT */
        bool committed;
};

struct output_committer {
        const struct file_system *fs;
        char *path;
        char *temporary; /* OUT/_temporary */
        char *job_path;  /* OUT/_temporary/0 */
        struct output_options options;
        char tracker[48]; /* unique among the jobs that write here */
        int job;
        bool job_committed;

        pthread_mutex_t lock; /* guards `tasks` */
        VEC(struct task_commit) tasks;
};

/* The value of a setting or, if it is missing, of its older name. Messages use the newer name. */
static const char *output_committer_setting(const struct fst_conf *conf, const char *key, const char *older,
                                            const char **name)
{
        const char *text = conf_get_raw(conf, key);
        *name = text ? key : older;
        return text ? text : conf_get_raw(conf, older);
}

static int output_committer_read_codec(const struct fst_conf *conf, enum codec_kind *codec, struct fst_error *error)
{
        const char *name;
        const char *packed = output_committer_setting(conf, "spark.hadoop.mapreduce.output.fileoutputformat.compress",
                                                      "spark.hadoop.mapred.output.compress", &name);
        bool wanted = false;
        int r = packed ? conf_read_bool(conf, name, &wanted, error) : 0;
        if (r < 0 || !wanted)
                return r;
        const char *text =
                output_committer_setting(conf, "spark.hadoop.mapreduce.output.fileoutputformat.compress.codec",
                                         "spark.hadoop.mapred.output.compression.codec", &name);
        *codec = CODEC_DEFLATE;
        r = text ? codec_parse_file(text, codec, error) : 0;
        return r < 0 ? error_wrap(error, r, "%s", name) : 0;
}

int output_options_read(const struct fst_conf *conf, struct output_options *options, struct fst_error *error)
{
        static const char version[] = "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version";
        struct output_options o = OUTPUT_OPTIONS_INIT;
        const char *text = conf_get_raw(conf, version);

        if (text) {
                if (strcmp(text, "1") != 0 && strcmp(text, "2") != 0)
                        return error_set(error, -EINVAL, "%s should be 1 or 2, but was %s", version, text);
                o.algorithm = text[0] - '0';
        }
        int r = conf_read_bool(conf, "spark.hadoop.validateOutputSpecs", &o.validate, error);
        if (r == 0)
                r = conf_read_bool(conf, "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs", &o.mark,
                                   error);
        if (r == 0)
                r = output_committer_read_codec(conf, &o.codec, error);
        if (r == 0)
                *options = o;
        return r;
}

int output_committer_new(const char *path, int job, const struct output_options *options,
                         struct output_committer **committer, struct fst_error *error)
{
        _cleanup_free_ char *full = NULL;
        const struct file_system *fs;
        int r = file_system_resolve(path, &full, &fs, error);
        if (r < 0)
                return r;

        struct output_committer *c = new0(struct output_committer);
        c->fs = fs;
        c->path = steal(full);
        c->temporary = path_join(c->path, "_temporary");
        c->job_path = path_join(c->temporary, "0");
        c->options = *options;
        c->job = job;
        pthread_mutex_init(&c->lock, NULL);

        time_t now = time(NULL);
        struct tm tm;
        uint64_t random = 0;
        localtime_r(&now, &tm);
        if (getrandom(&random, sizeof(random), 0) < 0)
                random = (uint64_t)now ^ (uintptr_t)c;
        size_t n = strftime(c->tracker, sizeof(c->tracker), "%Y%m%d%H%M%S", &tm);
        snprintf(c->tracker + n, sizeof(c->tracker) - n, "%" PRIu64, random >> 1);
        *committer = c;
        return 0;
}

struct output_identity output_committer_identity(const struct output_committer *c)
{
        return (struct output_identity){c->path, c->tracker, c->job, c->options.algorithm, c->options.codec};
}

/* The tracker becomes part of paths: only digits are allowed. */
static bool output_committer_is_tracker(const char *text)
{
        const size_t n = strspn(text, "0123456789");
        return n > 0 && n < sizeof(((struct output_committer *)NULL)->tracker) && !text[n];
}

int output_committer_join(const struct output_identity *identity, struct output_committer **committer,
                          struct fst_error *error)
{
        struct output_options options = {.algorithm = identity->algorithm, .codec = identity->codec};
        struct output_committer *c;
        if (!output_committer_is_tracker(identity->tracker) || identity->job < 0 ||
            (identity->algorithm != 1 && identity->algorithm != 2) || (unsigned)identity->codec >= CODEC_KINDS)
                return error_set(error, -EINVAL, "invalid output committer: algorithm, job or tracker");
        int r = output_committer_new(identity->path, identity->job, &options, &c, error);
        if (r)
                return r;
        output_committer_set_tracker(c, identity->tracker);
        *committer = c;
        return 0;
}

int output_committer_set_tracker(struct output_committer *c, const char *tracker)
{
        if (!output_committer_is_tracker(tracker))
                return -EINVAL;
        memcpy(c->tracker, tracker, strlen(tracker) + 1);
        return 0;
}

void output_committer_free(struct output_committer *c)
{
        if (!c)
                return;
        int saved = errno;
        pthread_mutex_destroy(&c->lock);
        vec_deinit(&c->tasks);
        free(c->path);
        free(c->temporary);
        free(c->job_path);
        free(c);
        errno = saved;
}

/* OUT/_temporary/0/_temporary/attempt_…, the attempt's directory. */
static char *output_committer_attempt_path(const struct output_committer *c, int partition, int attempt)
{
        return mem_printf("%s/_temporary/attempt_%s_%04d_m_%06d_%d", c->job_path, c->tracker, c->job, partition,
                          attempt);
}

char *output_committer_task_path(const struct output_committer *c, int partition, int attempt)
{
        _cleanup_free_ char *directory = output_committer_attempt_path(c, partition, attempt);
        return mem_printf("%s/part-%05d%s", directory, partition, codec_suffix(c->options.codec));
}

int output_committer_check_output(const struct output_committer *c, struct fst_error *error)
{
        _cleanup_(file_status_deinit) struct file_status status = {0};
        int r = c->options.validate ? c->fs->stat(c->fs, c->path, &status, error) : -ENOENT;
        if (r == 0)
                return error_set(error, -EEXIST, "Output directory %s already exists", c->path);
        if (r != -ENOENT)
                return r;
        error_deinit(error); /* success: it does not exist */
        return 0;
}

int output_committer_setup_job(struct output_committer *c, struct fst_error *error)
{
        int r = output_committer_check_output(c, error);
        if (r)
                return r;
        if (strcmp(c->fs->scheme, "s3a") == 0)
                log_warn("FileOutputCommitter",
                         "Using standard FileOutputCommitter to commit work. This is slow and potentially unsafe: an "
                         "object store renames by copying (%s)",
                         c->path);
        return c->fs->mkdirs(c->fs, c->job_path, error);
}

/* Moves @from to @to, directories entry by entry. Replaces existing files. */
static int output_committer_merge(struct output_committer *c, const struct file_status *from, const char *to,
                                  struct fst_error *error)
{
        const struct file_system *fs = c->fs;
        if (!from->directory) {
                int r = fs->rename(fs, from->path, to, error);
                if (r == -EISDIR || r == -ENOTEMPTY) {
                        r = fs->remove(fs, to, error);
                        if (r == 0)
                                r = fs->rename(fs, from->path, to, error);
                }
                return r;
        }
        struct file_list entries = {0};
        int r = fs->mkdirs(fs, to, error);
        if (r == 0)
                r = fs->list(fs, from->path, &entries, error);
        for (size_t i = 0; r == 0 && i < entries.len; i++) {
                _cleanup_free_ char *target = path_join(to, path_name(entries.data[i].path));
                r = output_committer_merge(c, &entries.data[i], target, error);
        }
        file_list_deinit(&entries);
        return r;
}

/* Renames the attempt's files to commit them. The caller holds the task's entry. */
static int output_committer_move_result(struct output_committer *c, int partition, int attempt, struct fst_error *error)
{
        _cleanup_free_ char *from = output_committer_attempt_path(c, partition, attempt);
        _cleanup_(file_status_deinit) struct file_status status = {0};
        int r = c->fs->stat(c->fs, from, &status, error);
        if (r == -ENOENT)
                return error_set(error, r, "the output of attempt %d is gone: %s", attempt, from);
        if (r < 0)
                return r;
        if (c->options.algorithm == 2) {
                r = output_committer_merge(c, &status, c->path, error);
                return r < 0 ? r : c->fs->remove(c->fs, from, error);
        }
        _cleanup_free_ char *to = mem_printf("%s/task_%s_%04d_m_%06d", c->job_path, c->tracker, c->job, partition);
        r = c->fs->rename(c->fs, from, to, error);
        if (r == -ENOTEMPTY) { /* an earlier commit succeeded although it reported a failure: replace its result */
                error_deinit(error);
                r = c->fs->remove(c->fs, to, error);
                if (r == 0)
                        r = c->fs->rename(c->fs, from, to, error);
        }
        return r;
}

int output_committer_commit_task(struct output_committer *c, int partition, int attempt, struct fst_error *error)
{
        pthread_mutex_lock(&c->lock);
        while (c->tasks.len <= (size_t)partition)
                vec_push(&c->tasks, (struct task_commit){.attempt = NO_ATTEMPT});
        struct task_commit *task = &c->tasks.data[partition];
        bool mine = task->attempt == attempt && task->committed;
        bool taken = task->attempt != NO_ATTEMPT && !mine;
        if (task->attempt == NO_ATTEMPT)
                task->attempt = attempt;
        pthread_mutex_unlock(&c->lock);
        if (mine)
                return 0;
        if (taken)
                return FST_OUTPUT_E_DENIED;

        int r = output_committer_move_result(c, partition, attempt, error);

        pthread_mutex_lock(&c->lock);
        task = &c->tasks.data[partition];
        if (r == 0)
                task->committed = true;
        else
                task->attempt = NO_ATTEMPT;
        pthread_mutex_unlock(&c->lock);
        return r < 0 ? error_wrap(error, r, "committing task %d of %s", partition, c->path) : 0;
}

void output_committer_forget_commits(struct output_committer *c)
{
        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < c->tasks.len; i++)
                c->tasks.data[i] = (struct task_commit){.attempt = NO_ATTEMPT};
        pthread_mutex_unlock(&c->lock);
}

/* The partition of a committed task's directory, or with version 2 of its part file. -1: the entry is another one. */
static int output_committer_partition_of(const struct output_committer *c, const char *name)
{
        char prefix[96];
        int partition, used = 0;
        if (c->options.algorithm == 1)
                snprintf(prefix, sizeof(prefix), "task_%s_%04d_m_", c->tracker, c->job);
        else
                snprintf(prefix, sizeof(prefix), "part-");
        const size_t n = strlen(prefix);
        if (strncmp(name, prefix, n) != 0 || sscanf(name + n, "%d%n", &partition, &used) != 1)
                return -1;
        const char *suffix = c->options.algorithm == 1 ? "" : codec_suffix(c->options.codec);
        return strcmp(name + n + used, suffix) == 0 ? partition : -1;
}

int output_committer_find_tasks(const struct output_committer *c, uint8_t *committed, int n, struct fst_error *error)
{
        struct file_list entries = {0};
        int r = c->fs->list(c->fs, c->options.algorithm == 1 ? c->job_path : c->path, &entries, error);
        for (size_t i = 0; r == 0 && i < entries.len; i++) {
                int partition = output_committer_partition_of(c, path_name(entries.data[i].path));
                if (partition >= 0 && partition < n)
                        committed[partition] = 1;
        }
        file_list_deinit(&entries);
        if (r == -ENOENT) { /* no task got that far */
                error_deinit(error);
                r = 0;
        }
        return r;
}

/*
 * Renames the attempt's directory, which the attempt then does not find. The rename is atomic. If the attempt comes
 * first, the directory is gone (version 1) or empty (version 2).
 */
int output_committer_revoke_task(const struct output_committer *c, int partition, int attempt, struct fst_error *error)
{
        _cleanup_free_ char *from = output_committer_attempt_path(c, partition, attempt);
        _cleanup_free_ char *to = mem_printf("%s.revoked", from);
        struct file_list entries = {0};
        int r = c->fs->rename(c->fs, from, to, error);
        if (r == -ENOENT) {
                error_deinit(error);
                return FST_OUTPUT_E_MOVED;
        }
        if (r == 0)
                r = c->fs->list(c->fs, to, &entries, error);
        const bool moved = entries.len == 0;
        file_list_deinit(&entries);
        if (r == 0)
                r = c->fs->remove(c->fs, to, error);
        return r < 0   ? error_wrap(error, r, "revoking attempt %d of task %d of %s", attempt, partition, c->path)
               : moved ? FST_OUTPUT_E_MOVED
                       : 0;
}

void output_committer_set_resumed(struct output_committer *c)
{
        c->options.validate = false;
}

void output_committer_set_committed(struct output_committer *c)
{
        c->job_committed = true;
}

int output_committer_clear(struct output_committer *c, bool output, struct fst_error *error)
{
        return c->fs->remove(c->fs, output ? c->path : c->temporary, error);
}

int output_committer_abort_task(struct output_committer *c, int partition, int attempt, struct fst_error *error)
{
        _cleanup_free_ char *path = output_committer_attempt_path(c, partition, attempt);
        return c->fs->remove(c->fs, path, error);
}

static int output_committer_write_marker(struct output_committer *c, struct fst_error *error)
{
        _cleanup_free_ char *path = path_join(c->path, "_SUCCESS");
        struct open_file file = OPEN_FILE_INIT;
        int r = c->fs->create(c->fs, path, &file, error);
        return r < 0 ? r : c->fs->close(&file, error);
}

int output_committer_commit_job(struct output_committer *c, struct fst_error *error)
{
        if (c->job_committed)
                return 0;
        int r = 0;
        if (c->options.algorithm == 1) {
                _cleanup_free_ char *prefix = mem_printf("task_%s_%04d_m_", c->tracker, c->job);
                struct file_list entries = {0};
                r = c->fs->list(c->fs, c->job_path, &entries, error);
                for (size_t i = 0; r == 0 && i < entries.len; i++)
                        if (strncmp(path_name(entries.data[i].path), prefix, strlen(prefix)) == 0)
                                r = output_committer_merge(c, &entries.data[i], c->path, error);
                file_list_deinit(&entries);
        }
        /* Writes the marker last: when it appears, no temporary files are left. */
        if (r == 0)
                r = c->fs->remove(c->fs, c->temporary, error);
        if (r == 0 && c->options.mark)
                r = output_committer_write_marker(c, error);
        if (r < 0)
                return error_wrap(error, r, "committing the output %s", c->path);
        c->job_committed = true;
        return 0;
}

int output_committer_abort_job(struct output_committer *c, struct fst_error *error)
{
        return c->job_committed ? 0 : c->fs->remove(c->fs, c->temporary, error);
}
