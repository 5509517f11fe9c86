/*
 * The submission_class of standalone masters and Mesos dispatchers: submits, polls and kills over the REST server or,
 * if a standalone master has none, its legacy gateway. Runs on a worker's thread and blocks.
 *
 * The states of a driver map to those of SparkAppHandle. A driver that its master does not know in ten consecutive
 * polls is LOST, and so is one whose master has not replied for spark.firesteel.submit.masterTimeout. Until then the
 * master may restart.
 */
#include "submit/api/submitter.h"

#include "base/clock.h"
#include "base/mem.h"
#include "submit/standalone/cluster_client.h"
#include "rpc/driver_state.h"
#include "rest/rest_client.h"
#include "submit/prepare/submission.h"
#include "submit/standalone/rest_submission.h"

enum { MAX_UNKNOWN = 10, NO_LEADER_PAUSE_MS = 500 };

/* The worker's connections to masters, opened by its first job of this class. */
static void rest_submission_free_client(void *client)
{
        cluster_client_deinit(client);
        free(client);
}

static struct cluster_client *rest_submission_client(struct submit_worker *worker)
{
        if (!worker->client) {
                struct cluster_client *client = new0(struct cluster_client);
                client->stopped = worker->stopped;
                worker->client = client;
                worker->free_client = rest_submission_free_client;
        }
        return worker->client;
}

/* Under the lock: stores the reply and its message. Returns false if the server refused the request. */
static bool rest_submission_handle_reply(fst_submission *app, const struct rest_answer *answer)
{
        free(app->answer);
        app->answer = rest_answer_json(answer);
        if (answer->kind != REST_ERROR && answer->success == REST_TRUE)
                return true;
        submission_set_error(app, answer->message ? answer->message : "the master refused the request");
        return false;
}

/* ------------------------------------------------------------------------------------------------------- submitting */

/* Whether to retry later. If so, queues the retry. */
static bool rest_submission_retry_without_leader(fst_submission *app, int64_t away_most)
{
        int64_t now = now_ms();
        pthread_mutex_lock(&app->submitter->lock);
        app->away_since_ms = app->away_since_ms ? app->away_since_ms : now;
        bool again = now - app->away_since_ms < away_most;
        if (again)
                submitter_queue_job(app, JOB_START, now + NO_LEADER_PAUSE_MS);
        pthread_mutex_unlock(&app->submitter->lock);
        return again;
}

/* Under the lock: the master replied. */
static void rest_submission_handle_submitted(fst_submission *app, const struct rest_answer *answer, int64_t every)
{
        const struct cluster_place place = cluster_place_of(&app->prepared);
        app->away_since_ms = 0;
        if (!rest_submission_handle_reply(app, answer)) {
                submission_set_state(app, FST_SUBMIT_FAILED);
                return;
        }
        free(app->master);
        app->master = mem_strdup(place.master);
        app->class = &rest_submission_class;
        if (answer->submission_id)
                submission_set_id(app, answer->submission_id);
        submission_set_state(app, FST_SUBMIT_SUBMITTED);
        if (answer->submission_id && app->cancelled)
                submitter_queue_job(app, JOB_KILL, now_ms());
        if (answer->submission_id && every > 0)
                submitter_queue_job(app, JOB_POLL, now_ms() + every);
}

static int rest_submission_submit(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct cluster_client *client = rest_submission_client(worker);
        int64_t every = 0, away = 0;
        if (submission_intervals(app, &every, &away, error) < 0)
                return -EINVAL;
        int r = cluster_client_submit(client, &app->prepared, &answer, error);
        if (r == FST_REST_E_NO_SERVER) {
                error_deinit(error);
                r = submission_prepare_for_cluster(app, true, error);
                if (r == 0)
                        r = cluster_client_submit(client, &app->prepared, &answer, error);
        }
        if (r == -EAGAIN && rest_submission_retry_without_leader(app, away)) {
                error_deinit(error);
                return 0;
        }
        if (r < 0)
                return r;
        pthread_mutex_lock(&app->submitter->lock);
        rest_submission_handle_submitted(app, &answer, every);
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

/* Runs --kill or --status: one request, whose reply completes the handle. */
static int rest_submission_operate(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct cluster_client *client = rest_submission_client(worker);
        const struct cluster_place place = {.master = submit_arguments_master(&app->args),
                                            .conf = &app->args.properties};
        int r = app->args.action == SUBMIT_ACTION_KILL
                        ? cluster_client_kill(client, &place, app->args.submission, &answer, error)
                        : cluster_client_status(client, &place, app->args.submission, &answer, error);
        if (r != 0)
                return r;
        pthread_mutex_lock(&app->submitter->lock);
        submission_set_id(app, app->args.submission);
        submission_set_state(app, rest_submission_handle_reply(app, &answer) ? FST_SUBMIT_FINISHED : FST_SUBMIT_FAILED);
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------------- polling */

/* Under the lock: applies the driver's status. */
static void rest_submission_handle_status(fst_submission *app, const struct rest_answer *answer)
{
        app->away_since_ms = 0;
        bool known = rest_submission_handle_reply(app, answer);
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

/* Under the lock: no master replied. */
static void rest_submission_handle_no_reply(fst_submission *app, int64_t away_most, struct fst_error *error)
{
        int64_t now = now_ms();
        submission_set_error(app, error_message(error));
        if (app->away_since_ms == 0)
                app->away_since_ms = now;
        else if (now - app->away_since_ms > away_most)
                submission_set_state(app, FST_SUBMIT_LOST);
}

static void rest_submission_poll(fst_submission *app, bool again, struct cluster_client *client)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int64_t every = 0, away = 0;
        submission_intervals(app, &every, &away, NULL);
        const struct cluster_place place = cluster_place_of(&app->prepared);
        int r = cluster_client_status(client, &place, app->id, &answer, &error);
        pthread_mutex_lock(&app->submitter->lock);
        if (r == 0)
                rest_submission_handle_status(app, &answer);
        else if (r != -ECANCELED)
                rest_submission_handle_no_reply(app, away, &error);
        if (again && every > 0 && !app->freed && !fst_submit_is_final(app->state))
                submitter_queue_job(app, JOB_POLL, now_ms() + every);
        pthread_mutex_unlock(&app->submitter->lock);
        error_deinit(&error);
}

static void rest_submission_kill(fst_submission *app, struct cluster_client *client)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        const struct cluster_place place = cluster_place_of(&app->prepared);
        int r = cluster_client_kill(client, &place, app->id, &answer, &error);
        pthread_mutex_lock(&app->submitter->lock);
        if (r != 0)
                submission_set_error(app, error_message(&error));
        else if (rest_submission_handle_reply(app, &answer))
                submitter_queue_job(app, JOB_REFRESH, now_ms());
        pthread_mutex_unlock(&app->submitter->lock);
        error_deinit(&error);
}

static void rest_submission_job(fst_submission *app, enum submit_job kind, struct submit_worker *worker)
{
        if (kind == JOB_KILL)
                rest_submission_kill(app, rest_submission_client(worker));
        else
                rest_submission_poll(app, kind == JOB_POLL, rest_submission_client(worker));
}

/* ------------------------------------------------------------------------------------------ slots that handles call */

static void rest_submission_end(fst_submission *app)
{
        if (app->id && app->master)
                submitter_queue_job(app, JOB_KILL, now_ms());
}

static int rest_submission_refresh(fst_submission *app)
{
        if (!app->id || !app->master)
                return -ESRCH;
        submitter_queue_job(app, JOB_REFRESH, now_ms());
        return 0;
}

const struct submission_class rest_submission_class = {
        .submit = rest_submission_submit,
        .operate = rest_submission_operate,
        .job = rest_submission_job,
        .end = rest_submission_end,
        .refresh = rest_submission_refresh,
};

int rest_submission_create(struct rest_client *client, const struct submission *s, struct rest_answer *answer,
                           struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        rest_environment(environ, strmap_get(&s->conf, "spark.firesteel.compat"), &environment);
        struct rest_create request = {
                .app_resource = s->arguments.data[0],
                .main_class = s->arguments.data[1],
                .app_args = s->arguments.data + 2,
                .n_app_args = s->arguments.len - 2,
                .properties = &s->conf,
                .environment = &environment,
        };
        return rest_client_create(client, &request, answer, error);
}
