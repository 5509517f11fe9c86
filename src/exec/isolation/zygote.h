/*
 * The zygote: a single-threaded child of the executor, forked before the executor has threads. It forks task processes
 * (exec/isolation/task_process.h) on request and reports their end.
 *
 * Forking from a small process is fast (0.3 ms; 5 ms from an executor of 200 MB) and safe: a copy of a process with
 * threads may hold locks that are never released. The requester passes two descriptors for a task process: a *work*
 * socket for its packets, and a *status* socket for the zygote's reports. So no thread has to wait for other threads'
 * processes.
 *
 *      { struct zygote_report: ZYGOTE_FORKED, pid }            or ZYGOTE_FAILED, -errno, then end of stream
 *      { struct zygote_report: ZYGOTE_ENDED, wait status, … }  then end of stream
 *
 * An end of stream without ZYGOTE_ENDED means that the zygote and all task processes have ended.
 *
 * No process outlives its parent. The zygote ends when the executor's end of its socket closes, for any reason, and
 * kills its task processes, which also die with the zygote (PR_SET_PDEATHSIG). The zygote holds no descriptor of the
 * executor except its own socket and standard output and error. Standard input is /dev/null.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct fst_error;
struct task_process_class;
struct zygote;

enum zygote_report_kind { ZYGOTE_FORKED = 1, ZYGOTE_FAILED, ZYGOTE_ENDED };

/* Sent as it is, between forked copies of one program. */
struct zygote_report {
        int32_t kind;
        int32_t pid;
        int32_t status;       /* ZYGOTE_FAILED: -errno; ZYGOTE_ENDED: a wait status */
        int32_t core_dumped;  /* ZYGOTE_ENDED */
        int64_t max_resident; /* ZYGOTE_ENDED: maximum in bytes */
};

/*
 * Forks the zygote. Its task processes run task_process_main with @class, which must live forever. The caller holds no
 * locks. Returns -EBUSY with @error if this process has several threads, or an error of fork and socketpair.
 */
int zygote_new(const struct task_process_class *class, struct zygote **zygote, struct fst_error *error);

/*
 * Requests a task process with @work as its socket and reports to @status. Both are duplicated. The caller closes its
 * own. 0 means that the request was sent: the report says whether the process exists. Returns negative if the zygote
 * has ended. Any thread.
 */
int zygote_fork(struct zygote *zygote, int work, int status, struct fst_error *error);

/* Sends SIGKILL to task process @pid if it still is one. The zygote knows whether the number was reused. Any thread. */
void zygote_kill(struct zygote *zygote, pid_t pid);

/* Becomes readable (end of stream) when the zygote has ended; for poll only. Borrowed. */
int zygote_fd(const struct zygote *zygote);
pid_t zygote_pid(const struct zygote *zygote);

/* Ends the zygote and its task processes, and waits for it. NULL is allowed. Keeps errno. */
void zygote_free(struct zygote *zygote);
