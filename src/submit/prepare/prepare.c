/*
 * Prepares a submission: Spark's prepareSubmitEnvironment, step by step.
 *
 * The steps run in Spark's order, which decides which of several errors is reported, the order of list entries, and
 * which of two values remains. The configuration starts with the properties, the table of options (option_table.h)
 * overrides them, and later steps add to it.
 */
#include "submit/options/option_table.h"
#include "submit/prepare/preparation.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/string_prefix.h"
#include "submit/prepare/python_path.h"
#include "launch/remote_files.h"
#include "launch/resolve_uri.h"
#include "text/shell_words.h"

#include <stdio.h>
#include <strings.h>

void preparation_warn(struct preparation *p, const char *format, ...)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        va_list args;
        buf_puts(&line, "Warning: ");
        va_start(args, format);
        buf_vprintf(&line, format, args);
        va_end(args);
        vec_push(&p->s->messages, buf_steal(&line));
}

void preparation_set(struct preparation *p, enum submit_field field, char *value)
{
        free(p->a->value[field]);
        p->a->value[field] = value;
}

void preparation_prepend(struct preparation *p, char *first, bool two, char *second)
{
        size_t n = two ? 2 : 1, old = p->a->application_arguments.len;
        for (size_t i = 0; i < n; i++)
                vec_push(&p->a->application_arguments, NULL);
        char **words = p->a->application_arguments.data;
        memmove(words + n, words, old * sizeof(*words));
        words[0] = first;
        if (two)
                words[1] = second;
}

static bool prepare_read_bool(const char *text, bool *out)
{
        *out = strcasecmp(text, "true") == 0;
        return *out || strcasecmp(text, "false") == 0;
}

bool preparation_flag(const struct preparation *p, const char *key, bool otherwise, int *r, struct fst_error *error)
{
        const char *text = strmap_get(&p->s->conf, key);
        bool value = otherwise;
        *r = 0;
        if (text && !prepare_read_bool(text, &value))
                *r = error_set(error, -EINVAL, "Illegal value for config key %s: For input string: \"%s\"", key, text);
        return value;
}

static const char *prepare_property(const struct preparation *p, const char *key)
{
        return strmap_get(&p->a->properties, key);
}

/* ------------------------------------------------------------------------------------------------- manager and mode */

static int prepare_choose_manager(struct preparation *p, struct fst_error *error)
{
        const char *master = p->a->value[SUBMIT_MASTER];
        if (!master)
                master = p->a->value[SUBMIT_REMOTE] ? "local" : submit_arguments_master(p->a);
        const char *resource = p->a->primary_resource;
        bool jvm = !resource || (submit_is_user_jar(resource, p->compat) && !submit_is_native(resource));
        int r = (jvm ? cluster_manager_find : cluster_manager_find_native)(master, p->compat, &p->s->manager, error);
        return r < 0 || !p->s->manager->resolve ? r : p->s->manager->resolve(p, error);
}

/* Spark 3.5 starts a Connect server of its own if this key is set, and the application then needs a master. */
static void prepare_choose_local_connect(struct preparation *p)
{
        p->local_connect = p->compat == COMPAT_3_5 && prepare_property(p, "spark.local.connect");
        if (p->local_connect)
                strmap_remove(&p->s->conf, "spark.remote");
}

/* Checks of cluster mode for all managers. */
static int prepare_check_cluster_mode(const struct preparation *p, struct fst_error *error)
{
        const char *class = p->a->value[SUBMIT_CLASS];
        if (p->s->any_class)
                return 0;
        if (submit_is_shell(p->a->primary_resource))
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark shells.");
        if (submit_is_sql_shell(class))
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark SQL shell.");
        if (submit_is_thrift_server(class))
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark Thrift server.");
        if (p->compat == COMPAT_2_4 || !submit_is_connect_server(class))
                return 0;
        if (p->compat == COMPAT_3_5)
                return error_set(error, -EINVAL, "Cluster deploy mode is not applicable to Spark Connect server.");
        if (p->runs_connect_server)
                return 0;
        return error_set(error, -EINVAL,
                         "Launching Spark Connect server in cluster deploy mode is supported only for YARN");
}

static int prepare_choose_mode(struct preparation *p, struct fst_error *error)
{
        const char *mode = p->a->value[SUBMIT_DEPLOY_MODE];
        struct submission *s = p->s;
        if (mode && strcmp(mode, "client") != 0 && strcmp(mode, "cluster") != 0)
                return error_set(error, -EINVAL, "Deploy mode must be either client or cluster");
        s->cluster_mode = mode && strcmp(mode, "cluster") == 0;
        int r = s->manager->check ? s->manager->check(p, error) : 0;
        if (r == 0 && s->cluster_mode)
                r = prepare_check_cluster_mode(p, error);
        if (r == 0 && !mode)
                preparation_set(p, SUBMIT_DEPLOY_MODE, mem_strdup("client"));
        return r;
}

static const char proxy_classpath_key[] = "spark.submit.proxyUser.allowCustomClasspathInClusterMode";

/* A key that is boolean in Spark's table has its own message. */
static int prepare_choose_proxy_classpath(struct preparation *p, struct fst_error *error)
{
        const char *text = prepare_property(p, proxy_classpath_key);
        _cleanup_free_ char *trimmed = text ? file_list_merge(text, NULL) : NULL;
        if (!text || p->compat == COMPAT_2_4 || prepare_read_bool(trimmed ? trimmed : "", &p->proxy_classpath))
                return 0;
        if (p->compat == COMPAT_3_5)
                return error_set(error, -EINVAL, "%s should be boolean, but was %s", proxy_classpath_key, text);
        return error_set(error, -EINVAL,
                         "[INVALID_CONF_VALUE.TYPE_MISMATCH] The value '%s' in the config \"%s\" is invalid. It should "
                         "be a/an 'boolean' value. SQLSTATE: 22022",
                         text, proxy_classpath_key);
}

static int prepare_choose_gateway(struct preparation *p, struct fst_error *error)
{
        const char *rest = prepare_property(p, "spark.master.rest.enabled");
        if (rest && !prepare_read_bool(rest, &p->use_rest))
                return error_set(error, -EINVAL, "For input string: \"%s\"", rest);
        p->use_rest &= !p->s->force_legacy;
        return 0;
}

/* ------------------------------------------------------------------------------------------------ the configuration */

static const char *prepare_option_value(void *context, int source)
{
        struct preparation *p = context;
        switch (source) {
        case SUBMIT_REMOTE:
                return p->local_connect ? NULL : p->a->value[SUBMIT_REMOTE];
        case SUBMIT_MASTER:
                if (p->a->value[SUBMIT_REMOTE] && !p->local_connect)
                        return p->a->value[SUBMIT_MASTER];
                return submit_arguments_master(p->a);
        case OPTION_IVY_PATH:
                return prepare_property(p, "spark.jars.ivy");
        case OPTION_LOCAL_JARS:
                return p->local_jars;
        case OPTION_SUPERVISE_TEXT:
                return p->a->supervise ? "true" : "false";
        default:
                return p->a->value[source];
        }
}

/* Adds the application's jar to spark.jars, unless the manager ships it. */
static void prepare_add_application_jar(struct preparation *p)
{
        bool has_it = p->compat == COMPAT_4_3 && p->inner_submit; /* set by the outer submit */
        if (p->ships_application || has_it || p->language != LANGUAGE_JVM)
                return;
        const char *resource = submit_is_user_jar(p->a->primary_resource, p->compat) ? p->a->primary_resource : NULL;
        _cleanup_free_ char *jars = file_list_merge(strmap_get(&p->s->conf, "spark.jars"), NULL);
        _cleanup_free_ char *all = jars && resource ? mem_printf("%s,%s", jars, resource) : NULL;
        strmap_set(&p->s->conf, "spark.jars", all ? all : jars ? jars : resource ? resource : "");
}

static void prepare_resolve_paths(struct strmap *conf, enum submit_compat compat)
{
        static const char *const keys[] = {
                "spark.jars",           "spark.files",   "spark.yarn.dist.files", "spark.yarn.dist.archives",
                "spark.yarn.dist.jars", "spark.archives"};
        for (size_t i = 0; i < ARRAY_SIZE(keys) - (compat == COMPAT_2_4); i++) {
                const char *value = strmap_get(conf, keys[i]);
                _cleanup_free_ char *resolved = value ? submit_resolve_uris(value, compat) : NULL;
                if (resolved)
                        strmap_set(conf, keys[i], resolved);
        }
}

static int prepare_finish_python_path(struct preparation *p, struct fst_error *error)
{
        static const char key[] = "spark.submit.pyFiles";
        const char *set = strmap_get(&p->s->conf, key);
        if (!set && p->compat == COMPAT_2_4)
                return 0;
        _cleanup_free_ char *names = p->compat == COMPAT_2_4 ? mem_strdup(set) : file_list_merge(set, NULL);
        _cleanup_free_ char *resolved = submit_resolve_uris(names ? names : "", p->compat);
        bool plain = p->compat == COMPAT_2_4 ? !p->keeps_python_uris : !p->s->cluster_mode;
        char *formatted = NULL;
        int r = plain ? python_paths_format(resolved, &formatted, error) : 0;
        if (r == 0)
                strmap_set(&p->s->conf, key, plain ? formatted : resolved);
        free(formatted);
        return r;
}

static int prepare_set_submit_time(struct preparation *p, struct fst_error *error)
{
        int r;
        bool again = preparation_flag(p, "spark.kubernetes.setSubmitTimeInDriver", true, &r, error);
        if (r < 0 || p->compat == COMPAT_2_4)
                return p->compat == COMPAT_2_4 ? 0 : r;
        if (strmap_get(&p->s->conf, "spark.app.submitTime") && !(p->inner_submit && again))
                return 0;
        _cleanup_free_ char *ms = mem_printf("%lld", (long long)time_of_day_ms());
        strmap_set(&p->s->conf, "spark.app.submitTime", ms);
        return 0;
}

static void prepare_put_conf(struct preparation *p)
{
        struct strmap *conf = &p->s->conf;
        option_table_apply(p->compat, p->s->manager->option_bit, p->s->cluster_mode, prepare_option_value, p, conf);
        if (submit_is_shell(p->a->primary_resource))
                strmap_set_if_missing(conf, "spark.ui.showConsoleProgress", "true");
        prepare_add_application_jar(p);
        /* Hadoop requests tokens in the name of a resource manager, even without one. */
        if (p->hadoop_tokens && p->security.enabled)
                strmap_set(conf, "spark.hadoop.yarn.resourcemanager.principal", p->security.user);
}

/*
 * The settings of SPARK_SUBMIT_OPTS ("-Dspark.mesos.driver.frameworkId=…", from a dispatcher of Mesos), which a JVM has as
 * system properties. A native driver runs in this process without one.
 */
static int prepare_add_system_properties(struct preparation *p, struct fst_error *error)
{
        _cleanup_(option_words_deinit) struct option_words words = {0};
        if (!p->s->native_only || p->s->cluster_mode)
                return 0;
        int r = option_string_split(getenv("SPARK_SUBMIT_OPTS"), &words, error);
        if (r < 0)
                return error_wrap(error, r, "SPARK_SUBMIT_OPTS");
        for (size_t i = 0; i < words.len; i++) {
                const char *equals = strchr(words.data[i], '=');
                if (!text_starts_with(words.data[i], "-Dspark.") || !equals)
                        continue;
                _cleanup_free_ char *key = mem_strndup(words.data[i] + 2, (size_t)(equals - words.data[i] - 2));
                strmap_set_if_missing(&p->s->conf, key, equals + 1);
        }
        return 0;
}

static int prepare_finish(struct preparation *p, struct fst_error *error)
{
        struct strmap *conf = &p->s->conf;
        for (struct strmap_entry *e = NULL; (e = strmap_next(&p->a->properties, e));)
                strmap_set_if_missing(conf, e->key, e->value);
        if (p->s->cluster_mode)
                strmap_remove(conf, "spark.driver.host");
        prepare_resolve_paths(conf, p->compat);
        int r = prepare_finish_python_path(p, error);
        if (r == 0)
                r = prepare_add_system_properties(p, error);
        if (r < 0)
                return r;
        if (p->compat > COMPAT_2_4 && p->a->verbose && submit_is_sql_shell(p->s->main_class))
                vec_push(&p->s->arguments, mem_strdup("--verbose"));
        return prepare_set_submit_time(p, error);
}

/* A proxy user in cluster mode may not bring classes into this process, unless the configuration allows it. */
static void prepare_check_proxy_classpath(struct preparation *p)
{
        bool refused =
                p->compat > COMPAT_2_4 && !p->proxy_classpath && p->a->value[SUBMIT_PROXY_USER] && p->s->cluster_mode;
        if (!refused || p->s->classpath.len == 0)
                return;
        for (size_t i = 0; i < p->s->classpath.len; i++)
                free(p->s->classpath.data[i]);
        p->s->classpath.len = 0;
        /* Spark's message should contain the class path, but Spark empties it before. */
        preparation_warn(p, "Ignore classpath  with proxy user specified in Cluster mode when %s is disabled",
                         proxy_classpath_key);
}

/* ------------------------------------------------------------------------------------------------------ entry point */

/* Only native drivers reach this point. Spark itself prepares those of a JVM. */
static int prepare_check_supported(const struct preparation *p, struct fst_error *error)
{
        return p->s->native_only ? submit_check_built(p->s->manager, p->s->cluster_mode, error) : 0;
}

static int prepare_run_steps(struct preparation *p, struct fst_error *error)
{
        int r = prepare_choose_gateway(p, error);
        if (r == 0)
                prepare_choose_local_connect(p);
        if (r == 0)
                r = prepare_choose_manager(p, error);
        if (r == 0)
                r = prepare_choose_mode(p, error);
        if (r == 0)
                r = prepare_choose_proxy_classpath(p, error);
        if (r == 0)
                r = prepare_check_supported(p, error);
        if (r == 0)
                r = preparation_resolve_files(p, error);
        if (r == 0)
                r = preparation_choose_class(p, error);
        if (r == 0)
                r = preparation_put_language(p, error);
        if (r < 0)
                return r;
        prepare_put_conf(p);
        r = child_command_put(p, error);
        if (r == 0)
                r = prepare_finish(p, error);
        if (r == 0)
                prepare_check_proxy_classpath(p);
        return r;
}

int submission_prepare(struct submit_arguments *a, struct submission *s, struct fst_error *error)
{
        struct preparation p = {
                .a = a, .s = s, .compat = a->compat, .language = submit_language_of(a->primary_resource, a->compat)};
        strmap_merge(&s->conf, &a->properties);
        int r = prepare_run_steps(&p, error);
        free(p.local_primary);
        free(p.local_jars);
        free(p.local_py_files);
        s->proxy_user = a->value[SUBMIT_PROXY_USER] ? mem_strdup(a->value[SUBMIT_PROXY_USER]) : NULL;
        s->ticket_cache = steal(p.security.ticket_cache);
        hadoop_security_deinit(&p.security);
        if (p.files)
                s->temp_dir = remote_files_take_directory(p.files);
        remote_files_free(p.files);
        return r;
}
