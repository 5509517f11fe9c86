/*
 * See kube_submit.h.
 *
 * On a signal during the launch, the submission is undone if there is no pod yet, and completed otherwise, because a
 * partial submission would be worse (driver_launch.h). A second signal ends the process at once.
 */
#include "submit/kubernetes/kube_submit.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/log4j2.h"
#include "process/end_signal.h"
#include "process/loop_wait.h"
#include "submit/kubernetes/driver_launch.h"
#include "submit/kubernetes/driver_plan.h"
#include "kubernetes/driver/driver_watch.h"
#include "kubernetes/api/kube_client.h"
#include "submit/prepare/submission.h"

#include <signal.h>
#include <stdlib.h>

#define COMPONENT "Client"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

struct deployment {
        struct driver_plan plan;
        struct kube_client *client;
        struct driver_launch *launch;
        uv_loop_t loop;
        uv_signal_t watched[ARRAY_SIZE(signals)];
        struct end_signal first_signal;
        int signalled;
        bool launched;
        int result;
        struct fst_error error;
};

static void kube_submit_on_signal(uv_signal_t *handle, int number)
{
        struct deployment *d = handle->data;
        if (!end_signal_note(&d->first_signal, number))
                return;
        d->signalled = number;
        if (d->launch)
                driver_launch_stop(d->launch);
}

static void kube_submit_watch_signals(struct deployment *d)
{
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
                struct sigaction now;
                uv_signal_init(&d->loop, &d->watched[i]);
                d->watched[i].data = d;
                sigaction(signals[i], NULL, &now);
                if (now.sa_handler != SIG_IGN)
                        uv_signal_start(&d->watched[i], kube_submit_on_signal, signals[i]);
                uv_unref((uv_handle_t *)&d->watched[i]);
        }
}

static void kube_submit_on_launched(void *owner, int r, const struct fst_error *error)
{
        struct deployment *d = owner;
        d->launched = true;
        d->result = r;
        if (r < 0)
                error_set(&d->error, r, "%s", error_message(error));
}

static int kube_submit_launch(struct deployment *d, struct fst_error *error)
{
        d->launch = driver_launch_begin(d->client, &d->plan, kube_submit_on_launched, d);
        loop_wait_for_flag(&d->loop, &d->launched);
        return d->result < 0 ? error_set(error, d->result, "%s", error_message(&d->error)) : d->result;
}

struct followed_driver {
        const struct deployment *deployment;
        const struct driver_watch *watch;
};

static bool kube_submit_is_followed(void *owner)
{
        const struct followed_driver *f = owner;
        return driver_watch_is_over(f->watch) || f->deployment->signalled;
}

static int kube_submit_follow(struct deployment *d, const char *id, int *status, struct fst_error *error)
{
        struct driver_watch w;
        driver_watch_begin(&w, d->client,
                           &(struct driver_subject){.pod = driver_launch_pod(d->launch),
                                                    .namespace = d->plan.namespace,
                                                    .container = d->plan.container,
                                                    .app_name = kube_app_name(&d->plan.k.conf),
                                                    .app_id = d->plan.k.names.app_id,
                                                    .submission_id = id,
                                                    .interval_ms = d->plan.interval_ms});
        struct followed_driver followed = {.deployment = d, .watch = &w};
        loop_wait(&d->loop, kube_submit_is_followed, &followed, LOOP_WAIT_FOREVER);
        if (!driver_watch_has_ended(&w)) {
                log_info(
                        COMPONENT,
                        "The driver continues, and spark-submit no longer waits for it: --status %s shows it, --kill ends it",
                        id);
                *status = 128 + d->signalled;
        }
        return driver_watch_end(&w, status, error);
}

static int kube_submit_run(struct deployment *d, int *status, struct fst_error *error)
{
        int r = kube_submit_launch(d, error);
        if (r < 0)
                return r;
        *status = d->signalled ? 128 + d->signalled : 0;
        if (r == FST_LAUNCH_E_STOPPED)
                return 0;
        _cleanup_free_ char *id = mem_printf("%s:%s", d->plan.namespace, driver_plan_pod_name(&d->plan));
        if (d->plan.wait && !d->signalled)
                return kube_submit_follow(d, id, status, error);
        log_info(COMPONENT, "Deployed Spark application %s with application ID %s and submission ID %s into Kubernetes",
                 kube_app_name(&d->plan.k.conf), d->plan.k.names.app_id, id);
        return 0;
}

static void kube_submit_deinit(struct deployment *d)
{
        driver_plan_deinit(&d->plan);
        error_deinit(&d->error);
}

int kube_submit(const struct submission *s, int *status, struct fst_error *error)
{
        _cleanup_(kube_submit_deinit) struct deployment d = {.plan = DRIVER_PLAN_INIT};
        int r = driver_plan_read(&d.plan, s, error);
        if (r == 0)
                r = log4j2_configure(&d.plan.k.settings, getenv("SPARK_CONF_DIR"), error);
        if (r == 0)
                r = driver_plan_make(&d.plan, error);
        if (r < 0)
                return r;
        uv_loop_init(&d.loop);
        kube_submit_watch_signals(&d);
        r = kube_client_new(&d.loop, &d.plan.server, NULL, &d.client, error);
        if (r == 0)
                r = kube_submit_run(&d, status, error);
        driver_launch_free(d.launch);
        kube_client_free(d.client);
        for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
                uv_close((uv_handle_t *)&d.watched[i], NULL);
        uv_run(&d.loop, UV_RUN_DEFAULT);
        uv_loop_close(&d.loop);
        return r;
}
