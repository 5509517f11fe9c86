/*
 * The task process; see task_process.h.
 *
 * It handles packets one after another and sleeps in recvmsg between them, so it uses no CPU while idle. Outcomes are
 * sent together, at most once in a millisecond: a batch of small tasks costs one packet, and a crash loses no outcome
 * of a task that took long.
 *
 * The executor owns cached partitions: the task process reads them from there and hands computed ones over.
 */
#include "exec/isolation/task_process.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/log4j2.h"
#include "exec/guard/crash.h"
#include "exec/app/module.h"
#include "exec/task/task_runner.h"
#include "exec/isolation/task_process_requests.h"
#include "exec/isolation/task_process_wire.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "shuffle/shuffle_output_export.h"
#include "store/file_cipher.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_NS 1000000
#define FLUSH_BYTES ((size_t)16 << 10)

struct task_process {
        int socket;
        const struct task_process_class *class;
        struct fst_conf conf;
        char *app_id;
        bool ready; /* settings were received: env and runner exist */
        struct exec_env env;
        uint8_t io_secret[MAX_FILE_SECRET];
        struct task_process_shared *shared;
        struct task_runner runner;
        struct stage_context *work;
        struct slot_task tasks[MAX_TASK_BATCH];
        struct task_resources resources;
        struct buf outcomes;
        int64_t flushed_ns;
        struct task_process_received in;
};

/* --------------------------------------------------------------------------------------------------- settings */

/*
 * Limits the allocations of the process beyond its present size: malloc and mmap return NULL, and other processes are
 * not affected.
 */
static void limit_data(int64_t bytes)
{
        int64_t data = 0;
        FILE *f = fopen("/proc/self/statm", "re");
        if (f) {
                if (fscanf(f, "%*d %*d %*d %*d %*d %" SCNd64, &data) != 1)
                        data = 0;
                fclose(f);
        }
        if (bytes <= 0)
                return;
        rlim_t limit = (rlim_t)(data * sysconf(_SC_PAGESIZE) + bytes);
        struct rlimit r = {.rlim_cur = limit, .rlim_max = limit};
        setrlimit(RLIMIT_DATA, &r);
}

static const char *next_text(const char **at, const char *end)
{
        const char *text = *at, *zero = memchr(text, 0, (size_t)(end - text));
        if (!zero)
                return NULL;
        *at = zero + 1;
        return text;
}

static int task_process_may_commit(void *owner, int stage, int stage_attempt, int partition, int64_t task_id)
{
        struct task_process *w = owner;
        struct task_process_commit question = {
                .stage = stage, .stage_attempt = stage_attempt, .partition = partition, .task_id = task_id};
        static struct task_process_received in;
        int32_t verdict = -EIO;
        int r = task_process_send(w->socket, PACKET_COMMIT, &question, sizeof(question), -1);
        if (r)
                return r;
        r = task_process_receive(w->socket, &in);
        if (r <= 0)
                return -EPIPE;
        if (in.kind == PACKET_VERDICT && in.len == sizeof(verdict))
                memcpy(&verdict, in.body, sizeof(verdict));
        task_process_received_deinit(&in);
        return verdict;
}

static int task_process_read_settings(struct task_process *w, struct task_process_settings *s, struct fst_error *error)
{
        const char *at = (const char *)w->in.body + sizeof(*s), *end = (const char *)w->in.body + w->in.len;
        if (w->in.len < sizeof(*s))
                return error_set(error, -EBADMSG, "a task process received no settings");
        memcpy(s, w->in.body, sizeof(*s));
        if (s->secret > MAX_FILE_SECRET || (size_t)(end - at) < s->secret)
                return error_set(error, -EBADMSG, "a task process received no settings");
        if (s->secret) {
                memcpy(w->io_secret, at, s->secret);
                w->env.io_secret = w->io_secret;
                w->env.io_secret_len = s->secret;
                at += s->secret;
        }
        const char *app_id = next_text(&at, end), *roots = next_text(&at, end), *commits = next_text(&at, end);
        if (!app_id || !roots || !commits)
                return error_set(error, -EBADMSG, "a task process received no settings");
        w->app_id = mem_strdup(app_id);
        conf_init(&w->conf);
        for (uint32_t i = 0; i < s->pairs; i++) {
                const char *key = next_text(&at, end), *value = next_text(&at, end);
                if (!key || !value)
                        return error_set(error, -EBADMSG, "a task process received truncated settings");
                conf_set(&w->conf, key, value);
        }
        conf_set(&w->conf, "spark.local.dir", roots);
        static const char *const stronger[] = {"LOCAL_DIRS", "CONTAINER_ID", "SPARK_EXECUTOR_DIRS", "SPARK_LOCAL_DIRS",
                                               "MESOS_SANDBOX"};
        for (size_t i = 0; i < ARRAY_SIZE(stronger); i++)
                unsetenv(stronger[i]);
        w->shared = mmap(NULL, sizeof(*w->shared), PROT_READ | PROT_WRITE, MAP_SHARED, w->in.fd, 0);
        if (w->shared == MAP_FAILED)
                return error_errno(error, "mapping the memory shared with the executor");
        if (*commits) {
                w->env.may_commit = task_process_may_commit;
                w->env.commit_owner = w;
        }
        return 0;
}

static int apply_settings(struct task_process *w, struct fst_error *error)
{
        struct task_process_settings s;
        int r = task_process_read_settings(w, &s, error);
        if (r)
                return r;
        log4j2_configure(&w->conf, getenv("SPARK_CONF_DIR"), NULL);
        log_set_context(w->app_id, -1, -1);
        int (*commit)(void *, int, int, int, int64_t) = w->env.may_commit;
        w->env.passes_blocks = true;
        if ((r = exec_env_init(&w->env, &w->conf, s.heap, error)))
                return r;
        w->env.may_commit = commit;
        w->env.commit_owner = w;
        w->env.app_id = w->app_id;
        w->env.executor_id = "worker"; /* owns no map output, so that none is looked up here */
        w->env.seed = s.seed;
        if (w->class->prepare && (r = w->class->prepare(&w->env, &w->conf, error)))
                return r;
        task_runner_init(&w->runner, &w->env);
        task_process_requests_use(&w->env, &w->runner, w->socket, w->shared);
        crash_watch(&w->runner.run.function);
        w->shared->records_read = &w->runner.run.records_read;
        w->shared->watched = &w->runner.run.function;
        limit_data(s.data_limit);
        w->ready = true;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- running */

static void task_process_flush(struct task_process *w)
{
        if (w->outcomes.len && task_process_send(w->socket, PACKET_OUTCOMES, w->outcomes.data, w->outcomes.len, -1) < 0)
                _exit(0); /* the executor has ended */
        buf_reset(&w->outcomes);
        w->flushed_ns = now_ns();
}

static void task_process_fail(struct slot_task *t, int status, struct fst_error *error)
{
        t->state = TASK_FAILED;
        t->status = status;
        free(t->message);
        t->message = mem_strdup(error_message(error));
        error_deinit(error);
}

static void send_output(struct task_process *w, uint32_t at, struct slot_task *t)
{
        _cleanup_(buf_deinit) struct buf index = BUF_INIT, body = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int fd = -1;
        int r = shuffle_handover_give(t->shuffle_output, w->env.dirs, &fd, &index, &error);
        shuffle_output_unref(steal(t->shuffle_output));
        if (r) {
                task_process_fail(t, r, &error);
                task_process_outcome_put(&w->outcomes, at, t, NULL, 0);
                return;
        }
        task_process_outcome_put(&body, at, t, index.data, index.len);
        r = task_process_send(w->socket, PACKET_OUTPUT, body.data, body.len, fd);
        close(fd);
        if (r) {
                error_set(&error, r, "handing over the output of a map task: %s", strerror(-r));
                task_process_fail(t, r, &error);
                task_process_outcome_put(&w->outcomes, at, t, NULL, 0);
        }
}

static void send_result(struct task_process *w, uint32_t at, struct slot_task *t)
{
        _cleanup_(buf_deinit) struct buf encoded = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int r = w->class->encode_result(w->work->action, &t->result, &encoded, &error);
        if (r)
                task_process_fail(t, r, &error);
        task_process_outcome_put(&w->outcomes, at, t, encoded.data, encoded.len);
}

static void run_one(struct task_process *w, uint32_t at)
{
        struct slot_task *t = &w->tasks[at];
        int64_t now = now_ns();
        if (now - w->flushed_ns > FLUSH_NS || w->outcomes.len > FLUSH_BYTES)
                task_process_flush(w);
        __atomic_store_n(&w->shared->began_ns, now, __ATOMIC_RELAXED);
        __atomic_store_n(&w->shared->running, (int32_t)at, __ATOMIC_RELEASE);
        task_runner_run(&w->runner, w->work, &w->resources, t, 1, &w->shared->stopped[at]);
        if (t->state != TASK_SUCCEEDED)
                task_process_outcome_put(&w->outcomes, at, t, NULL, 0);
        else if (t->shuffle_output)
                send_output(w, at, t);
        else
                send_result(w, at, t);
        free(steal(t->message));
        accumulator_updates_free(steal(t->accumulated));
}

static void run_tasks(struct task_process *w)
{
        struct task_process_batch run;
        const unsigned char *body = w->in.body + sizeof(run);
        if (w->in.len < sizeof(run))
                return;
        memcpy(&run, w->in.body, sizeof(run));
        uint32_t n = run.tasks;
        if (!w->work || n > MAX_TASK_BATCH || w->in.len < sizeof(run) + n * sizeof(struct task_process_task))
                return; /* the reason was reported when the stage arrived */
        size_t used = sizeof(run) + n * sizeof(struct task_process_task);
        task_resources_set(&w->resources, w->in.body + used, w->in.len - used);
        for (uint32_t i = 0; i < n; i++) {
                struct task_process_task task;
                memcpy(&task, body + i * sizeof(task), sizeof(task));
                w->tasks[i] = (struct slot_task){.info = task.info, .index = task.index, .output = task.output};
        }
        w->flushed_ns = now_ns();
        for (uint32_t i = 0; i < n; i++)
                run_one(w, i);
        fflush(stdout); /* writes the functions' output now, because a signal may end the process */
        task_process_flush(w);
        __atomic_store_n(&w->shared->running, -1, __ATOMIC_RELEASE);
}

/* --------------------------------------------------------------------------------------------------- receiving */

static void drop_stage(struct task_process *w)
{
        if (w->ready)
                task_runner_drop(&w->runner);
        stage_context_unref(steal(w->work));
}

static int task_process_load_module(struct task_process *w, struct fst_error *error)
{
        const struct module *module;
        _cleanup_free_ char *path = mem_strndup((const char *)w->in.body, w->in.len);
        return module_load(path, &module, error);
}

static void task_process_handle_packet(struct task_process *w)
{
        struct fst_error error = FST_ERROR_INIT;
        int32_t r = 0;
        switch (w->in.kind) {
        case PACKET_SETTINGS:
                r = apply_settings(w, &error);
                break;
        case PACKET_MODULE:
                r = task_process_load_module(w, &error);
                break;
        case PACKET_STAGE:
                drop_stage(w);
                r = w->ready ? w->class->decode(w->in.body, w->in.len, &w->env, &w->work, &error) : 0;
                break;
        case PACKET_BATCH:
                run_tasks(w);
                break;
        default:
                r = error_set(&error, -EBADMSG, "a task process received an unknown packet");
        }
        if (r == 0)
                return;
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        buf_append(&body, &r, sizeof(r));
        buf_puts(&body, error_message(&error));
        task_process_send(w->socket, PACKET_REFUSED, body.data, body.len, -1);
        error_deinit(&error);
        if (w->in.kind != PACKET_STAGE)
                drop_stage(w);
}

/* Registers the program as a module, because functions may be its own and module_load never sees it. */
static void register_program(void)
{
        struct module_function entry;
        module_describe((void (*)(void))getauxval(AT_ENTRY), NULL, &entry, NULL);
}

int task_process_main(int socket, const struct task_process_class *class)
{
        struct task_process *w = new0(struct task_process);
        w->socket = socket;
        w->class = class;
        crash_init(socket, NULL, NULL);
        register_program();
        while (task_process_receive(socket, &w->in) > 0) {
                task_process_handle_packet(w);
                task_process_received_deinit(&w->in);
        }
        drop_stage(w);
        if (w->ready) {
                task_runner_deinit(&w->runner);
                exec_env_remove_files(&w->env);
        }
        fflush(stdout);
        return 0;
}
