/*
 * The submission_class of Kubernetes: drivers are launched, followed and killed on the loop's thread, all that go to
 * one API server as the same user on one connection. What blocks (files, uploads) was done by a worker before.
 *
 * The states of a driver's pod become those of SparkAppHandle: it is SUBMITTED when all its objects are there, RUNNING
 * as its pod is, FINISHED or FAILED as that ends, KILLED if it was deleted before it ended. It is LOST if nobody can
 * say how it ended, if it may not be watched, or if no API server has answered for
 * spark.firesteel.submit.masterTimeout.
 *
 * What is being created when the submitter is closed is completed, or taken back if it has no pod yet.
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

#define IDLE_SERVERS 4 /* that are kept although nobody needs them now */

/* An API server, as one user. */
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
        struct driver_plan *plan; /* until it is launched */
        struct driver_launch *launch;
        struct kube_operation *operation; /* of --kill and --status */
        struct followed_pod *followed;
        struct kube_call *call; /* that looks or kills */
        char *namespace, *name, *id, *path, *container, *uid;
        bool look_again;
};

static void take_pod(void *owner, const json_t *pod);
static void take_gone(void *owner, const json_t *pod);
static void take_absence(void *owner, int r, const struct fst_error *error, int64_t for_ms);

/* ---------------------------------------------------------------------------------------------------------- servers */

static void place_free(struct kube_place *place)
{
        pod_follower_free(place->follower);
        kube_client_free(place->client);
        kube_config_deinit(&place->config);
        free(place);
}

/* The newest are first; @config is taken. NULL with @error. */
static struct kube_place *submit_kubernetes_place_of(fst_submitter *s, struct kube_config *config,
                                                     struct fst_error *error)
{
        static const struct pod_follower_ops ops = {.changed = take_pod, .gone = take_gone, .away = take_absence};
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
                place_free(place);
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

static void free_places(fst_submitter *s)
{
        while (s->places) {
                struct kube_place *place = s->places;
                s->places = place->next;
                place_free(place);
        }
}

/* ------------------------------------------------------------------------------------------------------------- runs */

static void plan_free(struct driver_plan *plan)
{
        if (plan)
                driver_plan_deinit(plan);
        free(plan);
}

static void kube_submission_release(fst_submission *app)
{
        plan_free(app->plan);
        if (app->server)
                kube_config_deinit(app->server);
        free(app->server);
}

/* Nothing happens to it any more. */
static void submit_kubernetes_drop(struct kube_run *run)
{
        run->app->kube = NULL;
        driver_launch_free(run->launch);
        kube_operation_free(run->operation);
        pod_unfollow(run->followed);
        if (run->call)
                kube_cancel(run->call);
        if (run->place)
                run->place->used--;
        plan_free(run->plan);
        free(run->namespace);
        free(run->name);
        free(run->path);
        free(run->id);
        free(run->container);
        free(run->uid);
        free(run);
}

/* … and its handle is let go of. */
static void end_run(struct kube_run *run)
{
        fst_submission *app = run->app;
        fst_submitter *s = app->submitter;
        bool launching = run->launch;
        submit_kubernetes_drop(run);
        pthread_mutex_lock(&s->lock);
        submission_unref(app);
        pthread_mutex_unlock(&s->lock);
        if (launching && --s->launching == 0 && s->closing)
                free_places(s);
}

static struct kube_run *begin_run(fst_submission *app, struct kube_config *config, struct fst_error *error)
{
        struct kube_run *run = new0(struct kube_run);
        run->app = app;
        run->place = submit_kubernetes_place_of(app->submitter, config, error);
        pthread_mutex_lock(&app->submitter->lock);
        submission_ref(app);
        pthread_mutex_unlock(&app->submitter->lock);
        return app->kube = run;
}

/* ------------------------------------------------------------------------------------------------- on a worker's
 * thread */

static void submit_kubernetes_hand_over(fst_submission *app, enum submit_command kind)
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
                plan_free(plan);
                return r;
        }
        app->plan = plan;
        app->report_ms = report_ms;
        app->away_ms = away_ms;
        submit_kubernetes_hand_over(app, COMMAND_LAUNCH);
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
        submit_kubernetes_hand_over(app, COMMAND_OPERATE);
        return 0;
}

/* ----------------------------------------------------------------------------------------------------------- states */

/* What a program may want to know of a pod. The caller owns it. */
static json_t *submit_kubernetes_essence(const json_t *pod)
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

/* Under the lock. @answer is taken. */
static void keep_answer(fst_submission *app, json_t *answer)
{
        free(app->answer);
        app->answer = json_dumps(answer, JSON_COMPACT);
        json_decref(answer);
}

/* The driver's container, if it has ended. */
static bool find_end(const json_t *pod, const char *container, struct pod_container *out)
{
        const json_t *statuses = json_object_get(json_object_get(pod, "status"), "containerStatuses"), *status;
        size_t i;
        json_array_foreach((json_t *)statuses, i, status) {
                *out = pod_container_read(status, NULL);
                if (out->kind == CONTAINER_TERMINATED && out->name && strcmp(out->name, container) == 0)
                        return true;
        }
        return false;
}

/* Under the lock: why it failed. */
static void explain_failure(struct kube_run *run, const json_t *pod, const struct pod_container *end)
{
        const json_t *status = json_object_get(pod, "status");
        const char *reason = json_string_value(json_object_get(status, "reason"));
        const char *message = json_string_value(json_object_get(status, "message"));
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

/* Under the lock: what a pod is to a launcher. */
static void take_phase(struct kube_run *run, const json_t *pod)
{
        fst_submission *app = run->app;
        const char *phase = pod_text_phase(pod);
        bool leaving = json_object_get(json_object_get(pod, "metadata"), "deletionTimestamp");
        bool failed = strcmp(phase, "Failed") == 0, finished = strcmp(phase, "Succeeded") == 0;
        struct pod_container end;
        bool ended = (failed || finished) && find_end(pod, run->container, &end);
        keep_answer(app, submit_kubernetes_essence(pod));
        if (ended)
                app->exit_status = end.exit_code & 0xff;
        if (failed && !leaving)
                explain_failure(run, pod, ended ? &end : NULL);
        if (strcmp(phase, "Running") == 0)
                submission_set_state(app, FST_SUBMIT_RUNNING);
        else if (failed || finished)
                submission_set_state(app, finished  ? FST_SUBMIT_FINISHED
                                          : leaving ? FST_SUBMIT_KILLED
                                                    : FST_SUBMIT_FAILED);
}

/* With the lock, which is given back: a run whose state is final is over. */
static void unlock_run(struct kube_run *run)
{
        bool over = fst_submit_is_final(run->app->state);
        pthread_mutex_unlock(&run->app->submitter->lock);
        if (over)
                end_run(run);
}

static void take_pod(void *owner, const json_t *pod)
{
        struct kube_run *run = owner;
        pthread_mutex_lock(&run->app->submitter->lock);
        take_phase(run, pod);
        unlock_run(run);
}

static void take_gone(void *owner, const json_t *pod)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        pthread_mutex_lock(&app->submitter->lock);
        if (pod)
                take_phase(run, pod);
        if (!pod && !app->cancelled) {
                _cleanup_free_ char *text = mem_printf("the driver %s is gone, and nobody has seen its end", run->id);
                submission_set_error(app, text);
        }
        submission_set_state(app, pod || app->cancelled ? FST_SUBMIT_KILLED : FST_SUBMIT_LOST);
        unlock_run(run);
}

static void take_absence(void *owner, int r, const struct fst_error *error, int64_t for_ms)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        pthread_mutex_lock(&app->submitter->lock);
        submission_set_error(app, error_message(error));
        if (r == -EACCES || for_ms > app->away_ms)
                submission_set_state(app, FST_SUBMIT_LOST);
        unlock_run(run);
}

/* ------------------------------------------------------------------------------------------------- looking, killing */

static void submit_kubernetes_look(struct kube_run *run);

static void submit_kubernetes_on_looked(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct kube_run *run = owner;
        const char *uid = json_string_value(json_object_get(json_object_get(answer->object, "metadata"), "uid"));
        run->call = NULL;
        if (run->look_again) {
                run->look_again = false;
                submit_kubernetes_look(run);
        }
        if (r == FST_KUBE_E_NOT_FOUND || (r == 0 && (!uid || strcmp(uid, run->uid) != 0))) {
                take_gone(run, NULL);
        } else if (r == 0) {
                take_pod(run, answer->object);
        } else {
                pthread_mutex_lock(&run->app->submitter->lock);
                submission_set_error(run->app, error_message(answer->error));
                pthread_mutex_unlock(&run->app->submitter->lock);
        }
}

static void submit_kubernetes_look(struct kube_run *run)
{
        if (run->call)
                run->look_again = true;
        else
                run->call = kube_get(run->place->client, run->path, submit_kubernetes_on_looked, run);
}

static void submit_kubernetes_on_killed(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct kube_run *run = owner;
        run->call = NULL;
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND && r != FST_KUBE_E_CONFLICT) {
                pthread_mutex_lock(&run->app->submitter->lock);
                submission_set_error(run->app, error_message(answer->error));
                pthread_mutex_unlock(&run->app->submitter->lock);
                return;
        }
        run->look_again = false;
        submit_kubernetes_look(run);
}

/* Who kills wants to know what comes of it. */
static void submit_kubernetes_kill_driver(struct kube_run *run)
{
        const int64_t *grace = run->app->grace_s >= 0 ? &run->app->grace_s : NULL;
        if (run->call)
                kube_cancel(run->call);
        run->call = kube_delete(run->place->client, run->path,
                                &(struct kube_deletion){.grace_s = grace, .uid = run->uid, .propagation = "Background"},
                                submit_kubernetes_on_killed, run);
        if (run->followed)
                return;
        run->followed = pod_follow(run->place->follower, run->namespace, run->name, run);
        pod_follow_created(run->followed, run->uid);
}

/* -------------------------------------------------------------------------------------------------------- launching */

/* Under the lock. */
static void take_launched(struct kube_run *run, json_t *pod)
{
        fst_submission *app = run->app;
        const char *uid = json_string_value(json_object_get(json_object_get(pod, "metadata"), "uid"));
        run->uid = mem_strdup(uid ? uid : "");
        keep_answer(app, submit_kubernetes_essence(pod));
        submission_set_id(app, run->id);
        submission_set_state(app, FST_SUBMIT_SUBMITTED);
}

static void submit_kubernetes_on_launched(void *owner, int r, const struct fst_error *error)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        fst_submitter *s = app->submitter;
        pthread_mutex_lock(&s->lock);
        bool cancelled = app->cancelled, wanted = r == 0 && !s->closing && (cancelled || !app->freed);
        if (r < 0)
                submission_set_error(app, error_message(error));
        if (r == 0)
                take_launched(run, driver_launch_pod(run->launch));
        else
                submission_set_state(app, cancelled || r > 0 ? FST_SUBMIT_KILLED : FST_SUBMIT_FAILED);
        pthread_mutex_unlock(&s->lock);
        if (!wanted) {
                end_run(run);
                return;
        }
        s->launching--;
        driver_launch_free(steal(run->launch));
        plan_free(steal(run->plan));
        struct followed_pod *followed = run->followed;
        if (cancelled)
                submit_kubernetes_kill_driver(run);
        if (followed)
                pod_follow_created(followed, run->uid);
}

static void submit_kubernetes_start_launch(fst_submission *app)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        fst_submitter *s = app->submitter;
        struct driver_plan *plan = steal(app->plan);
        struct kube_run *run = begin_run(app, &plan->server, &error);
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
                end_run(run);
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
        run->launch = driver_launch_begin(run->place->client, plan, submit_kubernetes_on_launched, run);
}

/* ------------------------------------------------------------------------------------------------- --kill, --status */

static void on_operated(void *owner, int r, const json_t *pods, const struct fst_error *error)
{
        struct kube_run *run = owner;
        fst_submission *app = run->app;
        json_t *all = json_array(), *pod;
        size_t i;
        json_array_foreach((json_t *)pods, i, pod)
                json_array_append_new(all, submit_kubernetes_essence(pod));
        pthread_mutex_lock(&app->submitter->lock);
        if (r == 0) {
                submission_set_id(app, app->args.submission);
                keep_answer(app, json_pack("{s:O}", "pods", all));
        }
        if (r < 0)
                submission_set_error(app, error_message(error));
        else if (json_array_size(all) == 0)
                submission_set_error(app, "Application not found.");
        submission_set_state(app, r == 0 && json_array_size(all) > 0 ? FST_SUBMIT_FINISHED : FST_SUBMIT_FAILED);
        json_decref(all);
        unlock_run(run);
}

static void submit_kubernetes_start_operation(fst_submission *app)
{
        struct fst_error error = FST_ERROR_INIT;
        struct kube_run *run = begin_run(app, app->server, &error);
        if (!run->place) {
                submission_fail(app, &error);
                end_run(run);
                return;
        }
        run->operation =
                kube_operation_begin(run->place->client,
                                     &(struct kube_operation_options){.id = app->args.submission,
                                                                      .kill = app->args.action == SUBMIT_ACTION_KILL,
                                                                      .grace_s = app->grace_s},
                                     on_operated, run);
}

/* -------------------------------------------------------------------------------------------------------- commands */

static void kube_submission_command(fst_submission *app, enum submit_command kind)
{
        struct kube_run *run = app->kube;
        if (kind == COMMAND_LAUNCH)
                submit_kubernetes_start_launch(app);
        else if (kind == COMMAND_OPERATE)
                submit_kubernetes_start_operation(app);
        else if (run && kind == COMMAND_FORGET && !run->launch)
                end_run(run);
        else if (run && run->uid && !run->launch && kind == COMMAND_END)
                submit_kubernetes_kill_driver(run);
        else if (run && run->uid && !run->launch && kind == COMMAND_LOOK)
                submit_kubernetes_look(run);
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
                        submit_kubernetes_drop(run);
        }
        if (s->launching == 0)
                free_places(s);
}

/* --------------------------------------------------------------------------------------------------- for handles */

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
