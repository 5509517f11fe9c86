/*
 * A child of a worker's: an executor or a driver, in its directory, with what it prints in the files stdout and stderr
 * there. When it has ended, what it started in its process group ends as well.
 */
#pragma once

#include "base/string_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

struct cgroup;
struct fst_error;
struct log_rolling;
struct worker_process;

struct worker_process_options {
        uv_loop_t *loop;
        const char *program;               /* an absolute path */
        struct string_list *words;         /* argv */
        struct string_list *variables;     /* environment */
        const char *directory;             /* is there already */
        const char *title;                 /* "Spark Executor Command": what stands over the command in stderr */
        const char *command;               /* as it is shown, secrets redacted */
        const struct log_rolling *rolling; /* of its files; NULL: they are never rolled */
        struct cgroup *group;              /* it joins before it begins, and then owns; NULL: none */
        /*
         * @status is the exit status, 128 + the number of a signal that ended it; @message says how it ended. Called
         * once, from the loop; @process is freed after it.
         */
        void (*ended)(void *owner, struct worker_process *process, int status, const char *message);
        void *owner;
};

/*
 * Start it. The options are read during the call. Negative with @error, which names file or program: a full disk, no
 * descriptors, …
 */
int worker_process_start(const struct worker_process_options *options, struct worker_process **out,
                         struct fst_error *error);

/* Ask it to end (SIGTERM), by force (SIGKILL) after @timeout ms. */
void worker_process_end(struct worker_process *p, int64_t timeout);

pid_t worker_process_pid(const struct worker_process *p);

/* Whether the process handles this signal, so that it is no death sentence. */
bool worker_process_catches(const struct worker_process *p, int signal);
void worker_process_signal(struct worker_process *p, int signal);
