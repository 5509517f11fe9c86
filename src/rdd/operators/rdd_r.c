/*
 * See rdd_r.h. In a task the function feeds the worker with one batch after another and then reads its answer: SparkR's
 * worker reads all rows before it computes. Workers start with the first row, and a partition without rows needs none.
 */
#include "rdd/operators/rdd_r.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "process/piped_command.h"
#include "r/r_worker.h"
#include "rdd/builtins.h"
#include "rdd/pipeline/op.h"
#include "rdd/rdd_build.h"

#include <pthread.h>
#include <unistd.h>

/* Rows that were emitted are pushed when they have so many bytes. */
#define FLUSH_BYTES ((size_t)4 << 20)

/* The captured bytes: this, then the broadcasts, then the texts in the order of the fields. */
struct r_captured {
        int32_t buckets, timeout;
        uint8_t in, out, with_daemon; /* forms */
        uint32_t n_broadcasts;
        uint64_t function, packages, command, library, files; /* bytes, of texts with their NUL */
};

enum { COMPUTE, PLACE };

/* ------------------------------------------------------------------------------------------------------ lineage */

static bool rdd_r_accepts(fst_type type)
{
        return type.key == FST_KIND_BYTES && (type.value == FST_KIND_NONE || type.value == FST_KIND_BYTES);
}

static size_t rdd_r_files_size(const char *files)
{
        const char *end = files;
        while (*end)
                end += strlen(end) + 1;
        return (size_t)(end - files) + 1;
}

fst_rdd *rdd_r_new(fst_rdd *parent, const struct r_function *f, fst_site site)
{
        parent = rdd_given(parent, site);
        _cleanup_(buf_deinit) struct buf captured = BUF_INIT;
        struct r_captured head = {
                .buckets = f->buckets,
                .timeout = f->timeout,
                .in = (uint8_t)f->in,
                .out = (uint8_t)f->out,
                .with_daemon = f->with_daemon,
                .n_broadcasts = (uint32_t)f->n_broadcasts,
                .function = f->function.len,
                .packages = f->packages.len,
                .command = strlen(f->command) + 1,
                .library = strlen(f->library) + 1,
                .files = rdd_r_files_size(f->files),
        };
        buf_append(&captured, &head, sizeof(head));
        buf_append(&captured, f->broadcasts, f->n_broadcasts * sizeof(*f->broadcasts));
        buf_append(&captured, f->function.data, f->function.len);
        buf_append(&captured, f->packages.data, f->packages.len);
        buf_append(&captured, f->command, head.command);
        buf_append(&captured, f->library, head.library);
        buf_append(&captured, f->files, head.files);
        fst_type type = f->buckets < 0 ? FST_BYTES : FST_PAIR(I64, BYTES);
        fst_fn fn = builtin_r[COMPUTE];
        fn.captured = captured.data;
        fn.captured_size = (uint32_t)captured.len;
        fst_rdd *rdd = fst_map_partitions_with_index_at(parent, fn, type, site);
        if (captured.len > INT32_MAX)
                rdd_fail(rdd, -E2BIG, "a function of R has more than 2 GB: pass large values by a broadcast variable");
        if (!rdd_r_accepts(parent->type))
                rdd_fail(rdd, -EINVAL, "an R worker takes rows of bytes, or pairs of two");
        return rdd;
}

fst_rdd *rdd_r_partition_by(fst_rdd *pairs, int partitions, fst_site site)
{
        return fst_partition_by_function_at(pairs, partitions, builtin_r[PLACE], site);
}

/* ------------------------------------------------------------------------------------------------------ library */

static char *rdd_r_library_at(const char *directory)
{
        _cleanup_free_ char *script = mem_printf("%s/SparkR/worker/worker.R", directory);
        return directory[0] && access(script, R_OK) == 0 ? mem_strdup(directory) : NULL;
}

/* Asks R where it finds SparkR. */
static char *rdd_r_ask_library(const char *command)
{
        _cleanup_(buf_deinit) struct buf output = BUF_INIT;
        struct piped_command p;
        int status = 0, r;
        char *const words[] = {(char *)command, "--vanilla", "-e", "cat(dirname(find.package('SparkR')))", NULL};
        char *const environment[] = {"R_TESTS=", NULL};
        if (piped_command_start(&p, words, environment) != 0)
                return NULL;
        do
                r = piped_command_end(&p, &output, NULL, &status);
        while (r == PIPED_COMMAND_E_OUTPUT);
        if (r)
                piped_command_kill(&p);
        return r == 0 && status == 0 ? rdd_r_library_at(buf_text(&output)) : NULL;
}

/* The same, with the last answer remembered. */
static char *rdd_r_library_of(const char *command)
{
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static char *asked, *answer;
        pthread_mutex_lock(&lock);
        if (!answer || strcmp(asked, command) != 0) {
                free(asked);
                free(answer);
                asked = mem_strdup(command);
                answer = rdd_r_ask_library(command);
        }
        char *copy = mem_strdup_if(answer);
        pthread_mutex_unlock(&lock);
        return copy;
}

char *rdd_r_find_library(const char *library, const char *command)
{
        const char *home = getenv("SPARK_HOME");
        _cleanup_free_ char *own = home && home[0] ? mem_printf("%s/R/lib", home) : NULL;
        char *found = rdd_r_library_at(library);
        if (!found)
                found = rdd_r_library_at("sparkr");
        if (!found && own)
                found = rdd_r_library_at(own);
        return found ? found : rdd_r_library_of(command);
}

/* ----------------------------------------------------------------------------------------------------- in tasks */

struct r_task {
        fst_task *task;
        fst_out *out;
        const struct r_captured *captured;
        const fst_broadcast *broadcasts;
        fst_bytes function, packages;
        const char *command, *library, *files;
        char *found;     /* library; owned */
        char *directory; /* of files; owned */
        struct r_worker worker;
        struct buf bytes; /* to be fed */
        size_t emitted;
};

static int r_task_failed(struct r_task *t, int r, struct fst_error *error)
{
        struct task_run *run = t->task->run;
        if (r == -ECANCELED) {
                error_deinit(error);
                return task_run_cancelled(run);
        }
        return task_run_fail_with(run, r, error);
}

static int r_task_parse(struct r_task *t)
{
        const struct r_captured *c = t->captured = fst_captured(t->task);
        const char *at = (const char *)(c + 1);
        t->broadcasts = (const fst_broadcast *)at;
        at += c->n_broadcasts * sizeof(*t->broadcasts);
        t->function = (fst_bytes){at, c->function};
        t->packages = (fst_bytes){at += c->function, c->packages};
        t->command = at += c->packages;
        t->library = at += c->command;
        t->files = at + c->library;
        return 0;
}

/* Fetches the application's files, which R looks for in their directory. */
static int r_task_fetch_files(struct r_task *t)
{
        for (const char *name = t->files; *name; name += strlen(name) + 1) {
                const char *path = fst_task_file(t->task, name);
                if (!path)
                        return -ENOENT; /* the task has failed */
                const char *end = strrchr(path, '/');
                if (!t->directory && end)
                        t->directory = mem_strndup(path, (size_t)(end - path));
        }
        return 0;
}

/* Starts a worker and feeds it with all that precedes the rows. */
static int r_task_start(struct r_task *t, int partition, struct fst_error *error)
{
        const struct r_captured *c = t->captured;
        int r = r_task_fetch_files(t);
        if (r)
                return r;
        t->found = rdd_r_find_library(t->library, t->command);
        if (!t->found)
                return error_set(error, -ENOENT,
                                 "SparkR was not found on this machine. Install the R package SparkR, or name the "
                                 "directory that contains it in spark.firesteel.r.library");
        struct r_settings settings = {.command = t->command,
                                      .library = t->found,
                                      .files = t->directory ? t->directory : "",
                                      .timeout = c->timeout,
                                      .with_daemon = c->with_daemon};
        _cleanup_free_ struct r_broadcast *broadcasts = new_array(struct r_broadcast, c->n_broadcasts + 1);
        for (uint32_t i = 0; i < c->n_broadcasts; i++) {
                broadcasts[i] =
                        (struct r_broadcast){t->broadcasts[i].id, fst_task_broadcast(t->task, t->broadcasts[i])};
                if (t->task->run->status)
                        return t->task->run->status;
        }
        struct r_head head = {.partition = partition,
                              .deserializer = c->in,
                              .serializer = c->out,
                              .packages = t->packages,
                              .function = t->function,
                              .broadcasts = broadcasts,
                              .n_broadcasts = c->n_broadcasts,
                              .buckets = c->buckets};
        r = r_worker_start(&t->worker, &settings, t->task->stopped, error);
        if (r == 0) {
                r_stream_put_head(&t->bytes, &head);
                r_stream_put_flag(&t->bytes, true);
        }
        return r;
}

static int r_task_feed_pending(struct r_task *t, size_t least, struct fst_error *error)
{
        int r = 0;
        if (t->bytes.len >= least) {
                r = r_worker_feed(&t->worker, t->bytes.data, t->bytes.len, t->task->stopped, error);
                buf_reset(&t->bytes);
        }
        return r;
}

static int r_task_put_row(struct r_task *t, fst_bytes row, struct fst_error *error)
{
        if (row.len > INT32_MAX)
                return error_set(error, -E2BIG, "a row of %zu bytes is too large for R, which takes 2 GB at most",
                                 row.len);
        if (row.len >= FLUSH_BYTES && !buf_try_reserve(&t->bytes, row.len + 16))
                return error_set(error, -ENOMEM, "no memory for a row of %zu bytes", row.len);
        r_stream_put_row(&t->bytes, row, t->captured->in);
        return r_task_feed_pending(t, (size_t)64 << 10, error);
}

static int r_task_put_batch(struct r_task *t, const fst_batch *batch, struct fst_error *error)
{
        int r = 0;
        for (uint32_t i = 0; i < batch->rows && r == 0; i++) {
                r = r_task_put_row(t, batch->key.bytes[i], error);
                if (r == 0 && batch->type.value)
                        r = r_task_put_row(t, batch->value.bytes[i], error);
        }
        return r;
}

static void r_task_log_times(const double times[static R_TIMES])
{
        double total = 0;
        for (int i = R_TIME_INIT; i < R_TIMES; i++)
                total += times[i];
        log_info("RRDD",
                 "Times: init = %.3f s, broadcast = %.3f s, read-input = %.3f s, compute = %.3f s, write-output = %.3f "
                 "s, total = %.3f s",
                 times[R_TIME_INIT], times[R_TIME_BROADCAST], times[R_TIME_INPUT], times[R_TIME_COMPUTE],
                 times[R_TIME_OUTPUT], total);
}

/* Emits a row. Large rows do not gather. */
static int r_task_emit(struct r_task *t, const struct r_item *item)
{
        if (t->captured->buckets >= 0)
                fst_emit(t->out, (int64_t)item->bucket, item->row);
        else
                fst_emit(t->out, item->row);
        t->emitted += item->row.len;
        if (t->emitted < FLUSH_BYTES)
                return t->out->op->status;
        t->emitted = 0;
        return op_flush(t->out->op);
}

static int r_task_worker_ended(struct r_task *t, const char *what, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf lines = BUF_INIT;
        r_process_last_lines(t->worker.process, &lines);
        return error_set(error, -EPIPE, "R unexpectedly exited.%s%s%s", lines.len ? "\nR worker produced errors: " : "",
                         buf_text(&lines), what);
}

/* Reads the worker's answer to its end. Returns 0; OP_ENOUGH or a failure of the rows' consumer; or negative. */
static int r_task_read_answer(struct r_task *t, struct fst_error *error)
{
        const struct r_captured *c = t->captured;
        enum r_answer answer = c->buckets >= 0           ? R_ANSWER_SHUFFLED
                               : c->out == R_FORM_STRING ? R_ANSWER_LINES
                                                         : R_ANSWER_BYTES;
        struct buf *output = &t->worker.output;
        size_t at = 0;
        for (struct r_item item;;) {
                if (r_stream_read_item(answer, output->data + at, output->len - at, &item) < 0)
                        return r_task_worker_ended(
                                t, "\nThe R worker has sent bytes that SparkR's worker does not send", error);
                if (item.kind == R_ITEM_END)
                        return 0;
                if (item.kind == R_ITEM_PART) {
                        size_t rest = output->len - at;
                        if (at && rest)
                                memmove(output->data, output->data + at, rest);
                        if (output->data)
                                buf_truncate(output, rest);
                        at = 0;
                        int r = r_worker_read(&t->worker, item.size, t->task->stopped, error);
                        if (r == R_WORKER_E_END)
                                return r_task_worker_ended(t, "", error);
                        if (r)
                                return r;
                        continue;
                }
                if (item.kind == R_ITEM_TIMES)
                        r_task_log_times(item.times);
                int r = item.kind == R_ITEM_ROW ? r_task_emit(t, &item) : 0;
                if (r)
                        return r;
                at += item.size;
        }
}

static int r_task_run(struct r_task *t, int partition, fst_iter *rows, struct fst_error *error)
{
        const fst_batch *batch;
        bool started = false;
        int r = 0;
        while (r == 0 && fst_next_batch(rows, &batch)) {
                if (!started)
                        r = r_task_start(t, partition, error);
                started = true;
                if (r == 0)
                        r = r_task_put_batch(t, batch, error);
        }
        if (!started || r)
                return r;
        if (t->out->op->status || t->task->run->status) /* no more rows are needed, or the input failed */
                return OP_ENOUGH;
        r = r_task_feed_pending(t, 1, error);
        r_worker_close_input(&t->worker);
        return r ? r : r_task_read_answer(t, error);
}

static int r_compute(fst_task *task, int partition, fst_iter *rows, fst_out *out)
{
        struct r_task t = {.task = task, .out = out, .worker = {.in = -1, .out = -1}};
        struct fst_error error = FST_ERROR_INIT;
        r_task_parse(&t);
        int r = r_task_run(&t, partition, rows, &error);
        if (r < 0 && !task->run->status)
                r_task_failed(&t, r, &error);
        r_worker_end(&t.worker, r == 0);
        buf_deinit(&t.bytes);
        free(t.found);
        free(t.directory);
        error_deinit(&error);
        return r > 0 ? 0 : r;
}

static int r_place(fst_task *task, int64_t bucket, int partitions)
{
        int64_t place = bucket % partitions;
        return (int)(place < 0 ? place + partitions : place);
}

const fst_fn builtin_r[BUILTIN_R] = {
        [COMPUTE] = {.code = (void (*)(void))r_compute,
                     .shape = FST_SHAPE(FST_FORM_ITER_AT, FST_KIND_NONE, FST_KIND_NONE),
                     .name = "RRDD"},
        [PLACE] = {.code = (void (*)(void))r_place,
                   .shape = FST_SHAPE(FST_FORM_PLACE, FST_KIND_I64, FST_KIND_NONE),
                   .name = "HashPartitioner"},
};
