/* Reads a master's configuration, like MasterArguments and Spark's Deploy and Worker configurations. */
#include "standalone/master/master_conf.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/wire/daemon_conf.h"

#include <unistd.h>

/* Values from the command line, NULL if not given. */
struct master_options {
        const char *host, *port, *web_ui_port, *properties_file;
};

static int master_conf_read_words(struct master_options *w, int argc, char *const *argv, struct fst_error *error)
{
        const struct daemon_option options[] = {
                {"--host", "-h", &w->host},
                {"--ip", "-i", &w->host},
                {"--port", "-p", &w->port},
                {"--webui-port", NULL, &w->web_ui_port},
                {"--properties-file", NULL, &w->properties_file},
        };
        return daemon_words_read(options, ARRAY_SIZE(options), argc, argv, NULL, NULL, NULL, error);
}

static int master_conf_parse_port(const char *what, const char *text, int *port, struct fst_error *error)
{
        char *end;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (end == text || *end || errno || value < 0 || value > 65535)
                return error_set(error, -EINVAL, "%s: \"%s\" is not a port from 0 to 65535", what, text);
        *port = (int)value;
        return 0;
}

/* Reads a port from the environment, then from the command line, where an invalid one is a usage error. */
static int master_conf_read_port(const char *option, const char *word, const char *variable, int fallback, int *port,
                                 struct fst_error *error)
{
        const char *value = daemon_variable(variable);
        *port = fallback;
        int r = value ? master_conf_parse_port(variable, value, port, error) : 0;
        if (r || !word)
                return r;
        return master_conf_parse_port(option, word, port, error) ? MASTER_CONF_E_USAGE : 0;
}

static int read_host(struct master_conf *c, const char *word, struct fst_error *error)
{
        const char *host = word ? word : daemon_variable("SPARK_MASTER_HOST");
        if (!host && (host = daemon_variable("SPARK_MASTER_IP")))
                log_warn("MasterArguments", "SPARK_MASTER_IP is deprecated, please use SPARK_MASTER_HOST");
        return daemon_host(host, &c->host, &c->public_host, error);
}

/* ------------------------------------------------------------------------------------------------------ keys */

static int master_conf_read_int(const struct fst_conf *conf, const char *key, int *out, struct fst_error *error)
{
        int64_t value = 0;
        int r = conf_get_int(conf, key, &value, error);
        if (r == 0)
                *out = (int)value;
        return r;
}

static int read_selection(const struct fst_conf *conf, enum worker_selection *out, struct fst_error *error)
{
        static const char *const names[] = {
                [CORES_FREE_DESC] = "CORES_FREE_DESC",
                [CORES_FREE_ASC] = "CORES_FREE_ASC",
                [MEMORY_FREE_DESC] = "MEMORY_FREE_DESC",
                [MEMORY_FREE_ASC] = "MEMORY_FREE_ASC",
                [WORKER_BY_ID] = "WORKER_ID",
        };
        static const char key[] = "spark.deploy.workerSelectionPolicy";
        _cleanup_free_ char *value = NULL;
        int r = conf_get_string(conf, key, &value, error);
        if (r < 0)
                return r;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcasecmp(names[i], value) == 0) {
                        *out = (enum worker_selection)i;
                        return 0;
                }
        return error_set(error, -EINVAL,
                         "'%s' in %s is invalid: it is CORES_FREE_ASC, CORES_FREE_DESC, MEMORY_FREE_ASC, "
                         "MEMORY_FREE_DESC or WORKER_ID",
                         value, key);
}

static int master_conf_read_time(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        int64_t ms;
        int r = conf_get_ms(conf, key, &ms, error);
        if (r == 0)
                *out = ms_to_ns(ms);
        return r;
}

static int read_times(const struct fst_conf *conf, struct master_config *core, struct fst_error *error)
{
        int64_t seconds = 0;
        int r = conf_get_int(conf, "spark.worker.timeout", &seconds, error);
        if (r == 0 && (seconds < 1 || seconds > INT32_MAX))
                return error_set(error, -EINVAL, "spark.worker.timeout: %lld is not from 1 to %d seconds",
                                 (long long)seconds, INT32_MAX);
        if (r == 0)
                core->worker_timeout = seconds * NS_PER_SECOND;
        if (r == 0)
                r = master_conf_read_time(conf, "spark.firesteel.standalone.reconnectTimeout", &core->app_timeout,
                                          error);
        if (r < 0 || !conf_contains(conf, "spark.deploy.recoveryTimeout"))
                return r;
        r = master_conf_read_time(conf, "spark.deploy.recoveryTimeout", &core->recovery_timeout, error);
        if (r == 0 && core->recovery_timeout < 1)
                return error_set(error, -EINVAL, "spark.deploy.recoveryTimeout must be positive.");
        return r;
}

int master_conf_keys(struct master_conf *c, struct fst_error *error)
{
        struct master_config *core = &c->core;
        const struct {
                const char *key;
                int *value;
        } ints[] = {
                {"spark.deploy.defaultCores", &core->default_cores},
                {"spark.deploy.maxDrivers", &core->max_drivers},
                {"spark.deploy.maxExecutorRetries", &core->max_executor_retries},
                {"spark.deploy.retainedApplications", &core->retained_apps},
                {"spark.deploy.retainedDrivers", &core->retained_drivers},
                {"spark.dead.worker.persistence", &core->reaper_iterations},
        };
        const struct {
                const char *key;
                bool *value;
        } bools[] = {
                {"spark.deploy.spreadOutApps", &core->spread_out_apps},
                {"spark.deploy.spreadOutDrivers", &core->spread_out_drivers},
                {"spark.master.useAppNameAsAppId.enabled", &core->app_name_as_id},
        };
        int r = 0;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(ints); i++)
                r = master_conf_read_int(&c->conf, ints[i].key, ints[i].value, error);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(bools); i++)
                r = conf_get_bool(&c->conf, bools[i].key, bools[i].value, error);
        if (r == 0 && conf_contains(&c->conf, "spark.deploy.appNumberModulo")) {
                r = master_conf_read_int(&c->conf, "spark.deploy.appNumberModulo", &core->app_number_modulo, error);
                if (r == 0 && core->app_number_modulo == 0)
                        core->app_number_modulo = -1; /* given but too small, unlike not given */
        }
        if (r == 0)
                r = read_selection(&c->conf, &core->selection, error);
        if (r == 0)
                r = read_times(&c->conf, core, error);
        if (r == 0)
                r = conf_get_string(&c->conf, "spark.deploy.appIdPattern", &c->app_id_pattern, error);
        if (r == 0)
                r = conf_get_string(&c->conf, "spark.deploy.driverIdPattern", &c->driver_id_pattern, error);
        if (r < 0)
                return r;
        core->app_id_pattern = c->app_id_pattern;
        core->driver_id_pattern = c->driver_id_pattern;
        return master_config_check(core, error);
}

int master_conf_read(struct master_conf *c, int argc, char *const *argv, struct fst_error *error)
{
        struct master_options w = {0};
        *c = (struct master_conf){.core = MASTER_CONFIG_DEFAULT};
        conf_init(&c->conf);
        int r = master_conf_read_words(&w, argc, argv, error);
        if (r == 0)
                r = daemon_environment(error);
        if (r == 0)
                r = master_conf_read_port("--port", w.port, "SPARK_MASTER_PORT", 7077, &c->port, error);
        if (r == 0)
                r = master_conf_read_port("--webui-port", w.web_ui_port, "SPARK_MASTER_WEBUI_PORT", 8080,
                                          &c->web_ui_port, error);
        if (r == 0)
                r = read_host(c, w.host, error);
        if (r == 0)
                r = daemon_conf_load(&c->conf, "SPARK_MASTER_OPTS", w.properties_file, error);
        if (r == 0 && conf_contains(&c->conf, "spark.master.ui.port"))
                r = master_conf_read_int(&c->conf, "spark.master.ui.port", &c->web_ui_port, error);
        if (r == 0 && (c->web_ui_port < 0 || c->web_ui_port > 65535))
                r = error_set(error, -EINVAL, "spark.master.ui.port: %d is not a valid port", c->web_ui_port);
        if (r == 0)
                r = master_conf_keys(c, error);
        c->core.seed = (uint64_t)now_ns() ^ (uint64_t)getpid() << 32;
        return r;
}

void master_conf_deinit(struct master_conf *c)
{
        conf_deinit(&c->conf);
        free(c->host);
        free(c->public_host);
        free(c->app_id_pattern);
        free(c->driver_id_pattern);
        *c = (struct master_conf){0};
}
