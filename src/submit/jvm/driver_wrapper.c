/* See driver_wrapper.h. A thread watches the worker, because the application uses the main thread. */
#include "submit/jvm/driver_wrapper.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "conf/properties.h"
#include "exec/app/sanitizers.h"
#include "launch/environment.h"
#include "submit/jvm/java_command.h"
#include "submit/jvm/java_launcher.h"
#include "launch/native_program.h"
#include "exec/exit_hooks.h"
#include "exec/worker_watcher.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_WORKER_LOST 255 /* Spark's System.exit(-1) */
#define TIMEOUT_S 10         /* for exit hooks and children, after the worker ended */

/* --------------------------------------------------------------------------------------------------------- watching */

struct watch {
        pthread_t thread;
        uv_loop_t loop;
        uv_async_t stop;
        uv_timer_t timeout;
        struct worker_watcher *watcher;
        pid_t child; /* the child that ends with this process, or 0 */
};

static void driver_wrapper_timed_out(uv_timer_t *timer)
{
        struct watch *w = timer->data;
        if (w->child > 0)
                kill(w->child, SIGKILL);
        _exit(EXIT_WORKER_LOST);
}

/* A worker that ends takes its children along, so this driver ends too. */
static void driver_wrapper_worker_lost(void *owner)
{
        struct watch *w = owner;
        if (w->child > 0)
                kill(w->child, SIGTERM);
        uv_timer_start(&w->timeout, driver_wrapper_timed_out, TIMEOUT_S * 1000, 0);
        if (w->child == 0)
                exit_hooks_exit(128 + SIGTERM);
}

static void driver_wrapper_on_stop(uv_async_t *stop)
{
        struct watch *w = stop->data;
        uv_close((uv_handle_t *)&w->stop, NULL);
        uv_close((uv_handle_t *)&w->timeout, NULL);
        worker_watcher_free(steal(w->watcher));
}

static void *driver_wrapper_run_loop(void *argument)
{
        struct watch *w = argument;
        uv_run(&w->loop, UV_RUN_DEFAULT);
        return NULL;
}

static int driver_wrapper_watch_start(struct watch *w, const struct fst_conf *conf, const char *url, pid_t child,
                                      struct fst_error *error)
{
        sigset_t all, before;
        w->child = child;
        uv_loop_init(&w->loop);
        uv_async_init(&w->loop, &w->stop, driver_wrapper_on_stop);
        uv_timer_init(&w->loop, &w->timeout);
        w->stop.data = w->timeout.data = w;
        int r = worker_watcher_new(&w->loop, conf, url, driver_wrapper_worker_lost, w, &w->watcher, error);
        if (r)
                return r;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before); /* signals belong to the application */
        r = pthread_create(&w->thread, NULL, driver_wrapper_run_loop, w);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        return r ? error_set(error, -r, "cannot start the thread that watches the worker: %s", strerror(r)) : 0;
}

static void driver_wrapper_watch_stop(struct watch *w)
{
        uv_async_send(&w->stop);
        pthread_join(w->thread, NULL);
        uv_loop_close(&w->loop);
}

/* ------------------------------------------------------------------------------------------------------------ a jar */

/* In the child: execs spark-submit, which the kernel ends together with the parent. */
static int driver_wrapper_exec_java(const struct driver_wrapper_options *o, const struct fst_conf *conf, pid_t parent)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        struct fst_error error = FST_ERROR_INIT;
        const char *cores = conf_get_raw(conf, "spark.driver.cores");
        int status = 1;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
                return EXIT_WORKER_LOST;
        string_list_add(&words, "--master");
        string_list_take(&words, mem_printf("local[%s]", cores ? cores : "1"));
        string_list_add(&words, "--deploy-mode");
        string_list_add(&words, "client");
        string_list_add(&words, "--class");
        string_list_add(&words, o->main_class);
        if (o->properties_file) {
                string_list_add(&words, "--properties-file");
                string_list_add(&words, o->properties_file);
        }
        string_list_add(&words, o->jar);
        for (size_t i = 0; i < o->n; i++)
                string_list_add(&words, o->arguments[i]);
        if (java_launch(JAVA_CLASS_SUBMIT, (int)words.len, string_list_argv(&words), false, &status, &error) < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        return status;
}

static pid_t java; /* for driver_wrapper_on_terminate, a signal handler */

static void driver_wrapper_on_terminate(int signal)
{
        kill(java, signal);
}

static int driver_wrapper_run_jar(const struct driver_wrapper_options *o, const struct fst_conf *conf, int *status,
                                  struct fst_error *error)
{
        struct watch watch = {0};
        struct sigaction pass_on = {.sa_handler = driver_wrapper_on_terminate, .sa_flags = SA_RESTART};
        pid_t parent = getpid();
        int wait_status = 0;
        java = fork();
        if (java < 0)
                return error_errno(error, "cannot start java");
        if (java == 0)
                _exit(driver_wrapper_exec_java(o, conf, parent));
        sigaction(SIGTERM, &pass_on, NULL);
        sigaction(SIGINT, &pass_on, NULL);
        int r = driver_wrapper_watch_start(&watch, conf, o->worker_url, java, error);
        if (r)
                kill(java, SIGKILL);
        while (waitpid(java, &wait_status, 0) < 0 && errno == EINTR)
                ;
        if (r)
                return r;
        driver_wrapper_watch_stop(&watch);
        *status = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
        return 0;
}

/* --------------------------------------------------------------------------------------------- a native application */

/* A process that executes itself again finds the worker's descriptor as this one did. */
static int driver_wrapper_enter_sanitizers(const struct driver_wrapper_options *o, const struct fst_conf *conf,
                                           struct fst_error *error)
{
        const char *list = conf_get_raw(conf, "spark.firesteel.cc.sanitize");
        if (list && o->words_fd > STDERR_FILENO) {
                _cleanup_free_ char *number = mem_printf("%d", o->words_fd);
                setenv("FIRESTEEL_CRASH_FD", number, 1);
                fcntl(o->words_fd, F_SETFD, 0);
        }
        int r = sanitizers_enter(list, error);
        if (list && o->words_fd > STDERR_FILENO) {
                unsetenv("FIRESTEEL_CRASH_FD");
                fcntl(o->words_fd, F_SETFD, FD_CLOEXEC);
        }
        return r;
}

static int driver_wrapper_run_native(const struct driver_wrapper_options *o, const struct fst_conf *conf, int *status,
                                     struct fst_error *error)
{
        struct watch watch = {0};
        struct native_program program = {.path = o->jar,
                                         .shown = o->jar,
                                         .entry = *o->main_class ? o->main_class : NULL,
                                         .arguments = o->arguments,
                                         .n = o->n,
                                         .conf = conf};
        int r = driver_wrapper_enter_sanitizers(o, conf, error);
        if (r == 0)
                r = native_program_prepare(&program, error);
        if (r == 0)
                r = driver_wrapper_watch_start(&watch, conf, o->worker_url, 0, error);
        if (r)
                return r;
        r = native_program_run(&program, status, error);
        driver_wrapper_watch_stop(&watch);
        return r;
}

int driver_wrapper_run(const struct driver_wrapper_options *o, int *status, struct fst_error *error)
{
        static struct fst_conf conf; /* lives as long as the process */
        _cleanup_free_ char *folder = submit_conf_dir();
        conf_init(&conf);
        int r = o->properties_file ? properties_load(&conf.set, o->properties_file, error) : 0;
        if (r == 0)
                r = log4j2_configure(&conf, folder, error);
        if (r)
                return r;
        return text_ends_with(o->jar, ".jar") ? driver_wrapper_run_jar(o, &conf, status, error)
                                              : driver_wrapper_run_native(o, &conf, status, error);
}
