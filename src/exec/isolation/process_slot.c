/*
 * The executor's side of a task process; see process_slot.h.
 *
 * Everything except process_slot_kill and process_slot_activity happens on the slot's thread, which sleeps in poll
 * until the task process sends something or the time limit of a killed task expires.
 *
 * Invariants: `work` is open exactly while a task process exists whose end is not known. Each task of the batch gets
 * one outcome: done[i] is set with it. Packets of a task process are checked. A malformed packet ends the process.
 */
#include "exec/isolation/process_slot.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/app/source_line.h"
#include "exec/guard/core_file.h"
#include "exec/isolation/isolation.h"
#include "exec/isolation/task_process_requests.h"
#include "exec/isolation/task_process_wire.h"
#include "exec/isolation/zygote.h"
#include "numa/numa_nodes.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "shuffle/shuffle_output_export.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_NS INT64_C(100000000) /* from the flag to SIGKILL */
#define LEAVE_MS 2000               /* time for an executor without a zygote to end */
#define REPORT_MS 30000             /* time for the zygote to report: a core dump may be written first */
enum { MAX_FUTILE = 3 };

struct process_slot {
        int index;
        const struct exec_env *env;
        struct isolation *isolation;
        int page_fd; /* of `shared` */
        struct task_process_shared *shared;
        int wake; /* eventfd: kill_at has changed */

        int work, status; /* sockets; -1: no task process */
        struct stage_context *stage;
        size_t modules; /* number of modules sent */
        char crash[1024];
        struct task_process_received in;
        struct task_process_requests *requests;

        pthread_mutex_t lock;           /* protects all fields below */
        pid_t pid;                      /* 0: no task process */
        struct task_batch *run;         /* the current batch */
        uint32_t n;                     /* number of tasks sent to the task process */
        uint16_t given[MAX_TASK_BATCH]; /* the index of each in the batch */
        bool done[MAX_TASK_BATCH];      /* by index in the batch */
        int64_t kill_task, kill_at;     /* -1: none */
        bool ended_by_us;
};

struct process_slot *process_slot_new(int index, const struct exec_env *env, struct isolation *isolation)
{
        struct process_slot *s = new0(struct process_slot);
        s->index = index;
        s->env = env;
        s->isolation = isolation;
        s->page_fd = s->wake = s->work = s->status = -1;
        s->kill_task = -1;
        s->requests = task_process_requests_new(env);
        pthread_mutex_init(&s->lock, NULL);
        return s;
}

/* ------------------------------------------------------------------------------------------- starting, ending */

static int open_shared(struct process_slot *s, struct fst_error *error)
{
        if (s->shared)
                return 0;
        int fd = memfd_create("worker-shared", MFD_CLOEXEC);
        if (fd < 0)
                return error_errno(error, "creating the shared memory of a task process");
        void *p = MAP_FAILED;
        if (ftruncate(fd, sizeof(*s->shared)) == 0)
                p = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        int wake = p == MAP_FAILED ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (wake < 0) {
                int r = error_errno(error, "creating the shared memory of a task process");
                close(fd);
                if (p != MAP_FAILED)
                        munmap(p, sizeof(*s->shared));
                return r;
        }
        s->page_fd = fd;
        s->wake = wake;
        s->shared = p;
        return 0;
}

static void process_slot_put_text(struct buf *b, const char *text)
{
        buf_append(b, text, strlen(text) + 1);
}

static int send_settings(struct process_slot *s)
{
        const struct isolation *iso = s->isolation;
        _cleanup_(buf_deinit) struct buf body = BUF_INIT, roots = BUF_INIT;
        struct task_process_settings settings = {.heap = (int64_t)iso->shares.process_heap,
                                                 .data_limit = (int64_t)iso->shares.process_data,
                                                 .seed = s->env->seed,
                                                 .index = (uint32_t)s->index,
                                                 .secret = (uint32_t)s->env->io_secret_len};
        for (struct strmap_entry *e = NULL; (e = strmap_next(&iso->conf->set, e));)
                settings.pairs++;
        buf_append(&body, &settings, sizeof(settings));
        if (s->env->io_secret_len)
                buf_append(&body, s->env->io_secret, s->env->io_secret_len);
        process_slot_put_text(&body, s->env->app_id ? s->env->app_id : "");
        for (size_t i = 0; i < disk_dirs_count(s->env->shuffles->space.dirs); i++)
                buf_printf(&roots, "%s%s", i ? "," : "", disk_dirs_root(s->env->shuffles->space.dirs, i));
        process_slot_put_text(&body, buf_text(&roots));
        process_slot_put_text(&body, s->env->may_commit ? "1" : "");
        for (struct strmap_entry *e = NULL; (e = strmap_next(&iso->conf->set, e));) {
                process_slot_put_text(&body, e->key);
                process_slot_put_text(&body, e->value);
        }
        int r = task_process_send(s->work, PACKET_SETTINGS, body.data, body.len, s->page_fd);
        explicit_bzero(body.data, body.len);
        return r;
}

/* Reads the zygote's next report: 1; 0 if there will be none. */
static int read_report(int status, struct zygote_report *report)
{
        struct pollfd p = {.fd = status, .events = POLLIN};
        if (poll(&p, 1, REPORT_MS) <= 0)
                return 0;
        return recv(status, report, sizeof(*report), 0) == (ssize_t)sizeof(*report);
}

static int set_ended_error(struct process_slot *s, struct fst_error *error)
{
        return error_set(error, -EPIPE,
                         "no task process can be started: the zygote (process %d), which forks them, has ended",
                         (int)zygote_pid(s->isolation->zygote));
}

static int fork_task_process(struct process_slot *s, int *work, int *status, pid_t *pid, struct fst_error *error)
{
        int a[2], b[2] = {-1, -1};
        struct zygote_report report;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a) < 0)
                return error_errno(error, "creating the socket of a task process");
        int r = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, b) < 0
                        ? error_errno(error, "creating the socket of a task process")
                        : zygote_fork(s->isolation->zygote, a[1], b[1], error);
        close(a[1]);
        if (b[1] >= 0)
                close(b[1]);
        if (r == 0 && !read_report(b[0], &report))
                r = set_ended_error(s, error);
        else if (r == 0 && report.kind != ZYGOTE_FORKED)
                r = error_set(error, report.status, "forking a task process: %s", strerror(-report.status));
        if (r) {
                close(a[0]);
                if (b[0] >= 0)
                        close(b[0]);
                return r;
        }
        *work = a[0];
        *status = b[0];
        *pid = report.pid;
        return 0;
}

static int start_task_process(struct process_slot *s, struct fst_error *error)
{
        pid_t pid = 0;
        if (s->work >= 0)
                return 0;
        int r = open_shared(s, error);
        if (r == 0)
                r = fork_task_process(s, &s->work, &s->status, &pid, error);
        if (r)
                return r;
        if (s->env->numa)
                numa_bind_process(s->env->numa, s->index, pid);
        s->shared->running = -1;
        s->shared->watched = NULL;
        s->shared->records_read = NULL;
        s->modules = 0;
        s->crash[0] = 0;
        pthread_mutex_lock(&s->lock);
        s->pid = pid;
        s->ended_by_us = false;
        pthread_mutex_unlock(&s->lock);
        send_settings(s); /* a process that has ended already is noticed when it does not reply */
        return 0;
}

/* Ends the task process if it still runs; *@report describes its end. Returns false if the zygote did not report. */
static bool end_task_process(struct process_slot *s, struct zygote_report *report)
{
        bool told = false;
        *report = (struct zygote_report){0};
        close(s->work);
        s->work = -1;
        pthread_mutex_lock(&s->lock);
        pid_t pid = s->pid;
        pthread_mutex_unlock(&s->lock);
        zygote_kill(s->isolation->zygote, pid);
        while (read_report(s->status, report) && !told)
                told = report->kind == ZYGOTE_ENDED;
        close(s->status);
        s->status = -1;
        pthread_mutex_lock(&s->lock);
        s->pid = 0;
        pthread_mutex_unlock(&s->lock);
        stage_context_unref(steal(s->stage));
        task_process_requests_reset(s->requests);
        return told;
}

void process_slot_prepare(struct process_slot *s)
{
        struct fst_error error = FST_ERROR_INIT;
        if (start_task_process(s, &error))
                log_warn("Executor", "%s", error_message(&error));
        error_deinit(&error);
}

void process_slot_free(struct process_slot *s)
{
        struct zygote_report report;
        if (!s)
                return;
        if (s->work >= 0)
                end_task_process(s, &report);
        task_process_requests_free(s->requests);
        stage_context_unref(s->stage);
        if (s->shared) {
                munmap(s->shared, sizeof(*s->shared));
                close(s->page_fd);
                close(s->wake);
        }
        pthread_mutex_destroy(&s->lock);
        free(s);
}

/* ------------------------------------------------------------------------------------------------------ sending */

static int send_modules(struct process_slot *s)
{
        struct isolation *iso = s->isolation;
        int r = 0;
        pthread_mutex_lock(&iso->lock);
        for (; s->modules < iso->n_modules && r == 0; s->modules++)
                r = task_process_send(s->work, PACKET_MODULE, iso->modules[s->modules],
                                      strlen(iso->modules[s->modules]), -1);
        pthread_mutex_unlock(&iso->lock);
        return r;
}

static int process_slot_encode_stage(struct process_slot *s, struct stage_context *work, struct fst_error *error)
{
        struct isolation *iso = s->isolation;
        int r = 0;
        pthread_mutex_lock(&iso->lock);
        if (work->encoded.len == 0)
                r = iso->encode ? iso->encode(work, &work->encoded, error)
                                : error_set(error, -ENOTSUP, "this stage cannot run in a task process");
        pthread_mutex_unlock(&iso->lock);
        return r;
}

/*
 * Sends modules and the stage. Returns -EPIPE if the process has ended, which its socket also shows; other negatives
 * with @error.
 */
static int send_stage(struct process_slot *s, struct stage_context *work, struct fst_error *error)
{
        int r = send_modules(s);
        if (r || s->stage == work)
                return r ? -EPIPE : 0;
        if ((r = process_slot_encode_stage(s, work, error)))
                return r;
        stage_context_unref(steal(s->stage));
        if (task_process_send(s->work, PACKET_STAGE, work->encoded.data, work->encoded.len, -1))
                return -EPIPE;
        s->stage = stage_context_ref(work);
        return 0;
}

static void note_killed(struct slot_task *t)
{
        t->state = TASK_KILLED;
        t->message = mem_strdup("killed before it ran");
}

/* Sends the tasks without an outcome, except those killed before they ran. Returns false if there are none. */
static bool send_run(struct process_slot *s, struct task_batch *run)
{
        struct task_process_task tasks[MAX_TASK_BATCH];
        uint32_t n = 0;
        pthread_mutex_lock(&s->lock);
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                if (s->done[i])
                        continue;
                if (__atomic_load_n(&t->killed, __ATOMIC_RELAXED)) {
                        note_killed(t);
                        s->done[i] = true;
                        continue;
                }
                __atomic_store_n(&s->shared->stopped[n], 0, __ATOMIC_RELAXED);
                s->given[n] = (uint16_t)i;
                tasks[n++] = (struct task_process_task){.info = t->info, .index = t->index, .output = t->output};
        }
        s->n = n;
        pthread_mutex_unlock(&s->lock);
        __atomic_store_n(&s->shared->running, -1, __ATOMIC_RELAXED);
        if (n == 0)
                return false;
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        buf_append(&body, &(struct task_process_batch){.tasks = n}, sizeof(struct task_process_batch));
        buf_append(&body, tasks, n * sizeof(tasks[0]));
        if (run->resources.text.len)
                buf_append(&body, run->resources.text.data, run->resources.text.len);
        task_process_send(s->work, PACKET_BATCH, body.data, body.len, -1); /* as in send_settings */
        return true;
}

/* --------------------------------------------------------------------------------------------------- receiving */

static void set_failed(struct slot_task *t, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void set_failed(struct slot_task *t, int status, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        va_list args;
        va_start(args, format);
        buf_vprintf(&b, format, args);
        va_end(args);
        t->state = TASK_FAILED;
        t->status = status;
        free(t->message);
        t->message = buf_steal(&b);
}

/* Stores the output of a successful task. Steals the @fd of a map output. */
static void take_product(struct process_slot *s, struct task_batch *run, struct slot_task *t, const void *data,
                         size_t len, int fd)
{
        struct fst_error error = FST_ERROR_INIT;
        const fst_rdd *shuffled = run->work->shuffled;
        if (!shuffled && fd < 0) {
                buf_append(&t->encoded, data, len);
                t->is_encoded = true;
                return;
        }
        int r = !shuffled || fd < 0 ? error_set(&error, -EBADMSG, "the task process sent a malformed reply")
                                    : shuffle_handover_take(s->env->shuffles, s->env->memory,
                                                            shuffled->shuffle.partitioner.partitions, shuffled->type,
                                                            fd, data, len, &t->shuffle_output, &error);
        if (!shuffled && fd >= 0)
                close(fd);
        if (r) {
                set_failed(t, r, "%s", error_message(&error));
                accumulator_updates_free(steal(t->accumulated));
        }
        error_deinit(&error);
}

static int take_fd(struct task_process_received *in)
{
        int fd = in->fd;
        in->fd = -1;
        return fd;
}

/* Reads outcomes. Returns false if they are malformed. */
static bool take_outcomes(struct process_slot *s, struct task_batch *run)
{
        struct task_process_outcome o;
        struct task_process_texts texts;
        size_t offset = 0;
        int r;
        while ((r = task_process_outcome_get(s->in.body, s->in.len, &offset, s->n, &o, &texts)) > 0) {
                int i = s->given[o.at];
                struct slot_task *t = &run->tasks[i];
                if (s->done[i])
                        return false;
                t->state = (enum task_state)o.state;
                t->status = o.status;
                t->start_ms = o.start_ms;
                t->finish_ms = o.finish_ms;
                t->run_ns = o.run_ns;
                t->fetch_shuffle = o.fetch_shuffle;
                t->fetch_map = o.fetch_map;
                t->fetch_executor = o.fetch_executor;
                t->counters = o.counters;
                t->result.number = o.number;
                t->result.bytes = o.bytes;
                if (o.state != TASK_SUCCEEDED)
                        t->message = mem_strndup(texts.message, o.message);
                else if (o.accumulated &&
                         accumulator_updates_decode(texts.accumulated, o.accumulated, &t->accumulated, NULL))
                        return false;
                else
                        take_product(s, run, t, texts.encoded, o.encoded, take_fd(&s->in));
                pthread_mutex_lock(&s->lock);
                s->done[i] = true;
                pthread_mutex_unlock(&s->lock);
        }
        return r == 0;
}

static bool take_commit(struct process_slot *s)
{
        struct task_process_commit c;
        if (s->in.len != sizeof(c) || !s->env->may_commit)
                return false;
        memcpy(&c, s->in.body, sizeof(c));
        int32_t verdict = s->env->may_commit(s->env->commit_owner, c.stage, c.stage_attempt, c.partition, c.task_id);
        task_process_send(s->work, PACKET_VERDICT, &verdict, sizeof(verdict), -1);
        return true;
}

static bool take_request(struct process_slot *s, struct task_batch *run)
{
        int32_t at = __atomic_load_n(&s->shared->running, __ATOMIC_ACQUIRE);
        struct slot_task *t = at >= 0 && (uint32_t)at < s->n ? &run->tasks[s->given[at]] : NULL;
        return task_process_requests_reply(s->requests, s->work, s->shared, run, t, &s->in);
}

/* Fails all tasks without an outcome for one reason. */
static void fail_rest(struct process_slot *s, struct task_batch *run, int status, const char *why)
{
        pthread_mutex_lock(&s->lock);
        for (int i = 0; i < run->n; i++) {
                if (s->done[i])
                        continue;
                set_failed(&run->tasks[i], status, "%s", why);
                s->done[i] = true;
        }
        pthread_mutex_unlock(&s->lock);
}

static bool take_refusal(struct process_slot *s, struct task_batch *run)
{
        int32_t status;
        if (s->in.len < sizeof(status))
                return false;
        memcpy(&status, s->in.body, sizeof(status));
        _cleanup_free_ char *why = mem_strndup((const char *)s->in.body + sizeof(status), s->in.len - sizeof(status));
        fail_rest(s, run, status < 0 ? status : -EIO, why);
        stage_context_unref(steal(s->stage));
        s->modules = 0;
        return true;
}

/* Handles one packet. Returns false if the process has ended or must end. */
static bool take_packet(struct process_slot *s, struct task_batch *run)
{
        int r = task_process_receive(s->work, &s->in);
        if (r == -EBADMSG)
                log_warn("Executor", "task process %d sent a malformed packet: its memory is corrupted", (int)s->pid);
        if (r <= 0)
                return false;
        bool good = false;
        switch (s->in.kind) {
        case 0:
                snprintf(s->crash, sizeof(s->crash), "%.*s", (int)(s->in.len - strlen(PACKET_CRASH)),
                         (const char *)s->in.body + strlen(PACKET_CRASH));
                s->crash[strcspn(s->crash, "\n")] = 0;
                good = true;
                break;
        case PACKET_OUTCOMES:
        case PACKET_OUTPUT:
                good = take_outcomes(s, run);
                break;
        case PACKET_REQUEST:
                good = take_request(s, run);
                break;
        case PACKET_COMMIT:
                good = take_commit(s);
                break;
        case PACKET_REFUSED:
                good = take_refusal(s, run);
                break;
        }
        task_process_received_deinit(&s->in);
        return good;
}

/* ---------------------------------------------------------------------------------- ends of task processes */

/* Describes how the process ended, for people. */
static void describe_process_end(struct process_slot *s, const struct zygote_report *report, bool told, struct buf *b)
{
        char core[300];
        int signal = WIFSIGNALED(report->status) ? WTERMSIG(report->status) : 0;
        if (!told)
                buf_puts(b, "its task process and the zygote, which knows the reason, have ended");
        else if (signal == SIGKILL)
                buf_puts(b, "its task process was killed (SIGKILL), possibly by the kernel because memory was short");
        else if (signal)
                buf_printf(b, "its task process was killed by signal %d (SIG%s)", signal, sigabbrev_np(signal));
        else
                buf_printf(b, "its task process exited with status %d while it ran", WEXITSTATUS(report->status));
        if (told && report->core_dumped) {
                char directory[4096];
                if (!getcwd(directory, sizeof(directory)))
                        directory[0] = 0;
                core_file_describe(report->pid, signal, "firesteel-worke", directory, NULL, core, sizeof(core));
                if (core[0])
                        buf_printf(b, "; %s", core);
        }
        int64_t limit = (int64_t)s->isolation->shares.process_data;
        if (told && limit > 0 && report->max_resident > limit / 10 * 8)
                buf_printf(b,
                           "; it had used %" PRId64 " MiB of the %" PRId64
                           " MiB that a task process may allocate: raise spark.executor.memory or "
                           "spark.executor.memoryOverhead, or run fewer tasks at a time",
                           report->max_resident >> 20, limit >> 20);
}

/* The process ended in the middle of a batch: fails the task that caused it. Returns false if no task did. */
static bool blame_task(struct process_slot *s, struct task_batch *run, const struct zygote_report *report, bool told)
{
        int32_t at = __atomic_load_n(&s->shared->running, __ATOMIC_ACQUIRE);
        if (at < 0 || (uint32_t)at >= s->n || s->done[s->given[at]])
                return false;
        struct slot_task *t = &run->tasks[s->given[at]];
        bool killed = __atomic_load_n(&t->killed, __ATOMIC_RELAXED);
        if (s->ended_by_us && !killed)
                return false; /* the process was ended for the previous task */
        int64_t began = __atomic_load_n(&s->shared->began_ns, __ATOMIC_RELAXED), now = now_ns();
        t->run_ns = began > 0 && began <= now ? now - began : 0;
        t->finish_ms = time_of_day_ms();
        t->start_ms = t->finish_ms - t->run_ns / 1000000;
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        _cleanup_free_ char *with_line = s->crash[0] ? source_line_add(s->crash) : NULL;
        if (s->crash[0])
                buf_printf(&b, "%s; ", with_line ? with_line : s->crash);
        else
                buf_printf(&b, "task %" PRId64 " in stage %d.%d (partition %d, attempt %d): ", t->info.id,
                           t->info.stage, t->info.stage_attempt, t->info.partition, t->info.attempt);
        describe_process_end(s, report, told, &b);
        if (s->ended_by_us) {
                t->state = TASK_KILLED;
                t->message = mem_strdup("killed together with its task process");
        } else {
                set_failed(t, -ECHILD, "%s", buf_text(&b));
                log_warn("Executor", "%s", t->message); /* the driver decides whether this is an error */
        }
        pthread_mutex_lock(&s->lock);
        s->done[s->given[at]] = true;
        pthread_mutex_unlock(&s->lock);
        return true;
}

/* ------------------------------------------------------------------------------------------------- running */

static bool all_done(const struct process_slot *s, const struct task_batch *run)
{
        for (int i = 0; i < run->n; i++)
                if (!s->done[i])
                        return false;
        return true;
}

/* Returns the ms until the killed task's time is over, 0 or less if it is, -1 if there is no such task. */
static int time_left(struct process_slot *s, bool *over)
{
        pthread_mutex_lock(&s->lock);
        int64_t task = s->kill_task, left = s->kill_at - now_ns();
        *over = task >= 0 && left <= 0;
        pthread_mutex_unlock(&s->lock);
        return task < 0 ? -1 : left <= 0 ? 0 : (int)(left / 1000000) + 1;
}

static bool is_running(struct process_slot *s, struct task_batch *run, int64_t task_id)
{
        int32_t at = __atomic_load_n(&s->shared->running, __ATOMIC_ACQUIRE);
        return at >= 0 && (uint32_t)at < s->n && run->tasks[s->given[at]].info.id == task_id;
}

static void kill_overdue(struct process_slot *s, struct task_batch *run)
{
        pthread_mutex_lock(&s->lock);
        int64_t task = s->kill_task;
        s->kill_task = -1;
        bool kill = task >= 0 && is_running(s, run, task);
        s->ended_by_us |= kill;
        pid_t pid = s->pid;
        pthread_mutex_unlock(&s->lock);
        if (!kill)
                return;
        log_info("Executor", "Task %" PRId64 " has not ended: killing its task process %d", task, (int)pid);
        zygote_kill(s->isolation->zygote, pid);
}

/* Serves the task process until all tasks sent have outcomes, or it has ended. */
static void serve_task_process(struct process_slot *s, struct task_batch *run)
{
        while (!all_done(s, run)) {
                bool over;
                struct pollfd fds[] = {{.fd = s->work, .events = POLLIN}, {.fd = s->wake, .events = POLLIN}};
                int left = time_left(s, &over);
                if (over)
                        kill_overdue(s, run);
                if (poll(fds, 2, over ? -1 : left) < 0)
                        continue;
                if (fds[1].revents) {
                        eventfd_t value;
                        eventfd_read(s->wake, &value);
                }
                if (fds[0].revents && !take_packet(s, run))
                        return;
        }
}

/*
 * Waits for the executor's end: without a zygote the executor ends, and its tasks are lost with it. If they failed
 * first, one after another would fail without its fault.
 */
static void wait_for_executor_end(struct process_slot *s, struct task_batch *run)
{
        struct pollfd p = {.fd = zygote_fd(s->isolation->zygote), .events = POLLIN};
        if (!s->isolation->all || poll(&p, 1, 0) <= 0)
                return;
        for (int ms = 0; ms < LEAVE_MS; ms += 10) {
                for (int i = 0; i < run->n; i++)
                        if (__atomic_load_n(&run->tasks[i].killed, __ATOMIC_RELAXED))
                                return;
                usleep(10000);
        }
}

/* Runs one process's part of a batch. Returns false if the process ended before it began a task. */
static bool run_in_task_process(struct process_slot *s, struct task_batch *run)
{
        struct fst_error error = FST_ERROR_INIT;
        struct zygote_report report;
        int r = start_task_process(s, &error);
        if (r)
                wait_for_executor_end(s, run);
        if (r == 0)
                r = send_stage(s, run->work, &error);
        if (r && r != -EPIPE) {
                fail_rest(s, run, r, error_message(&error));
                error_deinit(&error);
                return true;
        }
        if (r == -EPIPE && error.message) {
                fail_rest(s, run, r, error_message(&error));
                error_deinit(&error);
                return true;
        }
        int before = 0, after = 0;
        for (int i = 0; i < run->n; i++)
                before += s->done[i];
        if (!send_run(s, run))
                return true;
        serve_task_process(s, run);
        if (all_done(s, run))
                return true;
        bool told = end_task_process(s, &report);
        bool blamed = blame_task(s, run, &report, told);
        for (int i = 0; i < run->n; i++)
                after += s->done[i];
        return blamed || after > before || s->ended_by_us;
}

void process_slot_run(struct process_slot *s, struct task_batch *run)
{
        struct zygote_report report;
        int futile = 0;
        pthread_mutex_lock(&s->lock);
        memset(s->done, 0, sizeof(s->done));
        s->n = 0;
        s->run = run;
        s->kill_task = -1;
        pthread_mutex_unlock(&s->lock);
        while (!all_done(s, run)) {
                futile = run_in_task_process(s, run) ? 0 : futile + 1;
                if (futile == MAX_FUTILE)
                        fail_rest(s, run, -ECHILD, "task processes end before they begin this task");
        }
        task_process_requests_reset(s->requests); /* it points to flags of the batch */
        pthread_mutex_lock(&s->lock);
        s->run = NULL;
        pthread_mutex_unlock(&s->lock);
        if (!s->isolation->all && s->work >= 0)
                end_task_process(s, &report); /* this process was for a suspect only */
        else
                process_slot_prepare(s);
}

/* ------------------------------------------------------------------------------------------ from other threads */

void process_slot_kill(struct process_slot *s, int64_t task_id, bool now)
{
        pthread_mutex_lock(&s->lock);
        for (uint32_t i = 0; s->run && i < s->n; i++) {
                if (s->run->tasks[s->given[i]].info.id != task_id || s->done[s->given[i]])
                        continue;
                __atomic_store_n(&s->shared->stopped[i], 1, __ATOMIC_RELAXED);
                if (now) {
                        s->kill_task = task_id;
                        s->kill_at = now_ns() + GRACE_NS;
                        eventfd_write(s->wake, 1);
                }
        }
        pthread_mutex_unlock(&s->lock);
}

static int64_t process_slot_resident(pid_t pid)
{
        char path[40];
        int64_t pages = 0;
        snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
        FILE *f = fopen(path, "re");
        if (!f)
                return 0;
        if (fscanf(f, "%*d %" SCNd64, &pages) != 1)
                pages = 0;
        fclose(f);
        return pages * sysconf(_SC_PAGESIZE);
}

static bool read_from(pid_t pid, const void *from, void *to, size_t size)
{
        struct iovec here = {to, size}, there = {(void *)from, size};
        return from && process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* Reads the name of the current function from the process's memory; "" on failure. */
static void read_function(pid_t pid, const void *watched, char *text, size_t size)
{
        const char *name = NULL;
        text[0] = 0;
        if (!read_from(pid, watched, &name, sizeof(name)) || !name)
                return;
        for (size_t i = 0; i + 1 < size; i++) { /* byte by byte: memory after the name may be unreadable */
                if (!read_from(pid, name + i, &text[i], 1) || !text[i])
                        break;
                text[i + 1] = 0;
        }
}

bool process_slot_progress(struct process_slot *s, struct slot_progress *p)
{
        bool known = false;
        pthread_mutex_lock(&s->lock);
        if (s->pid && s->run && s->shared) {
                int32_t at = __atomic_load_n(&s->shared->running, __ATOMIC_ACQUIRE);
                int64_t began = __atomic_load_n(&s->shared->began_ns, __ATOMIC_RELAXED);
                known = at >= 0 && (uint32_t)at < s->n &&
                        read_from(s->pid, s->shared->records_read, &p->records, sizeof(p->records)) &&
                        __atomic_load_n(&s->shared->running, __ATOMIC_ACQUIRE) == at; /* else: of the next task */
                if (known) {
                        p->task_id = s->run->tasks[s->given[at]].info.id;
                        p->run_ns = now_ns() - began;
                }
        }
        pthread_mutex_unlock(&s->lock);
        return known;
}

void process_slot_activity(struct process_slot *s, struct slot_activity *a)
{
        pthread_mutex_lock(&s->lock);
        a->process_pid = s->pid;
        if (s->pid && s->run && s->shared) {
                int32_t at = __atomic_load_n(&s->shared->running, __ATOMIC_ACQUIRE);
                if (at >= 0 && (uint32_t)at < s->n)
                        a->task_id = s->run->tasks[s->given[at]].info.id;
                a->memory = process_slot_resident(s->pid);
                read_function(s->pid, s->shared->watched, a->function, sizeof(a->function));
        }
        pthread_mutex_unlock(&s->lock);
}
