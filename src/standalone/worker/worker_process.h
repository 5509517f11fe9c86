/* A child process of a worker: an executor or a driver, in its directory, with its output in the files stdout and
 * stderr there. When it ends, the rest of its process group is ended too.
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
        const char *directory;             /* must exist */
        const char *title;                 /* "Spark Executor Command": precedes the command in stderr */
        const char *command;               /* for display, secrets redacted */
        const struct log_rolling *rolling; /* of its files; NULL: no rolling */
        struct cgroup *group;              /* the process joins it first and then owns it; NULL: none */
        /* @status is the exit status, or 128 + the number of the signal that ended it; @message describes the end.
         * Called once, from the loop; @process is freed after it.
         */
        void (*ended)(void *owner, struct worker_process *process, int status, const char *message);
        void *owner;
};

/* Starts it. Options are only read during the call. Negative with @error, which names the file or program: a full
 * disk, no descriptors, …
 */
int worker_process_start(const struct worker_process_options *options, struct worker_process **out,
                         struct fst_error *error);

/* Ends it with SIGTERM, and with SIGKILL after @timeout ms. */
void worker_process_end(struct worker_process *p, int64_t timeout);

pid_t worker_process_pid(const struct worker_process *p);

/* Returns true if the process handles this signal, so that the signal does not end it. */
bool worker_process_catches(const struct worker_process *p, int signal);
void worker_process_signal(struct worker_process *p, int signal);
