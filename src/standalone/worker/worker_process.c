/*
 * A child process of a worker. The worker opens the output files and the process writes them itself, so no line is
 * lost. Rolled files are the exception: the worker copies their output.
 */
#include "standalone/worker/worker_process.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/fs.h"
#include "standalone/worker/cgroup.h"
#include "standalone/worker/log_roller.h"
#include "process/child.h"
#include "exec/executor_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct worker_process {
        struct child *child; /* NULL if ended */
        char *directory;
        uv_timer_t timeout;
        struct log_roller *rollers[2]; /* of stdout and stderr, NULL if not rolled */
        struct cgroup *group;
        void (*ended)(void *owner, struct worker_process *process, int status, const char *message);
        void *owner;
};

static void worker_process_closed(uv_handle_t *handle)
{
        struct worker_process *p = handle->data;
        free(p->directory);
        free(p);
}

static void finish_files(struct worker_process *p)
{
        for (int i = 0; i < 2; i++)
                if (p->rollers[i])
                        log_roller_finish(steal(p->rollers[i]));
}

static void child_ended(void *owner, struct child *child, int wait_status, const char *last_words)
{
        struct worker_process *p = owner;
        _cleanup_free_ char *message = executor_process_end(child_pid(child), wait_status, last_words, p->directory);
        p->child = NULL;
        finish_files(p);
        cgroup_free(steal(p->group));
        p->ended(p->owner, p, executor_process_status(wait_status), message);
        uv_close((uv_handle_t *)&p->timeout, worker_process_closed);
}

/* Opens a file for the child. Returns a descriptor, or a negative error. */
static int worker_process_open_file(struct worker_process *p, const struct worker_process_options *o, int i,
                                    struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", o->directory, i ? "stderr" : "stdout");
        int fd;
        if (o->rolling && o->rolling->strategy != ROLL_NEVER) {
                int r = log_roller_new(o->loop, o->rolling, path, &p->rollers[i], &fd, error);
                return r ? r : fd;
        }
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        return fd < 0 ? error_errno(error, "cannot write %s", path) : fd;
}

static int worker_process_put_header(int fd, const struct worker_process_options *o, struct fst_error *error)
{
        _cleanup_free_ char *header =
                mem_printf("%s: %s\n========================================\n\n", o->title, o->command);
        int r = write_all(fd, header, strlen(header));
        return r ? error_set(error, r, "cannot write %s/stderr: %s", o->directory, strerror(-r)) : 0;
}

static int worker_process_spawn(struct worker_process *p, const struct worker_process_options *o,
                                struct fst_error *error)
{
        int out = worker_process_open_file(p, o, 0, error);
        int err = out < 0 ? out : worker_process_open_file(p, o, 1, error);
        int r = err < 0 ? err : worker_process_put_header(err, o, error);
        struct child_options options = {.file = o->program,
                                        .arguments = string_list_argv(o->words),
                                        .environment = string_list_argv(o->variables),
                                        .directory = o->directory,
                                        .groups = o->group ? cgroup_procs(o->group) : NULL,
                                        .output = out,
                                        .errors = err,
                                        .whole_group = true,
                                        .ended = child_ended,
                                        .owner = p};
        if (r == 0)
                r = child_start(o->loop, &options, &p->child, error);
        if (out >= 0)
                close(out);
        if (err >= 0)
                close(err);
        return r;
}

int worker_process_start(const struct worker_process_options *options, struct worker_process **out,
                         struct fst_error *error)
{
        struct worker_process *p = new0(struct worker_process);
        int r = worker_process_spawn(p, options, error);
        if (r) {
                finish_files(p);
                cgroup_free(options->group);
                free(p);
                return r;
        }
        p->group = options->group;
        p->directory = mem_strdup(options->directory);
        p->ended = options->ended;
        p->owner = options->owner;
        p->timeout.data = p;
        uv_timer_init(options->loop, &p->timeout);
        *out = p;
        return 0;
}

static void worker_process_timed_out(uv_timer_t *timer)
{
        struct worker_process *p = timer->data;
        if (!p->child)
                return;
        log_warn("Worker", "Process %d did not end in time: killing it", (int)child_pid(p->child));
        child_kill(p->child, SIGKILL);
}

void worker_process_end(struct worker_process *p, int64_t timeout)
{
        if (!p->child || uv_is_active((uv_handle_t *)&p->timeout))
                return;
        child_kill(p->child, SIGTERM);
        child_kill(p->child, SIGCONT); /* a stopped process would not get the signal */
        uv_timer_start(&p->timeout, worker_process_timed_out, (uint64_t)MAX(timeout, (int64_t)0), 0);
}

pid_t worker_process_pid(const struct worker_process *p)
{
        return p->child ? child_pid(p->child) : 0;
}

bool worker_process_catches(const struct worker_process *p, int signal)
{
        unsigned long long caught = 0;
        char line[256];
        _cleanup_free_ char *path = mem_printf("/proc/%d/status", (int)worker_process_pid(p));
        FILE *f = p->child ? fopen(path, "re") : NULL;
        while (f && fgets(line, sizeof(line), f))
                if (sscanf(line, "SigCgt: %llx", &caught) == 1)
                        break;
        if (f)
                fclose(f);
        return caught >> (signal - 1) & 1;
}

void worker_process_signal(struct worker_process *p, int signal)
{
        if (p->child)
                child_kill(p->child, signal);
}
