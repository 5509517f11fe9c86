/* The class of standalone masters. Drivers are submitted over REST, or over the legacy gateway if REST is disabled. */
#include "rest/rest_client.h"
#include "standalone/client/standalone_manager.h"
#include "submit/options/option_table.h"
#include "submit/prepare/preparation.h"
#include "submit/standalone/rest_submission.h"
#include "submit/standalone/legacy_client.h"

#include "base/error.h"
#include "base/string_prefix.h"

static const char scheme[] = "spark://";

static int standalone_check(struct preparation *p, struct fst_error *error)
{
        p->no_login = true;
        if (!p->s->cluster_mode)
                return 0;
        p->driver_resolves_packages = true;
        if (p->language != LANGUAGE_JVM)
                return error_set(error, -EINVAL,
                                 "Cluster deploy mode is currently not supported for %s applications on standalone "
                                 "clusters.",
                                 p->language == LANGUAGE_PYTHON ? "python" : "R");
        return 0;
}

static int standalone_add_language(struct preparation *p, struct fst_error *error)
{
        if (p->s->r_library)
                return error_set(error, -ENOTSUP, "Distributing R packages with standalone cluster is not supported.");
        return 0;
}

static void standalone_add_option(struct preparation *p, const char *option, const char *value)
{
        if (!value)
                return;
        child_command_add(p, option);
        child_command_add(p, value);
}

/* Over REST every option travels in the configuration. The gateway takes some as arguments. */
static int standalone_prepare(struct preparation *p, struct fst_error *error)
{
        const char *const *value = (const char *const *)p->a->value, *master = submit_arguments_master(p->a);
        if (!text_starts_with(master, scheme))
                return 0; /* as in Spark, which starts nothing */
        child_command_set_class(p, p->use_rest ? SUBMIT_CLASS_REST : SUBMIT_CLASS_GATEWAY);
        if (!p->use_rest) {
                if (p->a->supervise)
                        child_command_add(p, "--supervise");
                standalone_add_option(p, "--memory", value[SUBMIT_DRIVER_MEMORY]);
                standalone_add_option(p, "--cores", value[SUBMIT_DRIVER_CORES]);
                standalone_add_option(p, "launch", master);
        }
        child_command_add(p, p->a->primary_resource);
        child_command_add(p, value[SUBMIT_CLASS]);
        child_command_add_own(p, NULL);
        return 0;
}

static int standalone_submit(const struct submission *s, int *status, struct fst_error *error)
{
        bool by_gateway = s->main_class && strcmp(s->main_class, SUBMIT_CLASS_GATEWAY) == 0;
        return (by_gateway ? legacy_submit : rest_submit)(s, status, error);
}

const struct cluster_manager_class standalone_manager_class = {
        .name = "standalone",
        .title = "a standalone master",
        .example = "spark://host:port[,host:port...]",
        .prefix = "spark",
        .scheme = scheme,
        .executor_manager_new = standalone_manager_new,
        .option_bit = OPTIONS_STANDALONE,
        .requests_since = COMPAT_2_4,
        .check = standalone_check,
        .add_language = standalone_add_language,
        .prepare = standalone_prepare,
        .has_legacy_gateway = true,
        .submit = standalone_submit,
        .kill = rest_kill,
        .status = rest_status,
        .submission = &rest_submission_class,
};
