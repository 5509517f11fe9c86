/*
 * The submission_class of Kubernetes. It launches, follows and kills drivers on the loop's thread. All drivers of one
 * API server and user share a connection. A worker runs the blocking steps (files, uploads) before.
 *
 * The state of a driver's pod maps to that of SparkAppHandle: SUBMITTED when all its objects exist, RUNNING while the
 * pod runs, FINISHED or FAILED when it ends, KILLED if it was deleted before its end. It is LOST if its end is unknown,
 * if the user may not watch it, or if no API server has replied for spark.firesteel.submit.masterTimeout.
 *
 * If the submitter closes during a launch, the launch is completed, or undone if there is no pod yet.
 */
#include "submit/kubernetes/kube_submission.h"

#include "base/mem.h"
#include "submit/kubernetes/driver_launch.h"
#include "submit/kubernetes/driver_plan.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/driver/kube_submit_operation.h"
#include "kubernetes/driver/driver_pods_watch.h"
#include "kubernetes/api/pod_state.h"
#include "kubernetes/api/pod_description.h"
#include "text/json.h"

#define IDLE_SERVERS 4 /* idle servers to keep open */

/* A connection to an API server, as one user. */
struct kube_place {
        struct kube_place *next;
        struct kube_config config;
        struct kube_client *client;
        struct pod_follower *follower;
        size_t used;
};

struct kube_run {
        fst_submission *app; /* a reference */
        struct kube_place *place;
        struct driver_plan *plan; /* until launched */
        struct driver_launch *launch;
        struct kube_operation *operation; /* for --kill and --status */
        struct followed_pod *followed;
        struct kube_call *call; /* a pending get or delete */
        char *namespace, *name, *id, *path, *container, *uid;
        bool poll_again;
};

static void kube_submission_take_pod(void *owner, const json_t *pod);
static void kube_submission_take_deletion(void *owner, const json_t *pod);
static void kube_submission_take_failure(void *owner, int r, const struct fst_error *error, int64_t for_ms);

/* ---------------------------------------------------------------------------------------------------------- servers */

static void kube_place_free(struct kube_place *place)
{
        pod_follower_free(place->follower);
        kube_client_free(place->client);
        kube_config_deinit(&place->config);
        free(place);
}

/* Finds or opens the server. The newest come first. Takes @config. Returns NULL with @error on failure. */
static struct kube_place *kube_place_find(fst_submitter *s, struct kube_config *config, struct fst_error *error)
{
        static const struct pod_follower_ops ops = {.changed = kube_submission_take_pod,
                                                    .gone = kube_submission_take_deletion,
                                                    .away = kube_submission_take_failure};
        int idle = 0;
        for (struct kube_place **at = &s->places, *place; (place = *at);) {
                if (kube_config_same(&place->config, config)) {
                        place->used++;
                        return place;
                }
                if (place->used > 0 || ++idle < IDLE_SERVERS) {
                        at = &place->next;
                        continue;
                }
                *at = place->next;
                kube_place_free(place);
        }
        struct kube_place *place = new0(struct kube_place);
        place->config = *config;
        *config = KUBE_CONFIG_INIT;
        if (kube_client_new(&s->loop, &place->config, NULL, &place->client, error) < 0) {
                kube_config_deinit(&place->config);
                free(place);
                return NULL;
        }
        place->follower = pod_follower_new(place->client, KUBE_LABEL_ROLE "=driver", &ops);
        place->next = s->places;
        place->used = 1;
        return s->places = place;
}

static void kube_submission_free_places(fst_submitter *s)
{
        while (s->places) {
                struct kube_place *place = s->places;
                s->places = place->next;
                kube_place_free(place);
        }
}

/* ------------------------------------------------------------------------------------------------------------- runs */

static void kube_submission_free_plan(struct driver_plan *plan)
{
        if (plan)
                driver_plan_deinit(plan);
        free(plan);
}

static void kube_submission_release(fst_submission *app)
{
        kube_submission_free_plan(app->plan);
        if (app->server)
                kube_config_deinit(app->server);
        free(app->server);
}

/* Cancels everything pending of the run. No callback of the run follows. */
static void kube_submission_drop(struct kube_run *run)
{
        run->app->kube = NULL;
        driver_launch_free(run->launch);
        kube_operation_free(run->operation);
        pod_unfollow(run->followed);
        if (run->call)
                kube_cancel(run->call);
        if (run->place)
                run->place->used--;
        kube_submission_free_plan(run->plan);
        free(run->namespace);
        free(run->name);
        free(run->path);
        free(run->id);
        free(run->container);
        free(run->uid);
        free(run);
}

/* Drops the run and releases its handle. */
static void kube_submission_end_run(struct kube_run *run)
{
        fst_submission *app = run->app;
        fst_submitter *s = app->submitter;
        bool launching = run->launch;
        kube_submission_drop(run);
        pthread_mutex_lock(&s->lock);
        submission_unref(app);
        pthread_mutex_unlock(&s->lock);
        if (launching && --s->launching == 0 && s->closing)
                kube_submission_free_places(s);
}

static struct kube_run *kube_submission_begin_run(fst_submission *app, struct kube_config *config,
                                                  struct fst_error *error)
{
        struct kube_run *run = new0(struct kube_run);
        run->app = app;
        run->place = kube_place_find(app->submitter, config, error);
        pthread_mutex_lock(&app->submitter->lock);
        submission_ref(app);
        pthread_mutex_unlock(&app->submitter->lock);
        return app->kube = run;
}

/* ------------------------------------------------------------------------------------------------ a worker's thread */

static void kube_submission_hand_over(fst_submission *app, enum submit_command kind)
{
        pthread_mutex_lock(&app->submitter->lock);
        app->class = &kube_submission_class;
        submitter_queue_command(app, kind);
        pthread_mutex_unlock(&app->submitter->lock);
}

static int kube_submission_submit(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        int64_t report_ms = 0, away_ms = 0;
        if (submission_intervals(app, &report_ms, &away_ms, error) < 0)
                return -EINVAL;
        struct driver_plan *plan = new0(struct driver_plan);
        *plan = DRIVER_PLAN_INIT;
        int r = driver_plan_read(plan, &app->prepared, error);
        if (r == 0)
                r = kube_operation_grace(&plan->k.settings, &app->grace_s, error);
        if (r == 0)
                r = driver_plan_make(plan, error);
        if (r < 0) {
                kube_submission_free_plan(plan);
                return r;
        }
        app->plan = plan;
        app->report_ms = report_ms;
        app->away_ms = away_ms;
        kube_submission_hand_over(app, COMMAND_LAUNCH);
        return 0;
}

static int kube_submission_operate(fst_submission *app, struct submit_worker *worker, struct fst_error *error)
{
        const struct fst_conf conf = {.set = app->args.properties};
        struct kube_config server = KUBE_CONFIG_INIT;
        int r = kube_operation_check(app->args.submission, error);
        if (r == 0)
                r = kube_operation_grace(&conf, &app->grace_s, error);
        if (r == 0)
                r = kube_config_from_conf(&conf, KUBE_SUBMISSION, submit_arguments_master(&app->args), &server, error);
        if (r < 0)
                return r;
        app->server = new0(struct kube_config);
        *app->server = server;
        kube_submission_hand_over(app, COMMAND_OPERATE);
        return 0;
}

/* ----------------------------------------------------------------------------------------------------------- states */

/* The parts of a pod that a program may need. Owned by the caller. */
static json_t *kube_submission_summarize_pod(const json_t *pod)
{
        static const char *const kept[] = {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"};
        json_t *metadata = json_object(), *out = json_pack("{s:o}", "metadata", metadata), *value;
        for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
                if ((value = json_object_get(json_object_get(pod, "metadata"), kept[i])))
                        json_object_set(metadata, kept[i], value);
        if ((value = json_object_get(pod, "status")))
                json_object_set(out, "status", value);
        return out;
}

/* Under the lock. Takes @answer. */
static void kube_submission_set_answer(fst_submission *app, json_t *answer)
{
        free(app->answer);
        app->answer = json_dumps(answer, JSON_COMPACT);
        json_decref(answer);
}

/* Finds the driver's container and returns true if it terminated. */
static bool kube_submission_find_end(const json_t *pod, const char *container, struct pod_container *out)
{
        const json_t *statuses = json_at(pod, "status.containerStatuses"), *status;
        size_t i;
        json_array_foreach((json_t *)statuses, i, status) {
                *out = pod_container_read(status, NULL);
                if (out->kind == CONTAINER_TERMINATED && out->name && strcmp(out->name, container) == 0)
                        return true;
        }
        return false;
}

/* Under the lock: sets the error message of a failed driver. */
static void kube_submission_explain_failure(struct kube_run *run, const json_t *pod, const struct pod_container *end)
{
        const json_t *status = json_object_get(pod, "status");
        const char *reason = json_text_at(status, "reason");
        const char *message = json_text_at(status, "message");
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        buf_printf(&text, "the driver %s has failed", run->id);
        if (end)
                buf_printf(&text, ": its container ended with status %d%s%s%s", end->exit_code, end->reason ? " (" : "",
                           end->reason ? end->reason : "", end->reason ? ")" : "");
        if (reason || message)
                buf_printf(&text, ": %s%s%s", reason ? reason : "", reason && message ? ": " : "",
                           message ? message : "");
        submission_set_error(run->app, buf_text(&text));
}

/* Under the lock: maps the pod's phase to the handle's state. */
static void kube_submission_take_phase(struct kube_run *run, const json_t *pod)
{
        fst_submission *app = run->app;
        const char *phase = pod_text_phase(pod);
        bool leaving = json_at(pod, "metadata.deletionTimestamp");
        bool failed = strcmp(phase, "Failed") == 0, finished = strcmp(phase, "Succeeded") == 0;
        struct pod_container end;
        bool ended = (failed || finished) && kube_submission_find_end(pod, run->container, &end);
        kube_submission_set_answer(app, kube_submission_summarize_pod(pod));
        if (ended)
                app->exit_status = end.exit_code & 0xff;
        if (failed && !leaving)
                kube_submission_explain_failure(run, pod, ended ? &end : NULL);
        if (strcmp(phase, "Running") == 0)
                submission_set_state(app, FST_SUBMIT_RUNNING);
        else if (failed || finished)
                submission_set_state(app, finished  ? FST_SUBMIT_FINISHED
                                          : leaving ? FST_SUBMIT_KILLED
                                                    : FST_SUBMIT_FAILED);
}

/* Releases the lock, and ends the run if its state is final. */
static void kube_submission_unlock_run(struct kube_run *run)
{
        bool over = fst_submit_is_final(run->app->state);
        pthread_mutex_unlock(&run->app->submitter->lock);
        if (over)
                kube_submission_end_run(run);
}

static void kube_submission_take_pod(void *owner, const json_t *pod)
{
        struct kube_run *run = owner;
        pthread_mutex_lock(&run->app->submitter->lock);
        kube_submission_take_phase(run, pod);
        kube_submission_unlock_run(run);
}

static void kube_submission_take_deletion(void *owner, const json_t *pod)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        pthread_mutex_lock(&app->submitter->lock);
        if (pod)
                kube_submission_take_phase(run, pod);
        if (!pod && !app->cancelled) {
                _cleanup_free_ char *text =
                        mem_printf("the driver %s disappeared, and its end was not observed", run->id);
                submission_set_error(app, text);
        }
        submission_set_state(app, pod || app->cancelled ? FST_SUBMIT_KILLED : FST_SUBMIT_LOST);
        kube_submission_unlock_run(run);
}

static void kube_submission_take_failure(void *owner, int r, const struct fst_error *error, int64_t for_ms)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        pthread_mutex_lock(&app->submitter->lock);
        submission_set_error(app, error_message(error));
        if (r == -EACCES || for_ms > app->away_ms)
                submission_set_state(app, FST_SUBMIT_LOST);
        kube_submission_unlock_run(run);
}

/* ---------------------------------------------------------------------------------------------- polling and killing */

static void kube_submission_poll(struct kube_run *run);

static void kube_submission_on_polled(void *owner, struct kube_call *call, int r, const struct kube_response *answer)
{
        struct kube_run *run = owner;
        const char *uid = json_text_at(answer->object, "metadata.uid");
        run->call = NULL;
        if (run->poll_again) {
                run->poll_again = false;
                kube_submission_poll(run);
        }
        if (r == FST_KUBE_E_NOT_FOUND || (r == 0 && (!uid || strcmp(uid, run->uid) != 0))) {
                kube_submission_take_deletion(run, NULL);
        } else if (r == 0) {
                kube_submission_take_pod(run, answer->object);
        } else {
                pthread_mutex_lock(&run->app->submitter->lock);
                submission_set_error(run->app, error_message(answer->error));
                pthread_mutex_unlock(&run->app->submitter->lock);
        }
}

static void kube_submission_poll(struct kube_run *run)
{
        if (run->call)
                run->poll_again = true;
        else
                run->call = kube_get(run->place->client, run->path, kube_submission_on_polled, run);
}

static void kube_submission_on_killed(void *owner, struct kube_call *call, int r, const struct kube_response *answer)
{
        struct kube_run *run = owner;
        run->call = NULL;
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND && r != FST_KUBE_E_CONFLICT) {
                pthread_mutex_lock(&run->app->submitter->lock);
                submission_set_error(run->app, error_message(answer->error));
                pthread_mutex_unlock(&run->app->submitter->lock);
                return;
        }
        run->poll_again = false;
        kube_submission_poll(run);
}

/* Deletes the pod, and follows it so that the handle gets its final state. */
static void kube_submission_kill_driver(struct kube_run *run)
{
        const int64_t *grace = run->app->grace_s >= 0 ? &run->app->grace_s : NULL;
        if (run->call)
                kube_cancel(run->call);
        run->call = kube_delete(run->place->client, run->path,
                                &(struct kube_deletion){.grace_s = grace, .uid = run->uid, .propagation = "Background"},
                                kube_submission_on_killed, run);
        if (run->followed)
                return;
        run->followed = pod_follow(run->place->follower, run->namespace, run->name, run);
        pod_follow_created(run->followed, run->uid);
}

/* -------------------------------------------------------------------------------------------------------- launching */

/* Under the lock. */
static void kube_submission_take_launched(struct kube_run *run, json_t *pod)
{
        fst_submission *app = run->app;
        const char *uid = json_text_at(pod, "metadata.uid");
        run->uid = mem_strdup(uid ? uid : "");
        kube_submission_set_answer(app, kube_submission_summarize_pod(pod));
        submission_set_id(app, run->id);
        submission_set_state(app, FST_SUBMIT_SUBMITTED);
}

static void kube_submission_on_launched(void *owner, int r, const struct fst_error *error)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        fst_submitter *s = app->submitter;
        pthread_mutex_lock(&s->lock);
        bool cancelled = app->cancelled, wanted = r == 0 && !s->closing && (cancelled || !app->freed);
        if (r < 0)
                submission_set_error(app, error_message(error));
        if (r == 0)
                kube_submission_take_launched(run, driver_launch_pod(run->launch));
        else
                submission_set_state(app, cancelled || r > 0 ? FST_SUBMIT_KILLED : FST_SUBMIT_FAILED);
        pthread_mutex_unlock(&s->lock);
        if (!wanted) {
                kube_submission_end_run(run);
                return;
        }
        s->launching--;
        driver_launch_free(steal(run->launch));
        kube_submission_free_plan(steal(run->plan));
        struct followed_pod *followed = run->followed;
        if (cancelled)
                kube_submission_kill_driver(run);
        if (followed)
                pod_follow_created(followed, run->uid);
}

static void kube_submission_start_launch(fst_submission *app)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        fst_submitter *s = app->submitter;
        struct driver_plan *plan = steal(app->plan);
        struct kube_run *run = kube_submission_begin_run(app, &plan->server, &error);
        run->plan = plan;
        pthread_mutex_lock(&s->lock);
        if (app->cancelled) {
                submission_set_state(app, FST_SUBMIT_KILLED);
        } else if (!run->place) {
                submission_set_error(app, error_message(&error));
                submission_set_state(app, FST_SUBMIT_FAILED);
        }
        bool over = fst_submit_is_final(app->state);
        pthread_mutex_unlock(&s->lock);
        if (over) {
                kube_submission_end_run(run);
                return;
        }
        run->namespace = mem_strdup(plan->namespace);
        run->name = mem_strdup(driver_plan_pod_name(plan));
        run->id = mem_printf("%s:%s", run->namespace, run->name);
        run->path = kube_path("v1", run->namespace, "pods", run->name);
        run->container = mem_strdup(plan->container);
        if (app->report_ms > 0)
                run->followed = pod_follow(run->place->follower, run->namespace, run->name, run);
        s->launching++;
        run->launch = driver_launch_begin(run->place->client, plan, kube_submission_on_launched, run);
}

/* ------------------------------------------------------------------------------------------------- --kill, --status */

static void kube_submission_on_operated(void *owner, int r, const json_t *pods, const struct fst_error *error)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        json_t *all = json_array(), *pod;
        size_t i;
        json_array_foreach((json_t *)pods, i, pod)
                json_array_append_new(all, kube_submission_summarize_pod(pod));
        pthread_mutex_lock(&app->submitter->lock);
        if (r == 0) {
                submission_set_id(app, app->args.submission);
                kube_submission_set_answer(app, json_pack("{s:O}", "pods", all));
        }
        if (r < 0)
                submission_set_error(app, error_message(error));
        else if (json_array_size(all) == 0)
                submission_set_error(app, "Application not found.");
        submission_set_state(app, r == 0 && json_array_size(all) > 0 ? FST_SUBMIT_FINISHED : FST_SUBMIT_FAILED);
        json_decref(all);
        kube_submission_unlock_run(run);
}

static void kube_submission_start_operation(fst_submission *app)
{
        struct fst_error error = FST_ERROR_INIT;
        struct kube_run *run = kube_submission_begin_run(app, app->server, &error);
        if (!run->place) {
                submission_fail(app, &error);
                kube_submission_end_run(run);
                return;
        }
        run->operation =
                kube_operation_begin(run->place->client,
                                     &(struct kube_operation_options){.id = app->args.submission,
                                                                      .kill = app->args.action == SUBMIT_ACTION_KILL,
                                                                      .grace_s = app->grace_s},
                                     kube_submission_on_operated, run);
}

/* --------------------------------------------------------------------------------------------------------- commands */

static void kube_submission_command(fst_submission *app, enum submit_command kind)
{
        struct kube_run *run = app->kube;
        if (kind == COMMAND_LAUNCH)
                kube_submission_start_launch(app);
        else if (kind == COMMAND_OPERATE)
                kube_submission_start_operation(app);
        else if (run && kind == COMMAND_FORGET && !run->launch)
                kube_submission_end_run(run);
        else if (run && run->uid && !run->launch && kind == COMMAND_END)
                kube_submission_kill_driver(run);
        else if (run && run->uid && !run->launch && kind == COMMAND_LOOK)
                kube_submission_poll(run);
}

static void kube_submission_close(fst_submitter *s)
{
        pthread_mutex_lock(&s->lock);
        s->closing = true;
        pthread_mutex_unlock(&s->lock);
        for (size_t i = 0; i < s->apps.len; i++) {
                struct kube_run *run = s->apps.data[i]->kube;
                if (run && run->launch)
                        driver_launch_stop(run->launch);
                else if (run)
                        kube_submission_drop(run);
        }
        if (s->launching == 0)
                kube_submission_free_places(s);
}

/* ------------------------------------------------------------------------------------------ slots that handles call */

static void kube_submission_end(fst_submission *app)
{
        submitter_queue_command(app, COMMAND_END);
}

static int kube_submission_refresh(fst_submission *app)
{
        if (!app->id)
                return -ESRCH;
        submitter_queue_command(app, COMMAND_LOOK);
        return 0;
}

static void kube_submission_forget(fst_submission *app)
{
        submitter_queue_command(app, COMMAND_FORGET);
}

const struct submission_class kube_submission_class = {
        .submit = kube_submission_submit,
        .operate = kube_submission_operate,
        .command = kube_submission_command,
        .end = kube_submission_end,
        .refresh = kube_submission_refresh,
        .forget = kube_submission_forget,
        .close = kube_submission_close,
        .release = kube_submission_release,
};
