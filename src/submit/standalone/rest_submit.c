/*
 * spark-submit over REST: submit, --kill, --status; see rest_client.h.
 *
 * Lines without a time are those that Spark's spark-submit prints itself, the others are those of the client's log. As
 * with a JVM, a signal ends the process silently with status 128 + N and does not affect the driver.
 *
 * A launcher that started this process (driver/backend/launcher_backend.h) receives the driver's id and states. Like
 * Spark's YARN client, a client with a launcher stays until the driver's end, whatever waitAppCompletion
 * says. (Spark's standalone client sends a launcher nothing.) The launcher's Stop kills the driver.
 */
#include "rest/rest_client.h"

#include "base/error.h"
#include "base/log.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "process/end_signal.h"
#include "rpc/driver_state.h"
#include "submit/prepare/submission.h"
#include "submit/standalone/rest_submission.h"
#include "driver/backend/cluster_manager.h"
#include "driver/backend/launcher_backend.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMPONENT "RestSubmissionClient"

#define STOPPED (-1) /* in place of a signal: the launcher sent Stop */

static struct end_signal first_signal;
static int signalled;                     /* the received signal; atomic */
static struct launcher_backend *launcher; /* NULL: no launcher started this process */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static void rest_submit_on_signal(int number)
{
        if (end_signal_note(&first_signal, number))
                __atomic_store_n(&signalled, number, __ATOMIC_RELAXED);
}

static void rest_submit_watch_signals(struct sigaction before[])
{
        struct sigaction watch = {.sa_handler = rest_submit_on_signal};
        sigfillset(&watch.sa_mask);
        first_signal = (struct end_signal){0};
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                sigaction(signals[i], NULL, &before[i]);
                if (before[i].sa_handler != SIG_IGN)
                        sigaction(signals[i], &watch, NULL);
        }
}

static void rest_submit_on_stop(struct launcher_backend *b, void *context)
{
        int none = 0;
        __atomic_compare_exchange_n(&signalled, &none, STOPPED, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

static bool rest_submit_stop_requested(void)
{
        return __atomic_load_n(&signalled, __ATOMIC_RELAXED) == STOPPED;
}

/* The master no longer replies: returns the signal's status, or the error. */
static int rest_submit_end(struct rest_client *c, const struct sigaction before[], int r, int *ended,
                           struct fst_error *error)
{
        rest_client_free(c);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                sigaction(signals[i], &before[i], NULL);
        int number = __atomic_exchange_n(&signalled, 0, __ATOMIC_RELAXED);
        if (r == -ECANCELED && number) {
                error_deinit(error);
                *ended = number == STOPPED ? 1 : 128 + number;
                return 0;
        }
        return r;
}

static int rest_submit_begin(const char *master, const struct strmap *conf, struct sigaction before[],
                             struct rest_client **c, struct fst_error *error)
{
        const struct fst_conf settings = {.set = *conf};
        int r = log4j2_configure(&settings, getenv("SPARK_CONF_DIR"), error);
        if (r == 0)
                r = rest_client_new(master, c, error);
        if (r == 0 && (r = rest_client_set_token(*c, strmap_get(conf, REST_TOKEN_KEY), error)) < 0)
                rest_client_free(steal(*c));
        if (r < 0)
                return r;
        rest_submit_watch_signals(before);
        rest_client_set_stopped(*c, &signalled);
        return 0;
}

static void rest_submit_report_state(void *context, const struct rest_answer *status)
{
        enum launcher_state state = driver_state_parse(status->driver_state);
        if (state != LAUNCHER_UNKNOWN)
                launcher_backend_set_state(launcher, state);
}

/* Kills the driver at the launcher's request, and keeps waiting for its end. */
static int rest_submit_kill_driver(struct rest_client *c, const char *id, struct fst_error *error)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        __atomic_store_n(&signalled, 0, __ATOMIC_RELAXED);
        error_deinit(error);
        int r = rest_client_kill(c, id, &answer, error);
        if (r == 0 && answer.success != REST_TRUE)
                log_warn(COMPONENT, "The driver %s was not killed: %s", id, answer.message ? answer.message : "null");
        return r;
}

/* The exit status for the driver's end. */
static int rest_submit_wait_for_end(struct rest_client *c, const char *id, const struct fst_conf *conf, int *status,
                                    struct fst_error *error)
{
        struct rest_waiting waiting = {.changed = rest_submit_report_state};
        _cleanup_free_ char *state = NULL;
        int r = conf_get_ms(conf, "spark.firesteel.submit.reportInterval", &waiting.interval_ms, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.firesteel.submit.masterTimeout", &waiting.away_ms, error);
        if (r == 0)
                r = rest_client_wait(c, id, &waiting, &state, error);
        while (r == -ECANCELED && rest_submit_stop_requested()) {
                r = rest_submit_kill_driver(c, id, error);
                if (r == 0)
                        r = rest_client_wait(c, id, &waiting, &state, error);
        }
        if (r == 0) {
                launcher_backend_set_state(launcher, driver_state_parse(state));
                log_info(COMPONENT, "State of driver %s is %s, exiting spark-submit JVM.", id, state);
                *status = strcmp(state, "FINISHED") == 0 ? 0 : 1;
        } else if (r != -ECANCELED) {
                log_error(COMPONENT, "%s", error_message(error));
                error_deinit(error);
                *status = 1;
                r = 0;
        }
        return r;
}

/* The driver was accepted. From here on, no error may make the caller submit it again. */
static int rest_submit_follow(struct rest_client *c, const struct rest_answer *answer, const struct fst_conf *conf,
                              int *status, struct fst_error *error)
{
        bool wait = false;
        int r = conf_get_bool(conf, "spark.standalone.submit.waitAppCompletion", &wait, error);
        if (r < 0)
                return r;
        if (!answer->submission_id) {
                log_error(COMPONENT, "Application successfully submitted, but submission ID was not provided!");
        } else {
                log_info(COMPONENT, "Submission successfully created as %s. Polling submission state...",
                         answer->submission_id);
                launcher_backend_set_app_id(launcher, answer->submission_id);
                launcher_backend_set_state(launcher, LAUNCHER_SUBMITTED);
                wait = wait || launcher_backend_is_connected(launcher) || rest_submit_stop_requested();
                r = rest_client_report(c, answer->submission_id, error);
                if (r == -ECANCELED && !rest_submit_stop_requested())
                        return r;
                if (r != 0 && r != -ECANCELED)
                        log_error(COMPONENT, "The state of driver %s is unknown: %s", answer->submission_id,
                                  error_message(error));
                error_deinit(error);
        }
        _cleanup_free_ char *json = rest_answer_json(answer);
        log_info(COMPONENT, "Server responded with %s:\n%s", rest_answer_type(answer), json);
        return wait && answer->submission_id ? rest_submit_wait_for_end(c, answer->submission_id, conf, status, error)
                                             : 0;
}

static int rest_submit_create(struct rest_client *c, const struct submission *s, int *status, struct fst_error *error)
{
        const struct fst_conf conf = {.set = s->conf};
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        int r = rest_submission_create(c, s, &answer, error);
        if (r != 0)
                return r;
        if (answer.kind == REST_CREATE && answer.success == REST_TRUE)
                return rest_submit_follow(c, &answer, &conf, status, error);
        if (answer.kind == REST_CREATE)
                log_error(COMPONENT, "Application submission failed%s%s", answer.message ? ": " : "",
                          answer.message ? answer.message : "");
        bool wait = false;
        r = conf_get_bool(&conf, "spark.standalone.submit.waitAppCompletion", &wait, error);
        *status = wait ? 1 : 0;
        return r;
}

int rest_submit(const struct submission *s, int *status, struct fst_error *error)
{
        struct sigaction before[ARRAY_SIZE(signals)];
        struct rest_client *c = NULL;
        int ended = 0;
        const char *master = strmap_get(&s->conf, "spark.master");
        bool standalone = s->manager->has_legacy_gateway;
        if (s->arguments.len < 2)
                return error_set(error, -EINVAL, "Usage: RestSubmissionClient [app resource] [main class] [app args*]");
        if (!master)
                return error_set(error, -EINVAL, "'spark.master' must be set.");
        if (standalone)
                fputs("Running Spark using the REST application submission protocol.\n", stderr);
        int r = rest_submit_begin(master, &s->conf, before, &c, error);
        if (r < 0)
                return r;
        r = launcher_backend_connect(&s->conf, rest_submit_on_stop, NULL, &launcher, error);
        r = rest_submit_end(c, before, r ? r : rest_submit_create(c, s, &ended, error), &ended, error);
        launcher_backend_close(steal(launcher));
        if (r == FST_REST_E_NO_SERVER && !standalone)
                r = -ENOTCONN; /* Mesos has no other way */
        if (r == FST_REST_E_NO_SERVER) {
                fprintf(stderr,
                        "Warning: Master endpoint %s was not a REST server. Falling back to legacy submission "
                        "gateway instead.\n",
                        master);
                r = CLUSTER_MANAGER_E_NO_REST;
        }
        if (r == 0)
                *status = ended;
        return r;
}

int rest_kill(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error)
{
        struct sigaction before[ARRAY_SIZE(signals)];
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct rest_client *c = NULL;
        int ended = 0, r = rest_submit_begin(master, conf, before, &c, error);
        if (r < 0)
                return r;
        r = rest_submit_end(c, before, rest_client_kill(c, id, &answer, error), &ended, error);
        if (r != 0)
                return r == FST_REST_E_NO_SERVER ? -ENOTCONN : r;
        *status = ended;
        if (answer.success == REST_TRUE)
                fprintf(stderr, "%s is killed successfully.\n", id);
        else if (!ended)
                fprintf(stderr, "Error: %s\n", answer.message ? answer.message : "null");
        return 0;
}

int rest_status(const char *master, const char *id, const struct strmap *conf, int *status, struct fst_error *error)
{
        struct sigaction before[ARRAY_SIZE(signals)];
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct rest_client *c = NULL;
        int ended = 0, r = rest_submit_begin(master, conf, before, &c, error);
        if (r < 0)
                return r;
        r = rest_submit_end(c, before, rest_client_status(c, id, false, &answer, error), &ended, error);
        if (r == 0)
                *status = ended;
        if (r == 0 && answer.kind == REST_STATUS && answer.success == REST_FALSE)
                fprintf(stderr, "Error: The master does not know driver %s%s%s\n", id, answer.message ? ": " : "",
                        answer.message ? answer.message : "");
        return r == FST_REST_E_NO_SERVER ? -ENOTCONN : r;
}
