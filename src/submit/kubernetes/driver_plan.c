/* See driver_plan.h. */
#include "submit/kubernetes/driver_plan.h"

#include "base/error.h"
#include "kubernetes/driver/driver_objects.h"
#include "kubernetes/conf/kube_settings.h"
#include "submit/prepare/submission.h"
#include "text/json.h"

#include <stdlib.h>

/* The driver's container is the last one, as in Spark. */
static const char *driver_plan_container(const json_t *pod)
{
        const json_t *containers = json_at(pod, "spec.containers");
        const json_t *last = json_array_get(containers, json_array_size(containers) - 1);
        return json_text_or_empty(last, "name");
}

int driver_plan_read(struct driver_plan *p, const struct submission *s, struct fst_error *error)
{
        return driver_plan_read_named(p, s, NULL, error);
}

int driver_plan_read_named(struct driver_plan *p, const struct submission *s, const struct fresh_names *names,
                           struct fst_error *error)
{
        submission_files_init(&p->files, &s->conf);
        p->files.ticket_cache = s->ticket_cache;
        int r = cluster_submission_init(&p->k, s, names, error);
        if (r == 0)
                p->k.conf.files = submission_files_of(&p->files);
        if (r == 0)
                r = kube_string(&p->k.conf, "spark.kubernetes.namespace", &p->namespace, error);
        if (r == 0)
                r = kube_bool(&p->k.conf, "spark.kubernetes.submission.waitAppCompletion", &p->wait, error);
        if (r == 0)
                r = conf_get_ms(&p->k.settings, "spark.kubernetes.report.interval", &p->interval_ms, error);
        return r;
}

int driver_plan_make(struct driver_plan *p, struct fst_error *error)
{
        const struct fst_conf *conf = &p->k.settings;
        int r = kube_config_from_conf(conf, KUBE_SUBMISSION, strmap_get(&conf->set, "spark.master"), &p->server, error);
        return r < 0 ? r : driver_plan_make_objects(p, error);
}

int driver_plan_make_objects(struct driver_plan *p, struct fst_error *error)
{
        int r = driver_objects_make(&p->k.conf, &p->objects, &p->pod_at, error);
        if (r < 0)
                return r;
        p->container = driver_plan_container(driver_plan_pod(p));
        return 0;
}

void driver_plan_deinit(struct driver_plan *p)
{
        json_decref(p->objects);
        kube_config_deinit(&p->server);
        cluster_submission_deinit(&p->k);
        submission_files_deinit(&p->files);
        free(p->namespace);
}

const json_t *driver_plan_pod(const struct driver_plan *p)
{
        return json_array_get(p->objects, p->pod_at);
}

const char *driver_plan_pod_name(const struct driver_plan *p)
{
        const char *name = json_text_at(driver_plan_pod(p), "metadata.name");
        return name ? name : "";
}
