/*
 * Jobs of a submitter: to submit, and for applications in a cluster to ask and to kill, through the master's REST
 * server. On a worker's thread, which blocks for as long as they take.
 *
 * The states of a driver become those of SparkAppHandle. One that a master has not known ten times running is LOST, as
 * is one whose master has not answered for spark.firesteel.submit.masterTimeout; until then the master may restart.
 */
#include "deploy/submit/submitter.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "deploy/submit/driver_state.h"
#include "deploy/submit/rest_client.h"

extern char **environ;

enum { UNKNOWN_MOST = 10 };

static int client_for(const char *wanted, fst_submitter *s, struct rest_client **client, char **master,
                      struct fst_error *error)
{
        if (*client && strcmp(*master, wanted) == 0)
                return 0;
        rest_client_free(*client);
        free(*master);
        *client = NULL;
        *master = NULL;
        int r = rest_client_new(wanted, client, error);
        if (r < 0)
                return r;
        *master = mem_strdup(wanted);
        rest_client_set_stopped(*client, &s->stopping);
        return 0;
}

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

static int no_rest(struct fst_error *error, const char *master)
{
        return error_set(error, -ENOTSUP,
                         "%s is not a REST server, and programs submit by nothing else: use the master's REST server "
                         "(spark.master.rest.enabled=true, port 6066)",
                         master);
}

/* What was prepared, as a request to the master: 0 with an answer, or negative. */
static int create(fst_submission *app, struct rest_client **client, char **master, struct rest_answer *answer,
                  struct fst_error *error)
{
        const struct submission *p = &app->prepared;
        const char *to = strmap_get(&p->conf, "spark.master");
        if (!p->main_class || strcmp(p->main_class, SUBMIT_CLASS_GATEWAY) == 0)
                return no_rest(error, to ? to : "the master");
        if (strcmp(p->main_class, SUBMIT_CLASS_REST) != 0)
                return error_set(error, -ENOTSUP, "cluster deploy mode is not built yet for master '%s'", to ? to : "");
        if (!to || p->arguments.len < 2)
                return error_set(error, -EINVAL, "Usage: RestSubmissionClient [app resource] [main class] [app args*]");
        _cleanup_(strmap_deinit) struct strmap environment = STRMAP_INIT;
        rest_environment(environ, strmap_get(&p->conf, "spark.firesteel.compat"), &environment);
        struct rest_create request = {
                .app_resource = p->arguments.data[0],
                .main_class = p->arguments.data[1],
                .app_args = p->arguments.data + 2,
                .n_app_args = p->arguments.len - 2,
                .properties = &p->conf,
                .environment = &environment,
        };
        int r = client_for(to, app->submitter, client, master, error);
        if (r == 0)
                r = rest_client_create(*client, &request, answer, error);
        return r == FST_REST_E_NO_SERVER && !error->message ? no_rest(error, to) : r > 0 ? -ENOTCONN : r;
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

static int submit_to_cluster(fst_submission *app, struct rest_client **client, char **master, struct fst_error *error)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        int64_t every = 0, away = 0;
        pthread_mutex_lock(&app->preparing);
        int r = submission_prepare_all(app, error);
        pthread_mutex_unlock(&app->preparing);
        if (r == 0)
                r = interval(app, &every, &away) < 0
                            ? error_set(error, -EINVAL,
                                        "spark.firesteel.submit.reportInterval and masterTimeout must be times")
                            : create(app, client, master, &answer, error);
        if (r < 0)
                return r;
        pthread_mutex_lock(&app->submitter->lock);
        if (!take_answer(app, &answer)) {
                submission_set_state(app, FST_SUBMIT_FAILED);
        } else {
                free(app->master);
                app->master = mem_strdup(*master);
                if (answer.submission_id)
                        submission_set_id(app, answer.submission_id);
                submission_set_state(app, FST_SUBMIT_SUBMITTED);
                if (answer.submission_id && app->cancelled)
                        submitter_queue_job(app, JOB_KILL, submitter_now_ms());
                if (answer.submission_id && every > 0)
                        submitter_queue_job(app, JOB_POLL, submitter_now_ms() + every);
        }
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

/* --kill, --status: one request, whose answer is the end of it. */
static int operate(fst_submission *app, struct rest_client **client, char **master, struct fst_error *error)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        const char *to = submit_arguments_master(&app->args);
        if (!rest_client_supports(to))
                return error_set(error, -ENOTSUP,
                                 "No external SparkSubmitOperations clients found for master url: '%s'", to);
        int r = client_for(to, app->submitter, client, master, error);
        if (r == 0)
                r = app->args.action == SUBMIT_ACTION_KILL
                            ? rest_client_kill(*client, app->args.submission, &answer, error)
                            : rest_client_status(*client, app->args.submission, true, &answer, error);
        if (r != 0)
                return r < 0 ? r : -ENOTCONN;
        pthread_mutex_lock(&app->submitter->lock);
        submission_set_id(app, app->args.submission);
        submission_set_state(app, take_answer(app, &answer) ? FST_SUBMIT_FINISHED : FST_SUBMIT_FAILED);
        pthread_mutex_unlock(&app->submitter->lock);
        return 0;
}

static bool in_cluster(const fst_submission *app)
{
        const char *mode = app->args.value[SUBMIT_DEPLOY_MODE], *master = submit_arguments_master(&app->args);
        return (mode && strcmp(mode, "cluster") == 0) || strcmp(master, "yarn-cluster") == 0;
}

static int start(fst_submission *app, struct rest_client **client, char **master, struct fst_error *error)
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
                return operate(app, client, master, error);
        if (in_cluster(app))
                return submit_to_cluster(app, client, master, error);
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
        } else if (app->unknown_times >= UNKNOWN_MOST) {
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

static void poll_master(fst_submission *app, bool again, struct rest_client **client, char **master)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int64_t every = 0, away = 0;
        interval(app, &every, &away);
        int r = client_for(app->master, app->submitter, client, master, &error);
        if (r == 0)
                r = rest_client_status(*client, app->id, true, &answer, &error);
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

static void kill_driver(fst_submission *app, struct rest_client **client, char **master)
{
        _cleanup_(rest_answer_deinit) struct rest_answer answer = REST_ANSWER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        int r = client_for(app->master, app->submitter, client, master, &error);
        if (r == 0)
                r = rest_client_kill(*client, app->id, &answer, &error);
        pthread_mutex_lock(&app->submitter->lock);
        if (r != 0)
                submission_set_error(app, error_message(&error));
        else if (take_answer(app, &answer))
                submitter_queue_job(app, JOB_REFRESH, submitter_now_ms());
        pthread_mutex_unlock(&app->submitter->lock);
        error_deinit(&error);
}

void submit_job_run(fst_submission *app, enum submit_job kind, struct rest_client **client, char **master)
{
        struct fst_error error = FST_ERROR_INIT;
        if (kind == JOB_START) {
                if (start(app, client, master, &error) < 0)
                        submission_fail(app, &error);
        } else if (kind == JOB_KILL) {
                kill_driver(app, client, master);
        } else {
                poll_master(app, kind == JOB_POLL, client, master);
        }
}
