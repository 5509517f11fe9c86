/*
 * Jobs of a submitter: to submit, and for applications in a cluster to ask and to kill, through the master's REST
 * server or, where it has none, its legacy gateway. On a worker's thread, which blocks for as long as they take. What
 * goes to Kubernetes is only prepared here: submit_kubernetes.c.
 *
 * The states of a driver become those of SparkAppHandle. One that a master has not known ten times running is LOST, as
 * is one whose master has not answered for spark.firesteel.submit.masterTimeout; until then the master may restart.
 */
#include "submit/api/submitter.h"

#include "base/mem.h"
#include "driver/backend/cluster_manager.h"
#include "conf/conf.h"
#include "submit/api/cluster_client.h"
#include "rpc/driver_state.h"
#include "rest/rest_client.h"

enum { MAX_UNKNOWN = 10, NO_LEADER_PAUSE_MS = 500 };

/* Under the lock: keep the answer, and what it complains of. False: the server did not do what it was asked. */
static bool take_answer(fst_submission *app, const struct rest_answer *answer)
{
        free(app->answer);
        app->answer = rest_answer_json(answer);
        if (answer->kind != REST_ERROR && answer->success == REST_TRUE)
                return true;
        submission_set_error(app, answer->message ? answer->message : "the master refused the request");
        return false;
}

/* -------------------------------------------------------------------------------------------------- submitting */

/* Prepare; again without the REST server, if it is none. What was prepared before is forgotten. */
static int prepare(fst_submission *app, bool force_legacy, struct fst_error *error)
{
        pthread_mutex_lock(&app->preparing);
        if (force_legacy && !app->prepared.force_legacy) {
                submission_deinit(&app->prepared);
                app->prepared = (struct submission){.force_legacy = true};
                app->is_prepared = false;
        }
        app->prepared.native_only = true;
        int r = submission_prepare_all(app, error);
        pthread_mutex_unlock(&app->preparing);
        return r;
}

static int interval(fst_submission *app, int64_t *ms, int64_t *away_ms)
{
        const struct fst_conf conf = {.set = app->prepared.conf};
        int r = conf_get_ms(&conf, "spark.firesteel.submit.reportInterval", ms, NULL);
        if (r == 0)
                r = conf_get_ms(&conf, "spark.firesteel.submit.masterTimeout", away_ms, NULL);
        if (app->watch_ms >= 0)
                *ms = app->watch_ms;
        return r;
}

/* Whether it is worth asking again later; then it is going to be. */
static bool wait_for_leader(fst_submission *app, int64_t away_most)
{
        int64_t now = submitter_now_ms();
        pthread_mutex_lock(&app->submitter->lock);
        app->away_since_ms = app->away_since_ms ? app->away_since_ms : now;
        bool again = now - app->away_since_ms < away_most;
        if (again)
                submitter_queue_job(app, JOB_START, now + NO_LEADER_PAUSE_MS);
        pthread_mutex_unlock(&app->submitter->lock);
        return again;
}

/* Under the lock: the master has answered. */
static void take_submitted(fst_submission *app, const struct rest_answer *answer, int64_t every)
{
        const struct cluster_place place = cluster_place_of(&app->prepared);
        app->away_since_ms = 0;
        if (!take_answer(app, answer)) {
                submission_set_state(app, FST_SUBMIT_FAILED);
                return;
        }
        free(app->master);
        app->master = mem_strdup(place.master);
        if (answer->submission_id)
                submission_set_id(app, answer->submission_id);
        submission_set_state(app, FST_SUBMIT_SUBMITTED);
        if (answer->submission_id && app->cancelled)
                submitter_queue_job(app, JOB_KILL, submitter_now_ms());
        if (answer->submission_id && every > 0)
                submitter_queue_job(app, JOB_POLL, submitter_now_ms() + every);
}

static int submit_to_cluster(fst_submission *app, struct cluster_client *client, struct fst_error *error)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        int64_t every = 0, away = 0;
        int r = prepare(app, false, error);
        if (r == 0 && interval(app, &every, &away) < 0)
                r = error_set(error, -EINVAL, "spark.firesteel.submit.reportInterval and masterTimeout must be times");
        const char *main_class = app->prepared.main_class;
        if (r == 0 && main_class && strcmp(main_class, SUBMIT_CLASS_KUBERNETES) == 0)
                return submit_kubernetes_launch(app, every, away, error);
        if (r == 0)
                r = cluster_client_submit(client, &app->prepared, &answer, error);
        if (r == FST_REST_E_NO_SERVER) {
                error_deinit(error);
                r = prepare(app, true, error);
                if (r == 0)
                        r = cluster_client_submit(client, &app->prepared, &answer, error);
        }
        if (r == -EAGAIN && wait_for_leader(app, away)) {
                error_deinit(error);
                return 0;
        }
        if (r < 0)
                return r;
        pthread_mutex_lock(&app->submitter->lock);
        take_submitted(app, &answer, every);
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

/* --kill, --status: one request, whose answer is the end of it. */
static int operate(fst_submission *app, struct cluster_client *client, struct fst_error *error)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        const char *to = submit_arguments_master(&app->args);
        const struct cluster_manager_class *manager = cluster_manager_for_request(to, error);
        if (!manager)
                return -ENOTSUP;
        if (!rest_client_supports(to))
                return submit_kubernetes_operate(app, error);
        const struct cluster_place place = {.master = to};
        int r = app->args.action == SUBMIT_ACTION_KILL
                        ? cluster_client_kill(client, &place, app->args.submission, &answer, error)
                        : cluster_client_status(client, &place, app->args.submission, &answer, error);
        if (r != 0)
                return r;
        pthread_mutex_lock(&app->submitter->lock);
        submission_set_id(app, app->args.submission);
        submission_set_state(app, take_answer(app, &answer) ? FST_SUBMIT_FINISHED : FST_SUBMIT_FAILED);
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

static bool in_cluster(const fst_submission *app)
{
        return submit_arguments_cluster_mode(&app->args);
}

static int start(fst_submission *app, struct cluster_client *client, struct fst_error *error)
{
        pthread_mutex_lock(&app->preparing);
        int r = submission_complete(app, error);
        pthread_mutex_unlock(&app->preparing);
        if (r < 0)
                return r;
        pthread_mutex_lock(&app->submitter->lock);
        bool cancelled = app->cancelled;
        if (cancelled)
                submission_set_state(app, FST_SUBMIT_KILLED);
        pthread_mutex_unlock(&app->submitter->lock);
        if (cancelled)
                return 0;
        if (app->args.action != SUBMIT_ACTION_SUBMIT)
                return operate(app, client, error);
        if (in_cluster(app))
                return submit_to_cluster(app, client, error);
        pthread_mutex_lock(&app->submitter->lock);
        app->is_child = true;
        submitter_queue_command(app, COMMAND_SPAWN);
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- watching */

/* Under the lock: what a master says of a driver. */
static void take_status(fst_submission *app, const struct rest_answer *answer)
{
        app->away_since_ms = 0;
        bool known = take_answer(app, answer);
        int state = known ? (int)driver_state_parse(answer->driver_state) : FST_SUBMIT_UNKNOWN;
        app->unknown_times = state == FST_SUBMIT_UNKNOWN ? app->unknown_times + 1 : 0;
        if (state == FST_SUBMIT_FAILED)
                submission_set_error(app, answer->message ? answer->message : "the driver has failed");
        if (state != FST_SUBMIT_UNKNOWN) {
                submission_set_state(app, state);
        } else if (app->unknown_times >= MAX_UNKNOWN) {
                submission_set_error(app, "the master does not know the application");
                submission_set_state(app, FST_SUBMIT_LOST);
        }
}

/* Under the lock: nobody has answered. */
static void take_silence(fst_submission *app, int64_t away_most, struct fst_error *error)
{
        int64_t now = submitter_now_ms();
        submission_set_error(app, error_message(error));
        if (app->away_since_ms == 0)
                app->away_since_ms = now;
        else if (now - app->away_since_ms > away_most)
                submission_set_state(app, FST_SUBMIT_LOST);
}

static void poll_master(fst_submission *app, bool again, struct cluster_client *client)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int64_t every = 0, away = 0;
        interval(app, &every, &away);
        const struct cluster_place place = cluster_place_of(&app->prepared);
        int r = cluster_client_status(client, &place, app->id, &answer, &error);
        pthread_mutex_lock(&app->submitter->lock);
        if (r == 0)
                take_status(app, &answer);
        else if (r != -ECANCELED)
                take_silence(app, away, &error);
        if (again && every > 0 && !app->freed && !fst_submit_is_final(app->state))
                submitter_queue_job(app, JOB_POLL, submitter_now_ms() + every);
        pthread_mutex_unlock(&app->submitter->lock);
        error_deinit(&error);
}

static void kill_driver(fst_submission *app, struct cluster_client *client)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        const struct cluster_place place = cluster_place_of(&app->prepared);
        int r = cluster_client_kill(client, &place, app->id, &answer, &error);
        pthread_mutex_lock(&app->submitter->lock);
        if (r != 0)
                submission_set_error(app, error_message(&error));
        else if (take_answer(app, &answer))
                submitter_queue_job(app, JOB_REFRESH, submitter_now_ms());
        pthread_mutex_unlock(&app->submitter->lock);
        error_deinit(&error);
}

void submit_job_run(fst_submission *app, enum submit_job kind, struct cluster_client *client)
{
        struct fst_error error = FST_ERROR_INIT;
        if (kind == JOB_START) {
                if (start(app, client, &error) < 0)
                        submission_fail(app, &error);
        } else if (kind == JOB_KILL) {
                kill_driver(app, client);
        } else {
                poll_master(app, kind == JOB_POLL, client);
        }
}
