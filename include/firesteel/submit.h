/*
 * Submitting applications from a program: what spark-submit does, without a process of its own for each submission.
 *
 * A program (an operator, a workflow engine, a notebook server) opens one fst_submitter and gives it as many
 * applications as it likes. Each is described by the words of a spark-submit command line and known by a handle.
 *
 *      static void changed(void *context, fst_submission *app, int event)
 *      {
 *              printf("%s\n", fst_submit_state_name(fst_submit_state(app)));
 *      }
 *
 *      const char *words[] = {"--master", "spark://host:6066", "--deploy-mode", "cluster", "--class", "Main", "a.jar"};
 *      fst_submitter *s;
 *      fst_submission *app;
 *      fst_submit_open(&s);
 *      if (fst_submit_parse(s, 7, words, &app) == 0) {
 *              fst_submit_on_change(app, changed, NULL);
 *              fst_submit_start(app);
 *      }
 *      while (!fst_submit_is_final(fst_submit_state(app)))
 *              fst_submit_dispatch(s, -1);
 *      fst_submit_free(app);
 *      fst_submit_close(s);
 *
 * Where the driver runs in a cluster (a standalone master, Mesos dispatcher or Kubernetes) the submission is made and
 * watched in this process: by REST, or by the legacy gateway of a standalone master that has no REST server at that
 * port or is not to be asked by it (spark.master.rest.enabled=false), or by the API server of Kubernetes, where all
 * applications of a submitter that go to one server as the same user share a connection, and all of a namespace a
 * watch. What is said of masters below holds for API servers as well. Where it runs here (--deploy-mode client: native,
 * JVM, Python, R) the application is a child process, as SparkLauncher has it, which tells its states over Spark's
 * launcher socket. Nothing is printed, no signal handler is installed, and no state of this process is changed but for
 * the descriptors and threads of the submitter.
 *
 * Threads. Every function may be called from any thread. Callbacks run nowhere but inside fst_submit_dispatch, on the
 * thread that calls it, one at a time; they may call any function of this header but fst_submit_dispatch and
 * fst_submit_close. A program with an event loop watches fst_submit_fd and calls fst_submit_dispatch(s, 0).
 *
 * For bindings. Handles are opaque pointers; arguments and results are pointers, ints and sizes; no function takes a
 * variable number of arguments and no struct is passed. Text goes into a buffer of the caller's as with snprintf: at
 * most size - 1 bytes and a NUL, and what is returned is the length of the whole text, so that a result >= size says
 * how much room there must be. Buffers may be NULL where size is 0. Texts are UTF-8.
 *
 * Functions that can fail return 0 or a negative errno value; fst_submit_error has the sentence, which is
 * spark-submit's.
 */
#pragma once

#include <firesteel/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fst_submitter fst_submitter;
typedef struct fst_submission fst_submission;

/* ---------------------------------------------------------------------------------------------------- states */

/* SparkAppHandle.State of Spark, with its numbers. The last four are final: nothing follows. */
enum fst_submit_state {
        FST_SUBMIT_UNKNOWN = 0,   /* not started, or nothing was heard yet */
        FST_SUBMIT_CONNECTED = 1, /* the application's process has connected (client mode) */
        FST_SUBMIT_SUBMITTED = 2, /* the cluster has taken it */
        FST_SUBMIT_RUNNING = 3,
        FST_SUBMIT_FINISHED = 4,
        FST_SUBMIT_FAILED = 5, /* it could not be submitted, or ended with an error */
        FST_SUBMIT_KILLED = 6,
        FST_SUBMIT_LOST = 7, /* nobody can say what became of it */
};

/* "RUNNING": static text; "UNKNOWN" for a number that is none. */
FST_API const char *fst_submit_state_name(int state);

/* 1 for FINISHED, FAILED, KILLED and LOST, else 0. */
FST_API int fst_submit_is_final(int state);

/* ------------------------------------------------------------------------------------------------- submitters */

/*
 * Start a submitter: a thread for child processes and their connections, a few for requests to masters. -errno when
 * the system has none of what it needs; *@out is NULL then. There may be several.
 */
FST_API int fst_submit_open(fst_submitter **out);

/*
 * End it: its threads are waited for, requests that are underway are given up (but what is being created in Kubernetes
 * is completed, or taken back if there is no pod yet), handles that were not freed become invalid, pending callbacks
 * are not made. Applications go on: those in a cluster without being watched, child processes as children of this
 * process that nobody waits for. NULL is allowed. Not inside of a callback.
 */
FST_API void fst_submit_close(fst_submitter *s);

/*
 * The `firesteel` program that runs child processes, an absolute path. Without this call it is the one beside this
 * library. 0, or -ENOENT if it is no program. Applies to what is started afterwards.
 */
FST_API int fst_submit_set_program(fst_submitter *s, const char *path);

/* A descriptor that is readable while callbacks are waiting, for poll and its like. It belongs to the submitter. */
FST_API int fst_submit_fd(fst_submitter *s);

/*
 * Make the callbacks that are waiting, and return how many were made; if there is none, wait for at most @timeout_ms
 * (-1: for ever, 0: not at all) until there is one. Two threads may dispatch; their callbacks take turns.
 */
FST_API int fst_submit_dispatch(fst_submitter *s, int timeout_ms);

/* ------------------------------------------------------------------------------------------------ submissions */

/*
 * Read the @n words that would follow "spark-submit" (copied). *@out is a handle in any case, so that fst_submit_error
 * can tell what is wrong with them: 0, or -EINVAL. Reads no file. `--kill ID` and `--status ID` are understood as well:
 * starting such a handle asks the master, its state becomes FINISHED or FAILED, and fst_submit_answer has the answer.
 * -EINVAL for --help, --version, --dry-run, which print.
 */
FST_API int fst_submit_parse(fst_submitter *s, size_t n, const char *const *words, fst_submission **out);

/*
 * Release the handle. The application goes on, unheard. After it returned none of its callbacks runs or will run;
 * called on another thread than the one that is inside of such a callback, it waits for that. NULL is allowed.
 */
FST_API void fst_submit_free(fst_submission *app);

/* What happened, the second argument of callbacks. */
enum fst_submit_event {
        FST_SUBMIT_STATE_CHANGED = 1, /* fst_submit_state is another one */
        FST_SUBMIT_INFO_CHANGED = 2,  /* fst_submit_id is known */
};

typedef void (*fst_submit_callback)(void *context, fst_submission *app, int event);

/*
 * Hear of changes, by fst_submit_dispatch. Each change is one call, in order; when it is made, the state may already be
 * a later one. Before fst_submit_start. NULL: none.
 */
FST_API int fst_submit_on_change(fst_submission *app, fst_submit_callback callback, void *context);

/*
 * Set a variable in the environment of the child process (NULL: remove it); the rest it has from this process. Nothing
 * to what runs in a cluster. Before fst_submit_start.
 */
FST_API int fst_submit_set_env(fst_submission *app, const char *name, const char *value);

/*
 * Descriptors that become the child's standard output and standard error; duplicated now. -1: as this process has it,
 * which is what holds without this call. Before fst_submit_start. Its standard input is empty. What spark-submit prints
 * while it resolves packages and builds R packages goes to @err_fd as well; without one it is not printed.
 */
FST_API int fst_submit_set_output(fst_submission *app, int out_fd, int err_fd);

/*
 * How often the master is asked for the state of an application in a cluster, in milliseconds; 0: never, so that its
 * state stays SUBMITTED. Kubernetes is not asked but says itself what changes; 0 means never there, too. Without this
 * call it is spark.firesteel.submit.reportInterval. Before fst_submit_start.
 */
FST_API int fst_submit_set_watch(fst_submission *app, int interval_ms);

/*
 * Do everything that comes before submitting, in this thread: read spark-defaults.conf and the other files, take the
 * environment, check, resolve paths, packages and downloads. May block for as long as these take. Not needed:
 * fst_submit_start does it on a thread of the submitter if it was not done. 0, or negative. spark-env.sh is not read:
 * its variables would be those of this process.
 */
FST_API int fst_submit_prepare(fst_submission *app);

/*
 * What fst_submit_prepare came to, as `spark-submit --dry-run --output json` prints it: an object with mainClass,
 * arguments, conf, classpath. Secrets are in it. "" before.
 */
FST_API size_t fst_submit_prepared(fst_submission *app, char *buffer, size_t size);

/*
 * Submit. Returns at once; what becomes of it is the handle's state, where failing to submit is FAILED with an error.
 * -EALREADY the second time, -EINVAL if the words were refused.
 *
 * What becomes of a child process is known from what its fst_context (or SparkContext) says, as with Spark's
 * SparkLauncher: one that ends without ever having had one ends LOST, even with exit status 0, and FAILED with another.
 * fst_submit_exit_status tells them apart.
 */
FST_API int fst_submit_start(fst_submission *app);

/* Wait until the state is final, for at most @timeout_ms (-1: for ever): 1, or 0. Callbacks need not be dispatched. */
FST_API int fst_submit_wait(fst_submission *app, int timeout_ms);

/*
 * Ask the application to end: a child process is sent Stop over the launcher socket (-ENOTCONN while it has not
 * connected, or not any more), the master of one in a cluster is asked to kill it. Returns at once; the state tells
 * what came of it, and fst_submit_answer what the master said. What is still being submitted is ended once it was.
 * -ESRCH if it was not started or has ended.
 */
FST_API int fst_submit_stop(fst_submission *app);

/* The same, but a child process is ended by SIGKILL, at any time. */
FST_API int fst_submit_kill(fst_submission *app);

/* Ask the master for the state now, out of turn. Returns at once. -ESRCH if it has no id yet, or has ended; -ENOTSUP
 * for a child process. */
FST_API int fst_submit_refresh(fst_submission *app);

/* ----------------------------------------------------------------------------------------- what is known of one */

/* enum fst_submit_state */
FST_API int fst_submit_state(fst_submission *app);

/* "driver-20261122101500-0000" in a cluster, "namespace:pod" in Kubernetes, "local-1795313700000", "app-…" of a child
 * process; "" while unknown. */
FST_API size_t fst_submit_id(fst_submission *app, char *buffer, size_t size);

/* What failed last: parsing, preparing, submitting, watching; "" if nothing has. */
FST_API size_t fst_submit_error(fst_submission *app, char *buffer, size_t size);

/*
 * What a master answered last, as JSON; "" if none was asked. Of a driver in Kubernetes its pod's metadata (name,
 * namespace, uid, creationTimestamp, deletionTimestamp) and status; of --kill and --status {"pods":[…]} of these.
 */
FST_API size_t fst_submit_answer(fst_submission *app, char *buffer, size_t size);

/* Warnings of parsing and preparing, a line each: what spark-submit prints about them. */
FST_API size_t fst_submit_warnings(fst_submission *app, char *buffer, size_t size);

/*
 * The process of a child: its id, 0 when there is none (yet); and how it ended: 0 to 255, 128 + a signal, -1 before.
 * The latter also of a driver in Kubernetes whose container has ended.
 */
FST_API int fst_submit_pid(fst_submission *app);
FST_API int fst_submit_exit_status(fst_submission *app);

#ifdef __cplusplus
}
#endif
