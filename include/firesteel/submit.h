/*
 * Submit applications from a program, as spark-submit does, but without a process for each submission.
 *
 * A program (an operator, a workflow engine, a notebook server) opens one fst_submitter and gives it any number of
 * applications. The words of a spark-submit command line describe an application. A handle identifies it.
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
 * Cluster mode. If the driver runs in a cluster (standalone, Mesos, YARN or Kubernetes), this process makes and watches
 * the submission. It uses REST; the legacy gateway of a standalone master that has no REST server at that port, or with
 * spark.master.rest.enabled=false; the ResourceManager of YARN; or the API server of Kubernetes. The applications of a
 * submitter that use one API server as the same user share a connection, and those in a namespace share a watch.
 * "Master" below includes a ResourceManager and an API server.
 *
 * Client mode. If the driver runs here (--deploy-mode client: native, JVM, Python, R), the application is a child
 * process, as with SparkLauncher, which reports its states over Spark's launcher socket.
 *
 * The library prints nothing, installs no signal handlers, and changes no state of this process but the descriptors and
 * threads of the submitter.
 *
 * Threads. You may call every function from any thread. Callbacks run only inside fst_submit_dispatch, on the thread
 * that calls it, one at a time. A callback may call any function of this header but fst_submit_dispatch and
 * fst_submit_close. A program with an event loop watches fst_submit_fd and calls fst_submit_dispatch(s, 0).
 *
 * For bindings. Handles are opaque pointers. Arguments and results are pointers, ints and sizes. No function takes a
 * variable number of arguments or a struct. Text is written to a buffer of the caller as by snprintf: at most size -
 * 1 bytes and a NUL. The function returns the length of the whole text, so a result >= size means that the buffer is
 * too small. A buffer may be NULL if size is 0. Texts are UTF-8.
 *
 * A function that can fail returns 0 or a negative errno value; fst_submit_error returns the message, which is that of
 * spark-submit.
 */
#pragma once

#include <firesteel/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fst_submitter fst_submitter;
typedef struct fst_submission fst_submission;

/* ---------------------------------------------------------------------------------------------------- states */

/* Spark's SparkAppHandle.State, with its numbers. The last four are final. */
enum fst_submit_state {
        FST_SUBMIT_UNKNOWN = 0,   /* not started, or nothing is known yet */
        FST_SUBMIT_CONNECTED = 1, /* the application's process has connected (client mode) */
        FST_SUBMIT_SUBMITTED = 2, /* the cluster has accepted it */
        FST_SUBMIT_RUNNING = 3,
        FST_SUBMIT_FINISHED = 4,
        FST_SUBMIT_FAILED = 5, /* could not be submitted, or ended with an error */
        FST_SUBMIT_KILLED = 6,
        FST_SUBMIT_LOST = 7, /* its end is unknown */
};

/* The name of a state, "RUNNING"; "UNKNOWN" for another number. Static text. */
FST_API const char *fst_submit_state_name(int state);

/* 1 for FINISHED, FAILED, KILLED and LOST, else 0. */
FST_API int fst_submit_is_final(int state);

/* ------------------------------------------------------------------------------------------------- submitters */

/*
 * Start a submitter: a thread for child processes and their connections, and a few for requests to masters. On failure
 * returns a negative errno value, and *@out is NULL. A process may have several submitters.
 */
FST_API int fst_submit_open(fst_submitter **out);

/*
 * Stop a submitter. Its threads end, and pending requests are cancelled (objects that are being created in Kubernetes
 * are completed, or deleted if there is no pod yet). Handles that were not freed become invalid, and pending
 * callbacks are not made. Applications go on: those in a cluster are no longer watched, and you must wait for child
 * processes yourself. NULL is allowed. Do not call it inside a callback.
 */
FST_API void fst_submit_close(fst_submitter *s);

/*
 * Set the absolute path of the `firesteel` program that runs child processes. The default is the one beside this
 * library. Returns 0, or -ENOENT if it is not a program. Applies to applications that start later.
 */
FST_API int fst_submit_set_program(fst_submitter *s, const char *path);

/* A descriptor that is readable while callbacks are pending, for poll and the like. The submitter owns it. */
FST_API int fst_submit_fd(fst_submitter *s);

/*
 * Make the pending callbacks, and return their number. If none is pending, wait for at most @timeout_ms (-1: without
 * limit, 0: not at all). Two threads may dispatch. Their callbacks take turns.
 */
FST_API int fst_submit_dispatch(fst_submitter *s, int timeout_ms);

/* ------------------------------------------------------------------------------------------------ submissions */

/*
 * Parse the @n words that would follow "spark-submit" (copied). *@out is set to a handle even on failure, so that
 * fst_submit_error can explain it. Returns 0, or -EINVAL. Reads no files. `--kill ID` and `--status ID` work as well:
 * starting the handle sends the request, its state becomes FINISHED or FAILED, and fst_submit_answer returns the reply.
 * -EINVAL for --help, --version and --dry-run, which print.
 */
FST_API int fst_submit_parse(fst_submitter *s, size_t n, const char *const *words, fst_submission **out);

/*
 * Free the handle. The application goes on without being watched. No callback runs for it after this returns. If
 * another thread is inside such a callback, fst_submit_free waits for it. NULL is allowed.
 */
FST_API void fst_submit_free(fst_submission *app);

/* The event, the last argument of a callback. */
enum fst_submit_event {
        FST_SUBMIT_STATE_CHANGED = 1, /* fst_submit_state has changed */
        FST_SUBMIT_INFO_CHANGED = 2,  /* fst_submit_id is known */
};

typedef void (*fst_submit_callback)(void *context, fst_submission *app, int event);

/*
 * Set the callback for changes, which fst_submit_dispatch makes: one call for each change, in order. The state may have
 * changed again by the time of the call. NULL: none. Call it before fst_submit_start.
 */
FST_API int fst_submit_on_change(fst_submission *app, fst_submit_callback callback, void *context);

/*
 * Set a variable of the child's environment (NULL removes it). It inherits the others from this process. No effect on
 * applications in a cluster. Call it before fst_submit_start.
 */
FST_API int fst_submit_set_env(fst_submission *app, const char *name, const char *value);

/*
 * Set descriptors, which are duplicated now, for the child's standard output and standard error. -1, the default,
 * inherits this process's. The child's standard input is empty. What spark-submit prints while it resolves packages
 * and builds R packages also goes to @err_fd, or nowhere without one. Call it before fst_submit_start.
 */
FST_API int fst_submit_set_output(fst_submission *app, int out_fd, int err_fd);

/*
 * Set the interval in milliseconds at which the submitter queries the state of an application in a cluster. 0: never,
 * so the state stays SUBMITTED. Kubernetes reports changes by itself; 0 disables that too. The default is
 * spark.firesteel.submit.reportInterval. Call it before fst_submit_start.
 */
FST_API int fst_submit_set_watch(fst_submission *app, int interval_ms);

/*
 * Prepare the submission in this thread: read spark-defaults.conf and other files, read the environment, validate,
 * resolve paths and packages, download. Blocks until that is done. Without this call fst_submit_start does it on a
 * thread of the submitter. Returns 0, or negative. spark-env.sh is not read, because its variables would be those of
 * this process.
 */
FST_API int fst_submit_prepare(fst_submission *app);

/*
 * The prepared submission as `spark-submit --dry-run --output json` prints it: an object with mainClass, arguments,
 * conf, classpath. It contains secrets. "" before fst_submit_prepare.
 */
FST_API size_t fst_submit_prepared(fst_submission *app, char *buffer, size_t size);

/*
 * Submit. Returns at once: fst_submit_state shows the progress. If submitting fails, the state is FAILED, and
 * fst_submit_error returns the reason. -EALREADY the second time, -EINVAL if the words were refused.
 *
 * As with Spark's SparkLauncher, the state of a child process follows its fst_context (or SparkContext). A child that
 * ends without having created one is LOST, even with exit status 0, and FAILED with another status.
 * fst_submit_exit_status tells them apart.
 */
FST_API int fst_submit_start(fst_submission *app);

/*
 * Wait until the state is final, for at most @timeout_ms (-1: without limit). Returns 1, or 0 after the time. You
 * need not dispatch callbacks.
 */
FST_API int fst_submit_wait(fst_submission *app, int timeout_ms);

/*
 * Ask the application to end: send Stop to a child process over the launcher socket (-ENOTCONN if it is not
 * connected), or ask the master to kill an application in a cluster. Returns at once. The state tells the outcome,
 * and fst_submit_answer the master's reply. An application that is still being submitted is ended afterwards. -ESRCH
 * if it was not started or has ended.
 */
FST_API int fst_submit_stop(fst_submission *app);

/* The same, but sends SIGKILL to a child process, connected or not. */
FST_API int fst_submit_kill(fst_submission *app);

/*
 * Ask the master for the state now. Returns at once. -ESRCH if the application has no id yet or has ended; -ENOTSUP
 * for a child process.
 */
FST_API int fst_submit_refresh(fst_submission *app);

/* ---------------------------------------------------------------------------------------------------- queries */

/* enum fst_submit_state */
FST_API int fst_submit_state(fst_submission *app);

/*
 * The id: "driver-20261122101500-0000" in a standalone cluster, "application_1795313700000_0001" on YARN,
 * "namespace:pod" in Kubernetes, "local-1795313700000" or "app-…" of a child process; "" while it is unknown.
 */
FST_API size_t fst_submit_id(fst_submission *app, char *buffer, size_t size);

/* The latest error of parsing, preparing, submitting or watching, or "". */
FST_API size_t fst_submit_error(fst_submission *app, char *buffer, size_t size);

/*
 * The latest reply of a master as JSON, or "". For a driver in Kubernetes: its pod's metadata (name, namespace, uid,
 * creationTimestamp, deletionTimestamp) and status; for --kill and --status {"pods":[…]} of these.
 */
FST_API size_t fst_submit_answer(fst_submission *app, char *buffer, size_t size);

/* The warnings of parsing and preparing that spark-submit would print, one in each line. */
FST_API size_t fst_submit_warnings(fst_submission *app, char *buffer, size_t size);

/*
 * The process id of a child (0: no child is running yet), and its exit status: 0 to 255, 128 + a signal, or -1 before
 * the end. The exit status is also that of a driver in Kubernetes whose container has ended.
 */
FST_API int fst_submit_pid(fst_submission *app);
FST_API int fst_submit_exit_status(fst_submission *app);

#ifdef __cplusplus
}
#endif
