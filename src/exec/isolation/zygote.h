/*
 * The zygote: a single-threaded child of the executor, forked before the executor has threads, which forks worker
 * processes (exec/isolation/task_process.h) on request and says how they end.
 *
 * Forking from a small process is cheap (0.3 ms where an executor of 200 MB takes 5), and safe: the copy of a process
 * with threads may hold locks that nobody will ever release. A worker is known by two descriptors of whoever asked for
 * it: its *work* socket, on which the two talk, and a *status* socket, on which the zygote reports. No thread has to
 * wait on behalf of others.
 *
 *      { struct zygote_report: ZYGOTE_FORKED, pid }            or ZYGOTE_FAILED, -errno, then end of stream
 *      { struct zygote_report: ZYGOTE_ENDED, wait status, … }  then end of stream
 *
 * An end of stream without ZYGOTE_ENDED says that the zygote is gone, and with it every worker.
 *
 * No process outlives its parent: the zygote ends when the executor's end of its socket is closed, by whatever means,
 * and kills its workers; these die with the zygote (PR_SET_PDEATHSIG). The zygote holds no descriptor of the executor
 * but its own socket and standard output and error; standard input is /dev/null.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct fst_error;
struct worker_class;
struct zygote;

enum zygote_report_kind { ZYGOTE_FORKED = 1, ZYGOTE_FAILED, ZYGOTE_ENDED };

/* Between forked copies of one program on one machine, so that the struct itself is the message. */
struct zygote_report {
        int32_t kind;
        int32_t pid;
        int32_t status;       /* ZYGOTE_FAILED: -errno; ZYGOTE_ENDED: as waitpid gives it */
        int32_t core_dumped;  /* ZYGOTE_ENDED */
        int64_t max_resident; /* ZYGOTE_ENDED: bytes, the most there were */
};

/*
 * Fork the zygote. Its workers run worker_main with @class, which must live for ever. -EBUSY with @error if this
 * process has threads already; other negatives of fork and socketpair. Callers keep nothing locked.
 */
int zygote_new(const struct worker_class *class, struct zygote **zygote, struct fst_error *error);

/*
 * Ask for a worker that gets @work as its socket; reports go to @status. Both are copied, and stay the caller's to
 * close. 0 does not say that there is a worker: the report does. Negative when the zygote is gone. Any thread.
 */
int zygote_fork(struct zygote *zygote, int work, int status, struct fst_error *error);

/* SIGKILL for worker @pid, if it is still one: the zygote knows whether the number was given to another. Any thread. */
void zygote_kill(struct zygote *zygote, pid_t pid);

/* Becomes readable (end of stream) when the zygote is gone; for poll alone. Borrowed. */
int zygote_fd(const struct zygote *zygote);
pid_t zygote_pid(const struct zygote *zygote);

/* End the zygote and all its workers, and wait for it. NULL is allowed. Keeps errno. */
void zygote_free(struct zygote *zygote);
