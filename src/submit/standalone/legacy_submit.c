/*
 * spark-submit and spark-class over the legacy gateway; see legacy_client.h. The log lines are those of Spark's
 * ClientEndpoint. Signals end the process as usual and do not affect the driver.
 *
 * A launcher that started this process receives the driver's id and states, as from rest_submit.c. Its Stop kills the
 * driver. A client with a launcher stays until the driver's end.
 */
#include "submit/standalone/legacy_client.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/log4j2.h"
#include "rpc/driver_state.h"
#include "submit/standalone/legacy_arguments.h"
#include "submit/prepare/submission.h"
#include "driver/backend/launcher_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOG "ClientEndpoint"
#define EXIT_REFUSED 255       /* System.exit(-1) */
#define EXIT_NOT_REACHED 1     /* Spark ends with an exception if it cannot connect */
#define MAX_UNKNOWN_ANSWERS 10 /* polls after which an unknown driver is given up */
#define GLANCE_MS 50

struct follower {
        struct legacy_client *client;
        const struct fst_conf *conf;
        char *id;
        struct launcher_backend *launcher; /* NULL: no launcher started this process */
        int told_to_stop;                  /* atomic: the launcher sent Stop */
        bool wait;
        char *state; /* as last reported */
};

static void legacy_submit_on_stop(struct launcher_backend *b, void *context)
{
        __atomic_store_n(&((struct follower *)context)->told_to_stop, 1, __ATOMIC_RELAXED);
}

static bool legacy_submit_is_final(const char *state)
{
        static const char *const final[] = {"FINISHED", "FAILED", "KILLED", "ERROR"};
        for (size_t i = 0; i < ARRAY_SIZE(final); i++)
                if (strcmp(final[i], state) == 0)
                        return true;
        return false;
}

/* Logs a fatal error. @exit is Spark's exit status for it. */
static int legacy_submit_refused(int r, struct fst_error *error, int exit, int *status)
{
        log_error(LOG, "%s%s", error_message(error), r == FST_LEGACY_E_NO_MASTER ? ", exiting." : "");
        error_deinit(error);
        *status = exit;
        return 0;
}

/* Reports a changed state, the first time with the driver's worker. */
static void legacy_submit_report(struct follower *f, const struct legacy_answer *a)
{
        bool first = !f->state;
        if (!first && strcmp(f->state, a->state) == 0)
                return;
        free(f->state);
        f->state = mem_strdup(a->state);
        enum launcher_state state = driver_state_parse(a->state);
        if (state != LAUNCHER_UNKNOWN)
                launcher_backend_set_state(f->launcher, state);
        if (first || f->wait)
                log_info(LOG, "State of %s is %s", f->id, a->state);
        if (strcmp(a->state, "RUNNING") == 0 && a->worker_id && a->worker_host_port)
                log_info(LOG, "Driver running on %s (%s)", a->worker_host_port, a->worker_id);
}

/* Whether the driver has ended. Then sets *@status. */
static bool legacy_submit_handle_status(struct follower *f, const struct legacy_answer *a, int *unknown, int *status)
{
        if (!a->success || !a->state) {
                if (++*unknown < MAX_UNKNOWN_ANSWERS)
                        return false;
                log_error(LOG, "ERROR: Cluster master did not recognize %s", f->id);
                *status = EXIT_REFUSED;
                return true;
        }
        *unknown = 0;
        legacy_submit_report(f, a);
        if (*a->message) {
                log_error(LOG, "Exception from cluster %s", a->message);
                *status = EXIT_REFUSED;
                return legacy_submit_is_final(a->state) || !f->wait;
        }
        if (legacy_submit_is_final(a->state)) {
                log_info(LOG, "State of driver %s is %s, exiting spark-submit JVM.", f->id, a->state);
                *status = f->wait && strcmp(a->state, "FINISHED") != 0;
                return true;
        }
        if (f->wait)
                return false;
        log_info(LOG, "spark-submit not configured to wait for completion, exiting spark-submit JVM.");
        *status = 0;
        return true;
}

/* Kills the driver at the launcher's request, and keeps waiting for its end. */
static void legacy_submit_kill_if_asked(struct follower *f)
{
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        if (!__atomic_exchange_n(&f->told_to_stop, 0, __ATOMIC_RELAXED))
                return;
        if (legacy_client_kill(f->client, f->id, &answer, &error) == 0)
                log_info(LOG, "%s", answer.message);
        else
                log_warn(LOG, "The driver %s was not killed: %s", f->id, error_message(&error));
        error_deinit(&error);
}

static void legacy_submit_pause(struct follower *f, int64_t ms)
{
        const struct timespec glance = {.tv_nsec = GLANCE_MS * 1000000};
        for (int64_t until = now_ms() + ms; now_ms() < until; nanosleep(&glance, NULL))
                if (__atomic_load_n(&f->told_to_stop, __ATOMIC_RELAXED))
                        return;
}

/* Polls until the driver's end. While waiting, tolerates masters that are unavailable for a while. */
static int legacy_submit_follow(struct follower *f, int *status, struct fst_error *error)
{
        int64_t every, away_most, away_since = 0;
        int unknown = 0;
        int r = conf_get_ms(f->conf, "spark.firesteel.submit.reportInterval", &every, error);
        if (r == 0)
                r = conf_get_ms(f->conf, "spark.firesteel.submit.masterTimeout", &away_most, error);
        while (r == 0) {
                _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
                legacy_submit_kill_if_asked(f);
                int asked = legacy_client_status(f->client, f->id, &answer, error);
                if (asked == 0 && legacy_submit_handle_status(f, &answer, &unknown, status))
                        return 0;
                if (asked == 0) {
                        away_since = 0;
                } else if (!f->wait || (away_since && now_ms() - away_since > away_most)) {
                        return legacy_submit_refused(asked, error, EXIT_REFUSED, status);
                } else {
                        if (!away_since)
                                log_warn(LOG, "Waiting for a master: %s", error_message(error));
                        away_since = away_since ? away_since : now_ms();
                        error_deinit(error);
                }
                legacy_submit_pause(f, every);
        }
        return r;
}

static int legacy_submit_kill_driver(struct legacy_client *c, const struct legacy_arguments *w, int *status,
                                     struct fst_error *error)
{
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        int r = legacy_client_kill(c, w->id, &answer, error);
        if (r)
                return legacy_submit_refused(r, error, EXIT_NOT_REACHED, status);
        log_info(LOG, "%s", answer.message);
        *status = answer.success ? 0 : EXIT_REFUSED;
        return 0;
}

static int legacy_submit_launch(struct follower *f, const struct legacy_arguments *w, int *status,
                                struct fst_error *error)
{
        _cleanup_(legacy_answer_deinit) struct legacy_answer answer = LEGACY_ANSWER_INIT;
        int r = legacy_client_launch(f->client, w, &f->conf->set, &answer, error);
        if (r)
                return legacy_submit_refused(r, error, EXIT_NOT_REACHED, status);
        if (!answer.success || !answer.driver_id) {
                log_error(LOG, "%s", answer.message);
                *status = EXIT_REFUSED;
                return 0;
        }
        log_info(LOG, "%s", answer.message);
        f->id = steal(answer.driver_id);
        launcher_backend_set_app_id(f->launcher, f->id);
        launcher_backend_set_state(f->launcher, LAUNCHER_SUBMITTED);
        f->wait = f->wait || launcher_backend_is_connected(f->launcher);
        return legacy_submit_follow(f, status, error);
}

static int legacy_submit_run(const struct legacy_arguments *w, const struct strmap *settings, int *status,
                             struct fst_error *error)
{
        const struct fst_conf conf = {.set = *settings};
        struct follower f = {.conf = &conf};
        int r = log4j2_configure(&conf, getenv("SPARK_CONF_DIR"), error);
        *status = EXIT_NOT_REACHED;
        if (r == 0)
                r = legacy_client_new(w->masters, settings, &f.client, error);
        if (r < 0)
                return r;
        if (w->command == LEGACY_KILL)
                r = legacy_submit_kill_driver(f.client, w, status, error);
        else if ((r = conf_get_bool(&conf, "spark.standalone.submit.waitAppCompletion", &f.wait, error)) == 0 &&
                 (r = launcher_backend_connect(settings, legacy_submit_on_stop, &f, &f.launcher, error)) == 0)
                r = legacy_submit_launch(&f, w, status, error);
        launcher_backend_close(f.launcher);
        legacy_client_free(f.client);
        free(f.id);
        free(f.state);
        return r;
}

int legacy_submit(const struct submission *s, int *status, struct fst_error *error)
{
        struct legacy_arguments words;
        int r = legacy_arguments_parse((int)s->arguments.len, s->arguments.data, &words, error);
        return r ? -EINVAL : legacy_submit_run(&words, &s->conf, status, error);
}

int legacy_command(int n, char *const *words, int *status)
{
        _cleanup_(strmap_deinit) struct strmap conf = STRMAP_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct legacy_arguments parsed;
        fputs("WARNING: This client is deprecated and will be removed in a future version of Spark\n"
              "Use ./bin/spark-submit with \"--master spark://host:port\"\n",
              stdout);
        int r = legacy_arguments_parse(n, words, &parsed, &error);
        if (r == 0)
                r = legacy_submit_run(&parsed, &conf, status, &error);
        else
                *status = r < 0;
        if (error.message && *error.message)
                fprintf(stderr, "%s%s\n", parsed.masters ? "Error: " : "", error.message);
        else if (r)
                fputs(legacy_usage, stderr);
        error_deinit(&error);
        return 0;
}
