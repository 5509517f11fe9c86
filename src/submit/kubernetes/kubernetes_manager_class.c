/* The class of Kubernetes: drivers and executors are pods. */
#include "kubernetes/backend/kube_cluster_manager.h"
#include "kubernetes/driver/kube_submit_operation.h"
#include "submit/kubernetes/cluster_submission.h"
#include "submit/kubernetes/kube_submission.h"
#include "submit/kubernetes/kube_submit.h"
#include "submit/options/option_table.h"
#include "submit/prepare/preparation.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "launch/remote_files.h"

#include <ctype.h>
#include <strings.h>

static const char scheme[] = "k8s://";

static bool kubernetes_accepts(const char *master, enum submit_compat compat)
{
        return compat < COMPAT_4_3 || text_starts_with(master, scheme);
}

static int kubernetes_executor_cores(const struct master_url *url)
{
        return 1;
}

/*
 * Resolves a Kubernetes master URL: k8s://https://… stays, k8s://host gets https://, k8s://http://… stays and sets
 * *@warning (static text, untouched otherwise). Owned by the caller. Returns -EINVAL with @error.
 */
static int kubernetes_resolve_master(const char *master, enum submit_compat compat, char **out, const char **warning,
                                     struct fst_error *error)
{
        if (!text_starts_with(master, "k8s://"))
                return error_set(error, -EINVAL, "requirement failed: Kubernetes master URL must start with k8s://.");
        const char *url = master + strlen("k8s://");
        const char *end = strstr(url, "://");
        if (!end) {
                *out = mem_printf("k8s://https://%s", url);
                return 0;
        }
        size_t n = (size_t)(end - url);
        if (n == 0)
                return error_set(error, -EINVAL, "Expected scheme name at index 0: %s", url);
        for (size_t i = 0; i < n; i++) {
                bool good = isalpha((unsigned char)url[i]) || (i > 0 && strchr("+-.0123456789", url[i]));
                if (!good)
                        return error_set(error, -EINVAL, "Illegal character in scheme name at index %zu: %s", i, url);
        }
        if (!end[3])
                return error_set(error, -EINVAL, "Expected authority at index %zu: %s", n + 3, url);
        if (n == 4 && strncasecmp(url, "http", 4) == 0)
                *warning = "Kubernetes master URL uses HTTP instead of HTTPS.";
        else if (n != 5 || strncasecmp(url, "https", 5) != 0)
                return error_set(error, -EINVAL, "Invalid Kubernetes master scheme: %.*s%s%s", (int)n, url,
                                 compat == COMPAT_2_4 ? "" : " found in URL: ", compat == COMPAT_2_4 ? "" : url);
        *out = mem_strdup(master);
        return 0;
}

static int kubernetes_resolve(struct preparation *p, struct fst_error *error)
{
        const char *warning = NULL;
        char *url = NULL;
        int r = kubernetes_resolve_master(submit_arguments_master(p->a), p->compat, &url, &warning, error);
        if (r < 0)
                return r;
        if (warning)
                log_warn("submit", "%s", warning); /* Spark logs it, too */
        preparation_set(p, SUBMIT_MASTER, url);
        return 0;
}

/* Spark 2.4 does not log in for Kubernetes, and resolves packages on the client. */
static int kubernetes_check(struct preparation *p, struct fst_error *error)
{
        int r = 0;
        p->hadoop_tokens = true;
        p->no_login = p->compat == COMPAT_2_4;
        p->packages_on_classpath = p->s->cluster_mode && p->compat > COMPAT_2_4;
        if (!p->s->cluster_mode && p->compat > COMPAT_2_4)
                p->inner_submit = preparation_flag(p, "spark.kubernetes.submitInDriver", false, &r, error);
        return r;
}

/* The driver's pod has all files in its working directory, like YARN's containers. */
static int kubernetes_localize(struct preparation *p, struct fst_error *error)
{
        static const enum submit_field lists[] = {SUBMIT_FILES, SUBMIT_JARS, SUBMIT_ARCHIVES, SUBMIT_PY_FILES};
        if (!p->inner_submit)
                return 0;
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                const char *list = p->a->value[lists[i]];
                const char *avoid = lists[i] == SUBMIT_JARS ? strmap_get(&p->a->properties,
                                                                         "spark.kubernetes.jars.avoidDownloadSchemes")
                                                            : NULL;
                char *out = NULL;
                int r = !list ? 0
                              : remote_files_to_working_directory(p->files, list, lists[i] == SUBMIT_ARCHIVES, avoid,
                                                                  &out, error);
                if (r < 0)
                        return r;
                if (list)
                        preparation_set(p, lists[i], out);
        }
        vec_push(&p->s->classpath, mem_strdup("."));
        return 0;
}

static int kubernetes_prepare(struct preparation *p, struct fst_error *error)
{
        static const struct {
                const char *option, *class;
        } runners[] = {
                [LANGUAGE_JVM] = {"--primary-java-resource", NULL},
                [LANGUAGE_PYTHON] = {"--primary-py-file", SUBMIT_CLASS_PYTHON_RUNNER},
                [LANGUAGE_R] = {"--primary-r-file", SUBMIT_CLASS_R_RUNNER},
        };
        const char *resource = p->a->primary_resource;
        child_command_set_class(p, SUBMIT_CLASS_KUBERNETES);
        if (!submit_is_internal(resource)) {
                child_command_add(p, runners[p->language].option);
                child_command_add(p, resource);
        }
        child_command_add(p, "--main-class");
        child_command_add(p, runners[p->language].class ? runners[p->language].class : p->a->value[SUBMIT_CLASS]);
        if (p->compat == COMPAT_2_4 && p->language == LANGUAGE_PYTHON && p->a->value[SUBMIT_PY_FILES]) {
                child_command_add(p, "--other-py-files");
                child_command_add(p, p->a->value[SUBMIT_PY_FILES]);
        }
        child_command_add_own(p, "--arg");
        if (p->compat > COMPAT_2_4 && p->a->value[SUBMIT_PROXY_USER]) {
                child_command_add(p, "--proxy-user");
                child_command_add(p, p->a->value[SUBMIT_PROXY_USER]);
        }
        return 0;
}

static int kubernetes_kill(const char *master, const char *id, const struct strmap *conf, int *status,
                           struct fst_error *error)
{
        int r = kube_kill(master, id, conf, error);
        *status = r < 0 ? 1 : 0;
        return r;
}

static int kubernetes_status(const char *master, const char *id, const struct strmap *conf, int *status,
                             struct fst_error *error)
{
        int r = kube_status(master, id, conf, error);
        *status = r < 0 ? 1 : 0;
        return r;
}

const struct cluster_manager_class kubernetes_manager_class = {
        .name = "kubernetes",
        .title = "Kubernetes",
        .example = "k8s://https://host:port",
        .prefix = "k8s",
        .scheme = scheme,
        .accepts = kubernetes_accepts,
        .executor_cores = kubernetes_executor_cores,
        .driver_master_key = "spark.kubernetes.driver.master",
        .executor_manager_new = kube_manager_new,
        .option_bit = OPTIONS_KUBERNETES,
        .requests_since = COMPAT_3_5,
        .resolve = kubernetes_resolve,
        .check = kubernetes_check,
        .localize = kubernetes_localize,
        .prepare = kubernetes_prepare,
        .submit = kube_submit,
        .kill = kubernetes_kill,
        .status = kubernetes_status,
        .submission = &kube_submission_class,
        .show_objects = cluster_submission_show,
};
