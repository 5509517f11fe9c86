/*
 * The class of Mesos, which Spark 4 dropped. In client mode, executors are Mesos tasks. In cluster mode, drivers go to a
 * dispatcher over REST. Jars need spark.firesteel.compat=3.5 or 2.4.
 */
#include "mesos/backend/mesos_cluster_manager.h"
#include "rest/rest_client.h"
#include "submit/options/option_table.h"
#include "submit/prepare/preparation.h"
#include "submit/standalone/rest_submission.h"

#include "base/error.h"

static bool mesos_accepts(const char *master, enum submit_compat compat)
{
        return compat < COMPAT_4_3;
}

static int mesos_check(struct preparation *p, struct fst_error *error)
{
        p->hadoop_tokens = true;
        p->no_login = p->s->cluster_mode;
        p->driver_resolves_packages = p->s->cluster_mode;
        p->keeps_python_uris = p->s->cluster_mode;
        return 0;
}

static int mesos_add_language(struct preparation *p, struct fst_error *error)
{
        if (p->s->r_library)
                return error_set(error, -ENOTSUP, "Distributing R packages with mesos cluster is not supported.");
        return 0;
}

/* Python and R applications have no class, so the second argument is empty. */
static int mesos_prepare(struct preparation *p, struct fst_error *error)
{
        if (!p->use_rest)
                return error_set(error, -EINVAL,
                                 "assertion failed: Mesos cluster mode is only supported through the REST submission "
                                 "API: set spark.master.rest.enabled=true");
        child_command_set_class(p, SUBMIT_CLASS_REST);
        child_command_add(p, p->a->primary_resource);
        child_command_add(p, p->language == LANGUAGE_JVM ? p->a->value[SUBMIT_CLASS] : "");
        if (p->language == LANGUAGE_PYTHON && p->a->value[SUBMIT_PY_FILES])
                strmap_set(&p->s->conf, "spark.submit.pyFiles", p->a->value[SUBMIT_PY_FILES]);
        child_command_add_own(p, NULL);
        return 0;
}

const struct cluster_manager_class mesos_manager_class = {
        .name = "mesos",
        .title = "Mesos",
        .example = "mesos://host:port or mesos://zk://host:port,.../path",
        .prefix = "mesos",
        .scheme = "mesos://",
        .accepts = mesos_accepts,
        .native_in_all_versions = true,
        .executor_manager_new = mesos_manager_new,
        .option_bit = OPTIONS_MESOS,
        .decimal_driver_cores = true,
        .requests_since = COMPAT_2_4,
        .check = mesos_check,
        .add_language = mesos_add_language,
        .prepare = mesos_prepare,
        .submit = rest_submit,
        .kill = rest_kill,
        .status = rest_status,
        .submission = &rest_submission_class,
};
