/*
 * See yarn_submission.h. Everything runs on workers' threads and blocks. Jobs of one handle may run at the same time,
 * so a lock guards its client. A worker does not wait until the ResourceManager has received an application, unless
 * its connection cannot be shared, nor until it has accepted the application:
 * JOB_CONFIRM asks later, so that a worker submits others meanwhile.
 *
 * The states of an application map to those of SparkAppHandle as in Spark's client. As there, an application of which
 * the ResourceManager knows nothing counts as killed. A ResourceManager that cannot be reached for
 * spark.firesteel.submit.masterTimeout makes it LOST.
 */
#include "submit/yarn/yarn_submission.h"

#include "submit/yarn/yarn_client.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "yarn/conf/yarn_cluster.h"

#define FIRST_CONFIRM_MS 20
#define MAX_CONFIRM_MS 200

struct yarn_run {
        char *refusal; /* the ResourceManager did not take the application; NULL: it did */
        pthread_mutex_t lock;
        struct yarn_client *client;
        bool cleaned;     /* the staging directory was removed, since the application has ended */
        int64_t pause_ms; /* before the next JOB_CONFIRM */
        int64_t every_ms; /* between two JOB_POLL; 0: none */
};

static void yarn_run_free(struct yarn_run *run)
{
        if (!run)
                return;
        yarn_client_free(run->client);
        free(run->refusal);
        pthread_mutex_destroy(&run->lock);
        free(run);
}

/* A submission that was sent over the shared connection. `app` has a reference, and is NULL once its submitter closes.
 */
struct yarn_sending {
        fst_submission *app;
        struct yarn_run *run;
};

/* Those of the process that have no answer yet. Its lock is taken before a submitter's. */
static struct {
        pthread_mutex_t lock;
        VEC(struct yarn_sending *) list;
} yarn_sendings = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Under the submitter's lock: the ResourceManager has the application. */
static void yarn_submission_follow(fst_submission *app, struct yarn_run *run)
{
        app->yarn = run;
        app->class = &yarn_submission_class;
        submission_set_id(app, yarn_client_id(run->client));
        if (app->cancelled)
                submitter_queue_job(app, JOB_KILL, now_ms());
        submitter_queue_job(app, JOB_CONFIRM, now_ms() + run->pause_ms);
}

/* Under the submitter's lock. A worker removes the staging directory and ends the handle. */
static void yarn_submission_refuse(fst_submission *app, struct yarn_run *run, const char *message)
{
        run->refusal = mem_strdup(message);
        app->yarn = run;
        app->class = &yarn_submission_class;
        submitter_queue_job(app, JOB_CONFIRM, now_ms());
}

/* Under the lock of the list. */
static void yarn_sendings_remove(const struct yarn_sending *sending)
{
        for (size_t i = yarn_sendings.list.len; i-- > 0;)
                if (yarn_sendings.list.data[i] == sending)
                        yarn_sendings.list.data[i] = yarn_sendings.list.data[--yarn_sendings.list.len];
        if (yarn_sendings.list.len == 0)
                vec_deinit(&yarn_sendings.list);
}

/* On the connection's thread. */
static void on_submission_sent(void *owner, int status, struct fst_error *error)
{
        struct yarn_sending *sending = owner;
        pthread_mutex_lock(&yarn_sendings.lock);
        yarn_sendings_remove(sending);
        fst_submission *app = sending->app;
        if (app) {
                struct yarn_run *run = sending->run;
                if (status == 0)
                        yarn_client_set_sent(run->client);
                pthread_mutex_lock(&app->submitter->lock);
                if (status == 0)
                        yarn_submission_follow(app, run);
                else
                        yarn_submission_refuse(app, run, error_message(error));
                submission_unref(app); /* the job has a reference, so this is not the last one */
                pthread_mutex_unlock(&app->submitter->lock);
        }
        pthread_mutex_unlock(&yarn_sendings.lock);
        free(sending);
}

/* Sends it over the shared connection. */
static int yarn_submission_send(fst_submission *app, struct yarn_run *run, struct fst_error *error)
{
        struct yarn_sending *sending = new0(struct yarn_sending);
        *sending = (struct yarn_sending){.app = app, .run = run};
        pthread_mutex_lock(&app->submitter->lock);
        submission_ref(app);
        const size_t others = app->submitter->jobs.starts;
        pthread_mutex_unlock(&app->submitter->lock);
        pthread_mutex_lock(&yarn_sendings.lock);
        vec_push(&yarn_sendings.list, sending);
        pthread_mutex_unlock(&yarn_sendings.lock);
        const int r = yarn_client_send(run->client, others, on_submission_sent, sending, error);
        if (r == 0)
                return 0;
        pthread_mutex_lock(&yarn_sendings.lock);
        yarn_sendings_remove(sending);
        pthread_mutex_unlock(&yarn_sendings.lock);
        free(sending);
        pthread_mutex_lock(&app->submitter->lock);
        submission_unref(app);
        pthread_mutex_unlock(&app->submitter->lock);
        return r;
}

static int yarn_submission_submit(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        int64_t every = 0, away = 0;
        struct yarn_run *run = new0(struct yarn_run);
        pthread_mutex_init(&run->lock, NULL);
        int r = submission_intervals(app, &every, &away, error);
        if (r == 0)
                r = yarn_client_new(&app->prepared, conf_environment, worker->stopped, &run->client, error);
        run->pause_ms = FIRST_CONFIRM_MS;
        run->every_ms = every;
        const bool share = r == 0 && yarn_client_can_share(run->client);
        if (r == 0)
                r = share ? yarn_submission_send(app, run, error) : yarn_client_submit(run->client, false, error);
        if (r < 0) {
                yarn_run_free(run);
        } else if (!share) {
                pthread_mutex_lock(&app->submitter->lock);
                yarn_submission_follow(app, run);
                pthread_mutex_unlock(&app->submitter->lock);
        }
        return r;
}

/* The application has ended because it was killed through the handle, whose state a poll sets then. */
static bool yarn_submission_was_cancelled(fst_submission *app)
{
        pthread_mutex_lock(&app->submitter->lock);
        const bool cancelled = app->cancelled && !app->yarn->refusal;
        pthread_mutex_unlock(&app->submitter->lock);
        return cancelled;
}

static void yarn_submission_poll(fst_submission *app, bool again);

/* Asks whether the application is accepted, and again until the ResourceManager has decided. */
static void yarn_submission_confirm(fst_submission *app)
{
        struct fst_error error = FST_ERROR_INIT;
        struct yarn_run *run = app->yarn;
        int r;
        pthread_mutex_lock(&run->lock);
        if (run->refusal) {
                yarn_client_clean_up(run->client);
                r = error_set(&error, -EREMOTEIO, "%s", run->refusal);
        } else {
                r = yarn_client_is_accepted(run->client, &error);
        }
        pthread_mutex_unlock(&run->lock);
        if (r == -ECANCELED && yarn_submission_was_cancelled(app)) {
                error_deinit(&error);
                yarn_submission_poll(app, true);
                return;
        }
        if (r < 0) {
                submission_fail(app, &error);
                return;
        }
        pthread_mutex_lock(&app->submitter->lock);
        if (r == 0) {
                run->pause_ms = MIN(2 * run->pause_ms, (int64_t)MAX_CONFIRM_MS);
                submitter_queue_job(app, JOB_CONFIRM, now_ms() + run->pause_ms);
        } else {
                submission_set_state(app, FST_SUBMIT_SUBMITTED);
                if (run->every_ms > 0)
                        submitter_queue_job(app, JOB_POLL, now_ms() + run->every_ms);
        }
        pthread_mutex_unlock(&app->submitter->lock);
}

/* The state of a handle for an application's report. */
static int yarn_submission_state(const Firesteel__Yarn__ApplicationReport *report)
{
        switch (report->state) {
        case YARN_RUNNING:
                return FST_SUBMIT_RUNNING;
        case YARN_FINISHED:
                return report->final_status == YARN_FINAL_FAILED   ? FST_SUBMIT_FAILED
                       : report->final_status == YARN_FINAL_KILLED ? FST_SUBMIT_KILLED
                                                                   : FST_SUBMIT_FINISHED;
        case YARN_FAILED:
                return FST_SUBMIT_FAILED;
        case YARN_KILLED:
                return FST_SUBMIT_KILLED;
        default:
                return FST_SUBMIT_SUBMITTED;
        }
}

/* Under the submitter's lock: the ResourceManager did not answer. */
static void yarn_submission_handle_no_reply(fst_submission *app, int64_t away_most, const struct fst_error *error)
{
        const int64_t now = now_ms();
        submission_set_error(app, error_message(error));
        if (app->away_since_ms == 0)
                app->away_since_ms = now;
        else if (now - app->away_since_ms > away_most)
                submission_set_state(app, FST_SUBMIT_LOST);
}

static void yarn_submission_poll(fst_submission *app, bool again)
{
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__Yarn__GetApplicationReportResponse *answer = NULL;
        int64_t every = 0, away = 0;
        submission_intervals(app, &every, &away, NULL);
        pthread_mutex_lock(&app->yarn->lock);
        const int r = yarn_client_report(app->yarn->client, &answer, &error);
        const int state = r == 0                                ? yarn_submission_state(answer->report)
                          : r == APPLICATION_CLIENT_E_NOT_FOUND ? FST_SUBMIT_KILLED
                                                                : FST_SUBMIT_UNKNOWN;
        if (fst_submit_is_final(state) && !app->yarn->cleaned) {
                app->yarn->cleaned = true;
                yarn_client_clean_up(app->yarn->client);
        }
        pthread_mutex_unlock(&app->yarn->lock);

        pthread_mutex_lock(&app->submitter->lock);
        if (r < 0) {
                yarn_submission_handle_no_reply(app, away, &error);
        } else {
                app->away_since_ms = 0;
                if (state == FST_SUBMIT_FAILED && answer)
                        submission_set_error(app, answer->report->diagnostics && *answer->report->diagnostics
                                                          ? answer->report->diagnostics
                                                          : "the application has failed");
                submission_set_state(app, state);
        }
        if (again && every > 0 && !app->freed && !fst_submit_is_final(app->state))
                submitter_queue_job(app, JOB_POLL, now_ms() + every);
        pthread_mutex_unlock(&app->submitter->lock);
        if (answer)
                protobuf_c_message_free_unpacked(&answer->base, NULL);
        error_deinit(&error);
}

static void yarn_submission_kill(fst_submission *app)
{
        struct fst_error error = FST_ERROR_INIT;
        if (app->yarn->refusal)
                return;
        pthread_mutex_lock(&app->yarn->lock);
        const int r = yarn_client_kill(app->yarn->client, &error);
        pthread_mutex_unlock(&app->yarn->lock);
        pthread_mutex_lock(&app->submitter->lock);
        if (r < 0)
                submission_set_error(app, error_message(&error));
        else
                submitter_queue_job(app, JOB_REFRESH, now_ms());
        pthread_mutex_unlock(&app->submitter->lock);
        error_deinit(&error);
}

static void yarn_submission_job(fst_submission *app, enum submit_job kind, struct submit_worker *worker)
{
        if (kind == JOB_CONFIRM)
                yarn_submission_confirm(app);
        else if (kind == JOB_KILL)
                yarn_submission_kill(app);
        else
                yarn_submission_poll(app, kind == JOB_POLL);
}

static void yarn_submission_end(fst_submission *app)
{
        if (app->yarn)
                submitter_queue_job(app, JOB_KILL, now_ms());
}

static int yarn_submission_refresh(fst_submission *app)
{
        if (!app->yarn || app->yarn->refusal)
                return -ESRCH;
        submitter_queue_job(app, JOB_REFRESH, now_ms());
        return 0;
}

static void yarn_submission_release(fst_submission *app)
{
        yarn_run_free(app->yarn);
}

/* A submitter closes: answers no longer reach it, and connections that no other one uses are closed. */
static void yarn_submission_close(fst_submitter *s)
{
        VEC(struct yarn_run *) runs = {0};
        pthread_mutex_lock(&yarn_sendings.lock);
        for (size_t i = 0; i < yarn_sendings.list.len; i++) {
                struct yarn_sending *sending = yarn_sendings.list.data[i];
                if (!sending->app || sending->app->submitter != s)
                        continue;
                sending->app = NULL; /* the handle and its references end with the submitter */
                vec_push(&runs, sending->run);
        }
        pthread_mutex_unlock(&yarn_sendings.lock);
        for (size_t i = 0; i < runs.len; i++) /* the last one ends the connection, which ends its calls */
                yarn_run_free(runs.data[i]);
        vec_deinit(&runs);
        yarn_clusters_forget();
}

const struct submission_class yarn_submission_class = {
        .submit = yarn_submission_submit,
        .job = yarn_submission_job,
        .end = yarn_submission_end,
        .refresh = yarn_submission_refresh,
        .close = yarn_submission_close,
        .release = yarn_submission_release,
};
