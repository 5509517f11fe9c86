/* See cluster_submission.h. */
#include "submit/kubernetes/cluster_submission.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/driver/driver_objects.h"
#include "kubernetes/conf/deprecated_keys.h"
#include "kubernetes/driver/submission_files.h"
#include "submit/prepare/submission.h"
#include "io/fs/hadoop_conf.h"

#include <stdlib.h>

static char *cluster_submission_find_user(void)
{
        const char *given = getenv("SPARK_USER");
        if (given)
                return mem_strdup(given);
        _cleanup_(hadoop_conf_deinit) struct hadoop_conf hadoop = {0};
        hadoop_conf_init(&hadoop, conf_environment);
        return hadoop_conf_user(&hadoop);
}

int cluster_submission_init(struct cluster_submission *k, const struct submission *s, const struct fresh_names *names,
                            struct fst_error *error)
{
        *k = (struct cluster_submission){0};
        conf_init(&k->settings);
        if (!s->main_class || strcmp(s->main_class, SUBMIT_CLASS_KUBERNETES) != 0)
                return error_set(error, -EINVAL,
                                 "this submission creates no objects: use --master k8s://… with --deploy-mode cluster");
        int r = client_arguments_parse((const char *const *)s->arguments.data, s->arguments.len, &k->arguments, error);
        if (r < 0)
                return r;
        strmap_merge(&k->settings.set, &s->conf);
        older_spellings_replace(&k->settings.set);
        if (names)
                k->names = *names;
        else
                fresh_names_make(&k->names);
        k->user = cluster_submission_find_user();
        k->conf = (struct kube_conf){
                .role = KUBE_DRIVER,
                .conf = &k->settings,
                .env = conf_environment,
                .app_id = k->names.app_id,
                .unique = k->names.unique,
                .name_prefix = *k->names.prefix ? k->names.prefix : NULL,
                .uuid = k->names.uuid,
                .user = k->user,
        };
        client_arguments_put(&k->arguments, &k->conf);
        return kube_conf_complete(&k->conf, error);
}

void cluster_submission_deinit(struct cluster_submission *k)
{
        kube_conf_deinit(&k->conf);
        client_arguments_deinit(&k->arguments);
        conf_deinit(&k->settings);
        free(k->user);
}

int cluster_submission_show(const struct submission *s, FILE *out, struct fst_error *error)
{
        _cleanup_(cluster_submission_deinit) struct cluster_submission k;
        _cleanup_(submission_files_deinit) struct submission_files files;
        json_t *objects = NULL;
        submission_files_init(&files, &s->conf);
        files.ticket_cache = s->ticket_cache;
        int r = cluster_submission_init(&k, s, NULL, error);
        k.conf.files = submission_files_of(&files);
        k.conf.files.upload = NULL; /* showing must change nothing */
        if (r == 0)
                r = driver_objects_make(&k.conf, &objects, NULL, error);
        if (r < 0)
                return r;
        json_t *list = json_pack("{s:s,s:s,s:o}", "apiVersion", "v1", "kind", "List", "items", objects);
        r = json_dumpf(list, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF
                    ? 0
                    : error_errno(error, "cannot write the objects");
        json_decref(list);
        return r;
}
