/* See dispatcher_conf.h. */
#include "mesos/dispatcher/dispatcher_conf.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/redact.h"

#include <errno.h>
#include <math.h>
#include <strings.h>

#define DEFAULT_PORT 7077
#define DEFAULT_WEB_UI_PORT 8081
#define DEFAULT_NAME "Spark Cluster"
#define SCHEME "mesos://"
#define QUEUE_PREFIX "spark.mesos.dispatcher.queue."
#define SECRET_KEY "spark.authenticate.secret"
#define ZOOKEEPER_DIR "/spark_mesos_dispatcher"

/* Values from the command line, NULL if not given. */
struct dispatcher_options {
        const char *host, *port, *web_ui_port, *name, *master, *zookeeper, *properties_file;
};

/* ------------------------------------------------------------------------------------------------- command line */

static int dispatcher_conf_set_setting(struct dispatcher_conf *c, const char *setting, struct fst_error *error)
{
        const char *equals = strchr(setting, '=');
        if (!equals || equals == setting)
                return error_set(error, DISPATCHER_CONF_E_USAGE, "Spark config without '=': %s", setting);
        _cleanup_free_ char *key = mem_strndup(setting, (size_t)(equals - setting));
        conf_set(&c->conf, key, equals + 1);
        return 0;
}

static int dispatcher_conf_read_words(struct dispatcher_conf *c, struct dispatcher_options *w, int argc,
                                      char *const *argv, struct fst_error *error)
{
        const char *setting = NULL;
        const struct daemon_option options[] = {
                {"--host", "-h", &w->host},
                {"--port", "-p", &w->port},
                {"--webui-port", NULL, &w->web_ui_port},
                {"--name", NULL, &w->name},
                {"--master", "-m", &w->master},
                {"--zk", "-z", &w->zookeeper},
                {"--conf", NULL, &setting},
                {"--properties-file", NULL, &w->properties_file},
        };
        for (int i = 1; i < argc; i++) {
                size_t o = 0;
                if (strcmp(argv[i], "--help") == 0)
                        return DISPATCHER_CONF_E_HELP;
                if (strcmp(argv[i], "--verbose") == 0) {
                        c->verbose = true;
                        continue;
                }
                while (o < ARRAY_SIZE(options) && strcmp(argv[i], options[o].name) != 0 &&
                       !text_equals(argv[i], options[o].other))
                        o++;
                if (o == ARRAY_SIZE(options))
                        return error_set(error, DISPATCHER_CONF_E_USAGE, "Unrecognized option: '%s'", argv[i]);
                if (i + 1 == argc)
                        return error_set(error, DISPATCHER_CONF_E_USAGE, "%s needs a value", argv[i]);
                *options[o].value = argv[++i];
                if (options[o].value == &setting && dispatcher_conf_set_setting(c, setting, error))
                        return DISPATCHER_CONF_E_USAGE;
        }
        return 0;
}

static int dispatcher_conf_parse_port(const char *option, const char *text, int fallback, int *port,
                                      struct fst_error *error)
{
        char *end;
        *port = fallback;
        if (!text)
                return 0;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (end == text || *end || errno || value < 0 || value > 65535)
                return error_set(error, DISPATCHER_CONF_E_USAGE, "%s: \"%s\" is not a port from 0 to 65535", option,
                                 text);
        *port = (int)value;
        return 0;
}

/* Strips each mesos:// that the URL begins with, as in "mesos://zk://h:2181/mesos". */
static int dispatcher_conf_set_master(struct dispatcher_conf *c, const char *master, struct fst_error *error)
{
        if (!master)
                return error_set(error, DISPATCHER_CONF_E_USAGE, "--master is required");
        if (!text_starts_with(master, SCHEME) || !master[strlen(SCHEME)])
                return error_set(error, -EINVAL, "Cluster dispatcher only supports mesos (uri begins with mesos://)");
        c->master = mem_strdup(master + strlen(SCHEME));
        return 0;
}

/* ------------------------------------------------------------------------------------------------- keys */

static int dispatcher_conf_read_queues(struct dispatcher_conf *c, struct fst_error *error)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&c->conf.set, e));) {
                char *end;
                if (!text_starts_with(e->key, QUEUE_PREFIX))
                        continue;
                const char *name = e->key + strlen(QUEUE_PREFIX);
                float priority = strtof(e->value, &end);
                if (end == e->value || *end || !isfinite(priority))
                        return error_set(error, -EINVAL, "%s: \"%s\" is not a number, the priority of the queue \"%s\"",
                                         e->key, e->value, name);
                vec_push(&c->queues, (struct dispatcher_queue){mem_strdup(name), priority});
        }
        c->core.queues = c->queues.data;
        c->core.n_queues = c->queues.len;
        return 0;
}

/* Spark's dispatchers use a directory of their own in ZooKeeper. */
static int dispatcher_conf_read_recovery(struct dispatcher_conf *c, struct fst_error *error)
{
        _cleanup_free_ char *mode = NULL;
        int r = conf_get_string(&c->conf, "spark.deploy.recoveryMode", &mode, error);
        if (r < 0)
                return r;
        if (strcasecmp(mode, "NONE") != 0 && strcasecmp(mode, "ZOOKEEPER") != 0 && strcasecmp(mode, "FILESYSTEM") != 0)
                return error_set(error, -EINVAL,
                                 "spark.deploy.recoveryMode is %s: it can be NONE, ZOOKEEPER or FILESYSTEM", mode);
        conf_set_if_missing(&c->conf, "spark.deploy.zookeeper.dir", ZOOKEEPER_DIR);
        return 0;
}

int dispatcher_conf_keys(struct dispatcher_conf *c, struct fst_error *error)
{
        int64_t refuse_ms = 0;
        int seconds = 0;
        if (conf_contains(&c->conf, SECRET_KEY))
                return error_set(error, -EINVAL,
                                 SECRET_KEY
                                 " is set: the dispatcher cannot check it, and each application has its own. "
                                 "Remove it from the dispatcher's settings");
        int r = conf_read_int(&c->conf, "spark.mesos.maxDrivers", &c->core.max_drivers, error);
        if (r == 0 && c->core.max_drivers < 1)
                r = error_set(error, -EINVAL, "spark.mesos.maxDrivers is %d: set it to 1 or more", c->core.max_drivers);
        if (r == 0)
                r = conf_read_int(&c->conf, "spark.mesos.retainedDrivers", &c->core.retained_drivers, error);
        if (r == 0 && c->core.retained_drivers < 0)
                r = error_set(error, -EINVAL, "spark.mesos.retainedDrivers is %d: set it to 0 or more",
                              c->core.retained_drivers);
        if (r == 0)
                r = conf_read_int(&c->conf, "spark.mesos.cluster.retry.wait.max", &seconds, error);
        if (r == 0 && seconds < 1)
                r = error_set(error, -EINVAL,
                              "spark.mesos.cluster.retry.wait.max: %d is not a number of seconds from 1", seconds);
        if (r == 0)
                r = conf_get_ms(&c->conf, "spark.mesos.rejectOfferDuration", &refuse_ms, error);
        if (r == 0)
                r = dispatcher_conf_read_queues(c, error);
        if (r == 0)
                r = dispatcher_conf_read_recovery(c, error);
        c->core.max_retry_wait = seconds * NS_PER_SECOND;
        c->core.refuse_ms = refuse_ms;
        return r;
}

int dispatcher_conf_read(struct dispatcher_conf *c, int argc, char *const *argv, struct fst_error *error)
{
        struct dispatcher_options w = {0};
        *c = (struct dispatcher_conf){0};
        conf_init(&c->conf);
        int r = dispatcher_conf_read_words(c, &w, argc, argv, error);
        if (r == 0)
                r = dispatcher_conf_parse_port("--port", w.port, DEFAULT_PORT, &c->port, error);
        if (r == 0)
                r = dispatcher_conf_parse_port("--webui-port", w.web_ui_port, DEFAULT_WEB_UI_PORT, &c->web_ui_port,
                                               error);
        if (r == 0)
                r = dispatcher_conf_set_master(c, w.master, error);
        if (r == 0)
                r = daemon_environment(error);
        if (r == 0)
                r = daemon_host(w.host, &c->host, &c->public_host, error);
        if (r == 0 && w.zookeeper) {
                conf_set(&c->conf, "spark.deploy.recoveryMode", "ZOOKEEPER");
                conf_set(&c->conf, "spark.deploy.zookeeper.url", w.zookeeper);
        }
        if (r == 0)
                r = daemon_conf_load(&c->conf, "SPARK_DAEMON_JAVA_OPTS", w.properties_file, error);
        c->name = mem_strdup(w.name ? w.name : DEFAULT_NAME);
        return r == 0 ? dispatcher_conf_keys(c, error) : r;
}

void dispatcher_conf_deinit(struct dispatcher_conf *c)
{
        for (size_t i = 0; i < c->queues.len; i++)
                free((char *)c->queues.data[i].name);
        vec_deinit(&c->queues);
        conf_deinit(&c->conf);
        free(c->host);
        free(c->public_host);
        free(c->name);
        free(c->master);
        *c = (struct dispatcher_conf){0};
}

void dispatcher_conf_put(const struct dispatcher_conf *c, struct buf *out)
{
        struct redactor redactor;
        struct strmap_entry **sorted = strmap_sorted(&c->conf.set);
        redactor_init_lenient(&redactor, conf_get_raw(&c->conf, "spark.redaction.regex"));
        buf_printf(out, "Using host: %s\nUsing port: %d\nUsing webUiPort: %d\nFramework Name: %s\n", c->host, c->port,
                   c->web_ui_port, c->name);
        buf_puts(out, "Spark Config properties set:\n");
        for (size_t i = 0; i < c->conf.set.count; i++)
                buf_printf(out, "%s = %s\n", sorted[i]->key,
                           redactor_value(&redactor, sorted[i]->key, sorted[i]->value));
        free(sorted);
        redactor_deinit(&redactor);
}
