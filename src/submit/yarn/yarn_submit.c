/*
 * See yarn_submit.h. Follows Client.run and monitorApplication of Spark 4.3, in Spark's words.
 *
 * Signals: the first one ends the submission, and removes the staging directory, as long as the application is not
 * submitted. Afterwards it ends the waiting, and the application continues, as with Spark. A second one ends the
 * process at once.
 */
#include "submit/yarn/yarn_submit.h"

#include "submit/prepare/submission.h"
#include "submit/yarn/yarn_client.h"
#include "yarn/application/application_monitor.h"
#include "yarn/conf/yarn_cluster.h"
#include "yarn/application/yarn_settings.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "process/end_signal.h"
#include "driver/backend/launcher_backend.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define COMPONENT "Client"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

/* One submission of this process at a time; signal handlers have no context. */
static struct end_signal yarn_submit_first_signal;
static int yarn_submit_signalled; /* atomic: the signal, or 0 */
static int yarn_submit_wake = -1; /* an eventfd */

struct yarn_following {
        struct yarn_client *client;
        struct launcher_backend *launcher;
        int stop_requested; /* atomic: the launcher asked for the end */
        bool killed;        /* the application was asked to end */
        struct application_monitor monitor;
};

static void yarn_submit_on_signal(int number)
{
        const int saved = errno;
        const uint64_t one = 1;
        if (end_signal_note(&yarn_submit_first_signal, number))
                __atomic_store_n(&yarn_submit_signalled, number, __ATOMIC_RELAXED);
        if (write(yarn_submit_wake, &one, sizeof(one)) < 0) {
                /* the waiting ends with its time */
        }
        errno = saved;
}

static void yarn_submit_watch_signals(struct sigaction *before)
{
        __atomic_store_n(&yarn_submit_signalled, 0, __ATOMIC_RELAXED);
        yarn_submit_first_signal = (struct end_signal){0};
        yarn_submit_wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                struct sigaction action = {.sa_handler = yarn_submit_on_signal, .sa_flags = SA_RESTART};
                sigfillset(&action.sa_mask); /* else the handler of a later signal may run first */
                sigaction(signals[i], NULL, &before[i]);
                if (before[i].sa_handler != SIG_IGN)
                        sigaction(signals[i], &action, NULL);
        }
}

static void yarn_submit_restore_signals(const struct sigaction *before)
{
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                sigaction(signals[i], &before[i], NULL);
        if (yarn_submit_wake >= 0)
                close(yarn_submit_wake);
        yarn_submit_wake = -1;
}

/* Waits, at most until a signal or the launcher's request. */
static void yarn_submit_sleep(int64_t ms)
{
        struct pollfd wake = {.fd = yarn_submit_wake, .events = POLLIN};
        uint64_t count;
        if (poll(&wake, 1, (int)MIN(ms, (int64_t)INT32_MAX)) > 0 && read(wake.fd, &count, sizeof(count)) < 0)
                return;
}

/* On the launcher's thread. */
static void yarn_submit_on_stop(struct launcher_backend *b, void *context)
{
        struct yarn_following *f = context;
        const uint64_t one = 1;
        __atomic_store_n(&f->stop_requested, 1, __ATOMIC_RELAXED);
        if (write(yarn_submit_wake, &one, sizeof(one)) < 0)
                log_debug(COMPONENT, "the launcher's request is seen with the next report");
}

/* ------------------------------------------------------------------------------------------------------- following */

/* How an application ended. */
struct yarn_end {
        int state, final_status;
        char *diagnostics; /* owned, or NULL */
};

static void yarn_following_report_state(struct yarn_following *f, int state, int final_status)
{
        static const enum launcher_state finals[] = {
                [YARN_FINAL_UNDEFINED] = LAUNCHER_FINISHED, [YARN_FINAL_SUCCEEDED] = LAUNCHER_FINISHED,
                [YARN_FINAL_FAILED] = LAUNCHER_FAILED,      [YARN_FINAL_KILLED] = LAUNCHER_KILLED,
                [YARN_FINAL_ENDED] = LAUNCHER_FINISHED,
        };
        if (state == YARN_RUNNING)
                launcher_backend_set_state(f->launcher, LAUNCHER_RUNNING);
        else if (state == YARN_FINISHED)
                launcher_backend_set_state(f->launcher, final_status >= 0 && final_status <= YARN_FINAL_ENDED
                                                                ? finals[final_status]
                                                                : LAUNCHER_FINISHED);
        else if (state == YARN_FAILED)
                launcher_backend_set_state(f->launcher, LAUNCHER_FAILED);
        else if (state == YARN_KILLED)
                launcher_backend_set_state(f->launcher, LAUNCHER_KILLED);
}

static void yarn_following_handle_stop(struct yarn_following *f)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (f->killed || !__atomic_load_n(&f->stop_requested, __ATOMIC_RELAXED))
                return;
        f->killed = true;
        if (yarn_client_kill(f->client, &error) < 0)
                log_error(COMPONENT, "Cannot kill application %s: %s", yarn_client_id(f->client),
                          error_message(&error));
}

/* Reads one report. Returns 1 with @end filled if the application has ended, else 0. */
static int yarn_following_step(struct yarn_following *f, struct yarn_end *end)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        Firesteel__Yarn__GetApplicationReportResponse *answer;
        const char *id = yarn_client_id(f->client);
        const int r = yarn_client_report(f->client, &answer, &error);
        if (r == APPLICATION_CLIENT_E_NOT_FOUND) {
                log_error(COMPONENT, "Application %s not found.", id);
                yarn_client_clean_up(f->client);
                *end = (struct yarn_end){.state = YARN_KILLED, .final_status = YARN_FINAL_KILLED};
                return 1;
        }
        if (r == -EINTR)
                return 0;
        if (r < 0) {
                log_error(COMPONENT, "Failed to contact YARN for application %s. %s", id, error_message(&error));
                *end = (struct yarn_end){.state = YARN_FAILED,
                                         .final_status = YARN_FINAL_FAILED,
                                         .diagnostics = mem_printf("Failed to contact YARN for application %s.", id)};
                return 1;
        }
        const Firesteel__Yarn__ApplicationReport *report = answer->report;
        const int state = report->state;
        if (state != f->monitor.last_state)
                yarn_following_report_state(f, state, report->final_status);
        application_monitor_log(&f->monitor, id, report);
        const bool ended = state == YARN_FINISHED || state == YARN_FAILED || state == YARN_KILLED;
        if (ended) {
                yarn_client_clean_up(f->client);
                *end = (struct yarn_end){.state = state,
                                         .final_status = report->final_status,
                                         .diagnostics = report->diagnostics && *report->diagnostics
                                                                ? mem_strdup(report->diagnostics)
                                                                : NULL};
        }
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        return ended;
}

static char *yarn_following_add_details(void *owner)
{
        const struct yarn_following *f = owner;
        return yarn_client_driver_logs(f->client);
}

/* Follows the application to its end. Returns negative with Spark's message unless it succeeded. */
static int yarn_following_run(struct yarn_following *f, int *status, struct fst_error *error)
{
        const char *id = yarn_client_id(f->client);
        struct yarn_end end = {0};
        f->monitor = (struct application_monitor){.frequency = yarn_client_settings(f->client)->report_frequency,
                                                  .add_details = yarn_following_add_details,
                                                  .owner = f};
        for (;;) {
                const int64_t interval = yarn_client_settings(f->client)->report_interval_ms;
                if (!f->stop_requested)
                        yarn_submit_sleep(interval);
                const int signalled = __atomic_load_n(&yarn_submit_signalled, __ATOMIC_RELAXED);
                if (signalled) {
                        log_info(
                                COMPONENT,
                                "Application %s continues, and spark-submit no longer waits for it: \"yarn application "
                                "-kill %s\" ends it",
                                id, id);
                        *status = 128 + signalled;
                        return 0;
                }
                yarn_following_handle_stop(f);
                if (yarn_following_step(f, &end))
                        break;
                if (f->killed)
                        yarn_submit_sleep(interval);
        }
        int r = 0;
        if (end.state == YARN_FAILED || end.final_status == YARN_FINAL_FAILED) {
                if (end.diagnostics)
                        log_multiline(LOG_ERROR, COMPONENT, "Application diagnostics message: %s", end.diagnostics);
                log_info(COMPONENT, "\"firesteel logs --executor driver %s\" prints the log of the driver", id);
                r = error_set(error, -ECANCELED, "Application %s finished with failed status", id);
        } else if (end.state == YARN_KILLED || end.final_status == YARN_FINAL_KILLED) {
                r = error_set(error, -ECANCELED, "Application %s is killed", id);
        } else if (end.final_status == YARN_FINAL_UNDEFINED) {
                r = error_set(error, -ECANCELED, "The final status of application %s is undefined", id);
        }
        free(end.diagnostics);
        return r;
}

/* spark.yarn.submit.waitAppCompletion=false: logs one report. */
static int yarn_following_log_once(struct yarn_following *f, struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationReportResponse *answer;
        const int r = yarn_client_report(f->client, &answer, error);
        if (r != 0)
                return r < 0 ? r : -ENOENT;
        const int state = answer->report->state;
        _cleanup_free_ char *text = application_report_text(answer->report);
        _cleanup_free_ char *links = yarn_client_driver_logs(f->client);
        log_info(COMPONENT, "Application report for %s (state: %s)", yarn_client_id(f->client),
                 yarn_application_state_name(state));
        log_multiline(LOG_INFO, COMPONENT, "%s%s", text, links ? links : "");
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        return state == YARN_FAILED || state == YARN_KILLED
                       ? error_set(error, -ECANCELED, "Application %s finished with status: %s",
                                   yarn_client_id(f->client), yarn_application_state_name(state))
                       : 0;
}

/* ------------------------------------------------------------------------------------------------------ submitting */

static int yarn_submit_run(struct yarn_following *f, int *status, struct fst_error *error)
{
        int r = launcher_backend_connect(&yarn_client_conf(f->client)->set, yarn_submit_on_stop, f, &f->launcher,
                                         error);
        if (r == 0)
                r = yarn_client_submit(f->client, true, error);
        const int signalled = __atomic_load_n(&yarn_submit_signalled, __ATOMIC_RELAXED);
        if (r < 0 && signalled) {
                error_deinit(error);
                *status = 128 + signalled;
                return 0;
        }
        if (r < 0)
                return r;
        launcher_backend_set_app_id(f->launcher, yarn_client_id(f->client));
        launcher_backend_set_state(f->launcher, LAUNCHER_SUBMITTED);
        const bool connected = f->launcher && launcher_backend_is_connected(f->launcher);
        int ended = 0;
        r = yarn_client_settings(f->client)->wait || connected ? yarn_following_run(f, &ended, error)
                                                               : yarn_following_log_once(f, error);
        if (r == 0)
                *status = ended;
        return r;
}

int yarn_submit(const struct submission *s, int *status, struct fst_error *error)
{
        struct yarn_following f = {0};
        struct sigaction before[ARRAY_SIZE(signals)];
        const struct fst_conf conf = {.set = s->conf};
        int r = log4j2_configure(&conf, getenv("SPARK_CONF_DIR"), error);
        if (r < 0)
                return r;
        yarn_submit_watch_signals(before);
        r = yarn_client_new(s, conf_environment, &yarn_submit_signalled, &f.client, error);
        if (r == 0)
                r = yarn_submit_run(&f, status, error);
        launcher_backend_close(f.launcher);
        yarn_client_free(f.client);
        yarn_clusters_forget();
        yarn_submit_restore_signals(before);
        return r;
}
