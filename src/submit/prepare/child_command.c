/*
 * What is started, with which words: the main class and the arguments of every manager and mode, as Spark's
 * SparkSubmit passes them. In client mode it is the application itself (or the program that runs its language), with
 * the application's jars on the class path; in cluster mode it is the program that talks to the manager.
 */
#include "submit/prepare/preparation.h"

#include "base/error.h"
#include "base/mem.h"

static void put(struct preparation *p, const char *word)
{
        vec_push(&p->s->arguments, word ? mem_strdup(word) : NULL);
}

static void put_own(struct preparation *p, const char *before_each)
{
        for (size_t i = 0; i < p->a->application_arguments.len; i++) {
                if (before_each)
                        put(p, before_each);
                put(p, p->a->application_arguments.data[i]);
        }
}

static void start(struct preparation *p, const char *class)
{
        free(p->s->main_class);
        p->s->main_class = class ? mem_strdup(class) : NULL;
}

/* The names of a comma list, as Java's split gives them: empty ones at the end are dropped, an empty list has one. */
static void put_classpath(struct preparation *p, const char *list)
{
        size_t length = list ? strlen(list) : 0;
        if (list && length == 0)
                vec_push(&p->s->classpath, mem_strdup(""));
        while (length > 0 && list[length - 1] == ',')
                length--;
        for (size_t i = 0; i < length;) {
                size_t n = strcspn(list + i, ",");
                vec_push(&p->s->classpath, mem_strndup(list + i, n));
                i += n + 1;
        }
}

static void put_client(struct preparation *p)
{
        start(p, p->a->value[SUBMIT_CLASS]);
        if (p->local_primary && submit_is_user_jar(p->local_primary, p->compat))
                vec_push(&p->s->classpath, mem_strdup(p->local_primary));
        put_classpath(p, p->local_jars);
        put_own(p, NULL);
}

/* Over REST every option travels in the configuration; the older gateway takes some as words. */
static void put_standalone(struct preparation *p)
{
        const char *const *value = (const char *const *)p->a->value;
        if (p->use_rest) {
                start(p, SUBMIT_CLASS_REST);
        } else {
                start(p, SUBMIT_CLASS_GATEWAY);
                if (p->a->supervise)
                        put(p, "--supervise");
                if (value[SUBMIT_DRIVER_MEMORY]) {
                        put(p, "--memory");
                        put(p, value[SUBMIT_DRIVER_MEMORY]);
                }
                if (value[SUBMIT_DRIVER_CORES]) {
                        put(p, "--cores");
                        put(p, value[SUBMIT_DRIVER_CORES]);
                }
                put(p, "launch");
                put(p, submit_arguments_master(p->a));
        }
        put(p, p->a->primary_resource);
        put(p, value[SUBMIT_CLASS]);
        put_own(p, NULL);
}

/* The last component of a path or URI. */
static const char *name_of(const char *path)
{
        const char *slash = strrchr(path, '/');
        return slash ? slash + 1 : path;
}

static void put_yarn(struct preparation *p)
{
        const char *resource = p->a->primary_resource;
        start(p, SUBMIT_CLASS_YARN);
        if (p->language == LANGUAGE_PYTHON) {
                put(p, "--primary-py-file");
                put(p, resource);
                put(p, "--class");
                put(p, SUBMIT_CLASS_PYTHON_RUNNER);
        } else if (p->language == LANGUAGE_R) {
                put(p, "--primary-r-file");
                put(p, name_of(resource));
                put(p, "--class");
                put(p, SUBMIT_CLASS_R_RUNNER);
        } else {
                if (!submit_is_internal(resource)) {
                        put(p, "--jar");
                        put(p, resource);
                }
                put(p, "--class");
                put(p, p->a->value[SUBMIT_CLASS]);
        }
        put_own(p, "--arg");
}

/* Python and R have no class there: the second word is empty. */
static int put_mesos(struct preparation *p, struct fst_error *error)
{
        if (!p->use_rest)
                return error_set(error, -EINVAL,
                                 "assertion failed: Mesos cluster mode is only supported through the REST submission "
                                 "API");
        start(p, SUBMIT_CLASS_REST);
        put(p, p->a->primary_resource);
        put(p, p->language == LANGUAGE_JVM ? p->a->value[SUBMIT_CLASS] : "");
        if (p->language == LANGUAGE_PYTHON && p->a->value[SUBMIT_PY_FILES])
                strmap_set(&p->s->conf, "spark.submit.pyFiles", p->a->value[SUBMIT_PY_FILES]);
        put_own(p, NULL);
        return 0;
}

static void put_kubernetes(struct preparation *p)
{
        static const struct {
                const char *option, *class;
        } runners[] = {
                [LANGUAGE_JVM] = {"--primary-java-resource", NULL},
                [LANGUAGE_PYTHON] = {"--primary-py-file", SUBMIT_CLASS_PYTHON_RUNNER},
                [LANGUAGE_R] = {"--primary-r-file", SUBMIT_CLASS_R_RUNNER},
        };
        const char *resource = p->a->primary_resource;
        start(p, SUBMIT_CLASS_KUBERNETES);
        if (!submit_is_internal(resource)) {
                put(p, runners[p->language].option);
                put(p, resource);
        }
        put(p, "--main-class");
        put(p, runners[p->language].class ? runners[p->language].class : p->a->value[SUBMIT_CLASS]);
        if (p->compat == COMPAT_2_4 && p->language == LANGUAGE_PYTHON && p->a->value[SUBMIT_PY_FILES]) {
                put(p, "--other-py-files");
                put(p, p->a->value[SUBMIT_PY_FILES]);
        }
        put_own(p, "--arg");
        if (p->compat > COMPAT_2_4 && p->a->value[SUBMIT_PROXY_USER]) {
                put(p, "--proxy-user");
                put(p, p->a->value[SUBMIT_PROXY_USER]);
        }
}

int child_command_put(struct preparation *p, struct fst_error *error)
{
        start(p, "");
        if (!p->s->cluster_mode)
                put_client(p);
        if (p->yarn_cluster) {
                /* YARN's client runs here and may need what the application brings. */
                if (submit_is_user_jar(p->a->primary_resource, p->compat))
                        vec_push(&p->s->classpath, mem_strdup(p->a->primary_resource));
                put_classpath(p, p->a->value[SUBMIT_JARS]);
        }
        if (p->standalone)
                put_standalone(p);
        if (p->yarn_cluster)
                put_yarn(p);
        if (p->kubernetes_cluster)
                put_kubernetes(p);
        return p->mesos_cluster ? put_mesos(p, error) : 0;
}
