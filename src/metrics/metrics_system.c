/* See metrics_system.h. */
#include "metrics/metrics_system.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/string_prefix.h"
#include "metrics/metrics_conf.h"
#include "metrics/metrics_lines.h"
#include "metrics/metrics_misspelled.h"
#include "metrics/metrics_registry.h"
#include "metrics/metrics_sink_internal.h"
#include "net/http/http.h"
#include "net/socket.h"
#include "text/percent.h"

#include <ctype.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define REPORT_TIMEOUT_MS 5000
#define LAST_REPORT_TIMEOUT_MS 1000

struct metrics_system {
        struct metrics_conf conf;
        struct metrics_registry *registry;
        char *instance, *app_id, *executor_id;
        pthread_mutex_t lock;
        pthread_cond_t wake;
        int stopped; /* atomic */
        VEC(struct metrics_sink *) sinks;
};

const char *metrics_sink_option(const struct metrics_sink *sink, const char *name, const char *otherwise)
{
        const char *value = strmap_get(sink->options, name);
        return value ? value : otherwise;
}

static int sink_read_port(struct metrics_sink *sink, const char *text, struct fst_error *error)
{
        char *end;
        long port = strtol(text, &end, 10);
        if (!*text || *end || port < 1 || port > 65535)
                return error_set(error, -EINVAL, "port \"%s\" is not a number from 1 to 65535", text);
        sink->port = (int)port;
        return 0;
}

static int64_t sink_timeout_ms(const struct metrics_sink *sink)
{
        return sink->last ? LAST_REPORT_TIMEOUT_MS : REPORT_TIMEOUT_MS;
}

/* The stop ends a report that waits, except the last one, which it starts. */
static const int *sink_stopped(const struct metrics_sink *sink)
{
        return sink->last ? NULL : &sink->system->stopped;
}

/* ---------------------------------------------------------------------------------------------------- connections */

static int sink_connect_udp(struct metrics_sink *sink, struct fst_error *error)
{
        struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found;
        char port[8];
        snprintf(port, sizeof(port), "%d", sink->port);
        int r = getaddrinfo(sink->host, port, &hints, &found);
        if (r)
                return error_set(error, -EHOSTUNREACH, "%s:%d: %s", sink->host, sink->port, gai_strerror(r));
        sink->fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        r = sink->fd < 0 || connect(sink->fd, found->ai_addr, found->ai_addrlen) != 0
                    ? error_errno(error, "%s:%d", sink->host, sink->port)
                    : 0;
        freeaddrinfo(found);
        return r;
}

static int sink_connect(struct metrics_sink *sink, struct fst_error *error)
{
        if (sink->fd >= 0)
                return 0;
        if (sink->udp)
                return sink_connect_udp(sink, error);
        int r = socket_connect(sink->host, sink->port, ms_to_ns(sink_timeout_ms(sink)), sink_stopped(sink), error);
        if (r < 0)
                return r;
        sink->fd = r;
        return 0;
}

static int sink_send_stream(struct metrics_sink *sink, const struct buf *lines, struct fst_error *error)
{
        int64_t deadline = now_ns() + ms_to_ns(sink_timeout_ms(sink));
        for (size_t sent = 0; sent < lines->len;) {
                ssize_t n = send(sink->fd, lines->data + sent, lines->len - sent, MSG_NOSIGNAL);
                if (n > 0) {
                        sent += (size_t)n;
                        continue;
                }
                if (n < 0 && errno != EAGAIN && errno != EINTR)
                        return error_errno(error, "%s:%d", sink->host, sink->port);
                int r = socket_wait(sink->fd, POLLOUT, MAX(deadline - now_ns(), 0), sink_stopped(sink));
                if (r <= 0)
                        return error_set(error, r ? r : -ETIMEDOUT, "%s:%d takes no data", sink->host, sink->port);
        }
        return 0;
}

/* A datagram for each line. A full buffer or an absent receiver loses it, as datagrams are. */
static void sink_send_datagrams(const struct metrics_sink *sink, const struct buf *lines, bool with_end)
{
        for (const char *line = buf_text(lines), *end; (end = strchr(line, '\n')); line = end + 1)
                if (send(sink->fd, line, (size_t)(end - line) + with_end, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
                        continue;
}

/* ----------------------------------------------------------------------------------------------- Graphite, StatsD */

static int graphite_open(struct metrics_sink *sink, struct fst_error *error)
{
        const char *host = metrics_sink_option(sink, "host", NULL), *port = metrics_sink_option(sink, "port", NULL);
        const char *protocol = metrics_sink_option(sink, "protocol", "tcp");
        if (!host)
                return error_set(error, -EINVAL, "Graphite sink requires 'host' property.");
        if (!port)
                return error_set(error, -EINVAL, "Graphite sink requires 'port' property.");
        if (strcasecmp(protocol, "tcp") != 0 && strcasecmp(protocol, "udp") != 0)
                return error_set(error, -EINVAL, "Invalid Graphite protocol: %s", protocol);
        sink->udp = strcasecmp(protocol, "udp") == 0;
        snprintf(sink->host, sizeof(sink->host), "%s", host);
        return sink_read_port(sink, port, error);
}

static int graphite_report(struct metrics_sink *sink, const struct metrics_snapshot *m, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf lines = BUF_INIT;
        int r = sink_connect(sink, error);
        if (r)
                return r;
        metrics_put_graphite(m, metrics_sink_option(sink, "prefix", ""), time_of_day_ms() / 1000, &lines);
        if (sink->udp)
                sink_send_datagrams(sink, &lines, true);
        else
                r = sink_send_stream(sink, &lines, error);
        return r;
}

static int statsd_open(struct metrics_sink *sink, struct fst_error *error)
{
        sink->udp = true;
        snprintf(sink->host, sizeof(sink->host), "%s", metrics_sink_option(sink, "host", "127.0.0.1"));
        return sink_read_port(sink, metrics_sink_option(sink, "port", "8125"), error);
}

static int statsd_report(struct metrics_sink *sink, const struct metrics_snapshot *m, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf lines = BUF_INIT;
        int r = sink_connect(sink, error);
        if (r)
                return r;
        metrics_put_statsd(m, metrics_sink_option(sink, "prefix", ""), &lines);
        sink_send_datagrams(sink, &lines, false);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------------- log */

static int log_sink_open(struct metrics_sink *sink, struct fst_error *error)
{
        return 0;
}

static int log_sink_report(struct metrics_sink *sink, const struct metrics_snapshot *m, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf lines = BUF_INIT;
        metrics_put_log(m, &lines);
        for (const char *line = buf_text(&lines), *end; (end = strchr(line, '\n')); line = end + 1)
                log_info("metrics", "%.*s", (int)(end - line), line);
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- pushgateway */

/* Calls @put for each "a=b" of a list with commas. Returns -EINVAL for an element without '='. */
static int push_read_pairs(const char *key, const char *list, struct buf *out,
                           void (*put)(struct buf *out, const char *name, const char *value), struct fst_error *error)
{
        _cleanup_free_ char *copy = mem_strdup(list);
        char *rest = copy;
        for (char *pair; (pair = strsep(&rest, ","));) {
                char *value = strchr(pair, '=');
                if (!value || value == pair)
                        return error_set(error, -EINVAL, "%s: \"%s\" is not NAME=VALUE", key, pair);
                *value++ = '\0';
                for (const char *p = pair; *p; p++)
                        if (!isalnum((unsigned char)*p) && *p != '_')
                                return error_set(error, -EINVAL, "%s: \"%s\" is not the name of a label", key, pair);
                put(out, pair, value);
        }
        return 0;
}

static void push_put_label(struct buf *out, const char *name, const char *value)
{
        buf_printf(out, "%s%s=\"", out->len ? "," : "", name);
        for (const char *p = value; *p; p++) {
                if (*p == '"' || *p == '\\')
                        buf_putc(out, '\\');
                buf_putc(out, *p);
        }
        buf_putc(out, '"');
}

static void push_put_group(struct buf *out, const char *name, const char *value)
{
        buf_printf(out, "/%s/", name);
        percent_encode(out, value, "");
}

static int push_open(struct metrics_sink *sink, struct fst_error *error)
{
        const struct metrics_system *system = sink->system;
        const char *address = metrics_sink_option(sink, "pushgateway-address", "127.0.0.1:9091");
        const char *protocol = metrics_sink_option(sink, "pushgateway-address-protocol", "http");
        const char *group = metrics_sink_option(sink, "group-key", NULL),
                   *labels = metrics_sink_option(sink, "labels", NULL);
        const char *id = system->executor_id;
        _cleanup_(buf_deinit) struct buf url = BUF_INIT, text = BUF_INIT;
        struct host_port parsed;
        int r = host_port_parse(address, &parsed, error);
        if (r)
                return error_wrap(error, r, "pushgateway-address");
        if (strcmp(protocol, "http") != 0 && strcmp(protocol, "https") != 0)
                return error_set(error, -EINVAL, "pushgateway-address-protocol \"%s\" is not http or https", protocol);
        buf_printf(&url, "%s://%s/metrics/job/", protocol, address);
        percent_encode(&url, system->app_id ? system->app_id : "firesteel", "");
        if (group) {
                r = push_read_pairs("group-key", group, &url, push_put_group, error);
        } else {
                bool executor = id && strcmp(id, "driver") != 0;
                push_put_group(&url, "role", executor ? "executor" : id ? "driver" : system->instance);
                if (executor)
                        push_put_group(&url, "number", id);
        }
        if (r == 0 && labels)
                r = push_read_pairs("labels", labels, &text, push_put_label, error);
        if (r == 0)
                r = http_client_new(&sink->http, error);
        if (r)
                return r;
        sink->url = buf_steal(&url);
        sink->labels = buf_steal(&text);
        return 0;
}

static int push_on_progress(void *context, int64_t done, int64_t total)
{
        const int *stopped = sink_stopped(context);
        return stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED);
}

static int push_request(struct metrics_sink *sink, const char *method, const struct buf *body, struct fst_error *error)
{
        static const char *const headers[] = {"Content-Type: text/plain; version=0.0.4", NULL};
        struct http_answer answer = HTTP_ANSWER_INIT;
        int r = http_perform(sink->http,
                             &(struct http_request){.url = sink->url,
                                                    .method = method,
                                                    .headers = headers,
                                                    .body = body ? body->data : NULL,
                                                    .body_len = body ? body->len : 0,
                                                    .connect_timeout_ms = sink_timeout_ms(sink),
                                                    .timeout_ms = sink_timeout_ms(sink),
                                                    .max_answer = 1 << 16,
                                                    .progress = push_on_progress,
                                                    .context = sink},
                             &answer, error);
        if (r == 0 && (answer.status < 200 || answer.status > 299))
                r = error_set(error, -EPROTO, "the pushgateway answers %d: %.200s", answer.status,
                              buf_text(&answer.body));
        http_answer_deinit(&answer);
        return r;
}

static int push_report(struct metrics_sink *sink, const struct metrics_snapshot *m, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        bool stamp = strcmp(metrics_sink_option(sink, "pushgateway-enable-timestamp", "false"), "true") == 0;
        metrics_put_exposition(m, sink->labels, stamp ? time_of_day_ms() : -1, &body);
        return push_request(sink, "PUT", &body, error);
}

static void push_end(struct metrics_sink *sink)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!sink->failed && strcmp(metrics_sink_option(sink, "pushgateway-delete-at-end", "false"), "true") == 0 &&
            push_request(sink, "DELETE", NULL, &error))
                log_warn("MetricsSystem", "Cannot delete the group of this application: %s", error_message(&error));
}

/* ----------------------------------------------------------------------------------------------------- the threads */

#define SINK_OPTIONS "class period unit regex "
#define PUSH_OPTIONS                                                                                                   \
        "pushgateway-address pushgateway-address-protocol pushgateway-enable-timestamp pushgateway-delete-at-end "     \
        "group-key labels "

static const struct metrics_sink_class graphite_sink = {.name = SPARK_SINKS "GraphiteSink",
                                                        .options = "host port prefix protocol ",
                                                        .open = graphite_open,
                                                        .report = graphite_report};
static const struct metrics_sink_class statsd_sink = {
        .name = SPARK_SINKS "StatsdSink", .options = "host port prefix ", .open = statsd_open, .report = statsd_report};
static const struct metrics_sink_class log_sink = {
        .name = SPARK_SINKS "Slf4jSink", .options = "", .open = log_sink_open, .report = log_sink_report};
static const struct metrics_sink_class push_sink = {.name = "firesteel.PushGatewaySink",
                                                    .options = PUSH_OPTIONS,
                                                    .open = push_open,
                                                    .report = push_report,
                                                    .end = push_end};
static const struct metrics_sink_class banzai_sink = {.name = "com.banzaicloud.spark.metrics.sink.PrometheusSink",
                                                      .options = PUSH_OPTIONS,
                                                      .open = push_open,
                                                      .report = push_report,
                                                      .end = push_end};

static const struct metrics_sink_class *const sink_classes[] = {
        &metrics_console_sink, &metrics_csv_sink, &graphite_sink, &statsd_sink, &log_sink, &push_sink, &banzai_sink,
};

static void sink_filter(const struct metrics_sink *sink, struct metrics_snapshot *m)
{
        size_t n = 0;
        for (size_t i = 0; i < m->samples.len; i++) {
                struct metric_sample *s = &m->samples.data[i];
                if (!sink->has_regex || regexec(&sink->regex, s->name, 0, NULL, 0) == 0) {
                        m->samples.data[n++] = *s;
                } else {
                        free(s->name);
                        free(s->text);
                }
        }
        m->samples.len = n;
}

static void sink_run_report(struct metrics_sink *sink)
{
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        metrics_registry_snapshot(sink->system->registry, now_ns(), &m);
        sink_filter(sink, &m);
        int r = sink->class->report(sink, &m, &error);
        metrics_snapshot_deinit(&m);
        if (r && r != -ECANCELED && !sink->failed)
                log_warn("MetricsSystem", "%s cannot report: %s", sink->class->name, error_message(&error));
        if (r && sink->fd >= 0) {
                close(sink->fd);
                sink->fd = -1;
        }
        if (r != -ECANCELED)
                sink->failed = r != 0;
}

static void *sink_main(void *context)
{
        struct metrics_sink *sink = context;
        struct metrics_system *system = sink->system;
        int64_t next = now_ns() + ms_to_ns(sink->period_ms);
        pthread_mutex_lock(&system->lock);
        while (!system->stopped) {
                struct timespec until = timespec_of_ns(next);
                if (next > now_ns()) {
                        pthread_cond_clockwait(&system->wake, &system->lock, CLOCK_MONOTONIC, &until);
                        continue;
                }
                pthread_mutex_unlock(&system->lock);
                sink_run_report(sink);
                next = now_ns() + ms_to_ns(sink->period_ms);
                pthread_mutex_lock(&system->lock);
        }
        pthread_mutex_unlock(&system->lock);
        sink->last = true;
        sink_run_report(sink);
        if (sink->class->end)
                sink->class->end(sink);
        return NULL;
}

static void sink_free(struct metrics_sink *sink)
{
        if (sink->fd >= 0)
                close(sink->fd);
        if (sink->has_regex)
                regfree(&sink->regex);
        http_client_free(sink->http);
        free(sink->url);
        free(sink->labels);
        free(sink);
}

/* Warns of the options of @part, a @kind, that neither @common nor @own names. */
static void metrics_part_warn_unknown_options(const struct metrics_part *part, const char *kind, const char *common,
                                              const char *own)
{
        _cleanup_free_ char *known = mem_printf("%s%s", common, own);
        _cleanup_free_ char *noun = mem_printf("an option of %s %s", kind, part->name);
        for (const struct strmap_entry *e = NULL; (e = strmap_next(&part->options, e));)
                metrics_warn_unknown_name(strmap_get(&part->keys, e->key), noun, e->key, strlen(e->key), known);
}

static void metrics_source_warn(const struct metrics_part *source)
{
        metrics_part_warn_unknown_options(source, "source", "class ", "");
        if (strmap_get(&source->options, "class"))
                log_warn("MetricsSystem", "Source class %s has no effect: this process has no JVM",
                         strmap_get(&source->options, "class"));
}

static int sink_open(struct metrics_sink *sink, const struct metrics_part *part, struct fst_error *error)
{
        const char *regex = strmap_get(sink->options, "regex");
        int r = metrics_conf_period(part, &sink->period_ms, error);
        if (r)
                return r;
        if (regex && regcomp(&sink->regex, regex, REG_EXTENDED | REG_NOSUB))
                return error_set(error, -EINVAL, "regex \"%s\" is not a regular expression", regex);
        sink->has_regex = regex != NULL;
        return sink->class->open(sink, error);
}

static const struct metrics_sink_class *sink_class_find(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(sink_classes); i++)
                if (strcmp(name, sink_classes[i]->name) == 0)
                        return sink_classes[i];
        return NULL;
}

static int sink_class_refuse(const struct metrics_part *part, const char *name, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(sink_classes); i++)
                buf_printf(&names, "%s%s", i ? ", " : "", sink_classes[i]->name);
        return error_set(error, -EINVAL,
                         "Sink class %s cannot be instantiated: %s must name one of Firesteel's sinks: %s", name,
                         strmap_get(&part->keys, "class"), buf_text(&names));
}

static int metrics_system_add(struct metrics_system *system, const struct metrics_part *part, struct fst_error *error)
{
        const char *name = strmap_get(&part->options, "class");
        if (!name)
                metrics_part_warn_unknown_options(part, "sink", SINK_OPTIONS,
                                                  "directory host port prefix protocol path sample " PUSH_OPTIONS);
        if (!name || strcmp(name, SPARK_SINKS "MetricsServlet") == 0 ||
            strcmp(name, SPARK_SINKS "PrometheusServlet") == 0)
                return 0;
        if (strcmp(name, SPARK_SINKS "JmxSink") == 0) {
                log_warn("MetricsSystem", "Sink %s has no effect: this process has no JVM", name);
                return 0;
        }
        const struct metrics_sink_class *class = sink_class_find(name);
        if (!class)
                return sink_class_refuse(part, name, error);
        metrics_part_warn_unknown_options(part, "sink", SINK_OPTIONS, class->options);
        struct metrics_sink *sink = new0(struct metrics_sink);
        *sink = (struct metrics_sink){.system = system, .class = class, .options = &part->options, .fd = -1};
        int r = sink_open(sink, part, error);
        if (r) {
                sink_free(sink);
                return error_wrap(error, r, "Sink class %s cannot be instantiated", name);
        }
        vec_push(&system->sinks, sink);
        return 0;
}

static void metrics_system_free(struct metrics_system *system)
{
        for (size_t i = 0; i < system->sinks.len; i++)
                sink_free(system->sinks.data[i]);
        vec_deinit(&system->sinks);
        metrics_conf_deinit(&system->conf);
        pthread_mutex_destroy(&system->lock);
        pthread_cond_destroy(&system->wake);
        free(system->instance);
        free(system->app_id);
        free(system->executor_id);
        free(system);
}

int metrics_system_start(const struct metrics_system_options *options, struct metrics_system **out,
                         struct fst_error *error)
{
        struct metrics_system *system = new0(struct metrics_system);
        int r = 0;
        system->registry = options->registry;
        system->instance = mem_strdup(options->instance);
        system->app_id = mem_strdup_if(options->app_id);
        system->executor_id = mem_strdup_if(options->executor_id);
        pthread_mutex_init(&system->lock, NULL);
        pthread_cond_init(&system->wake, NULL);
        metrics_conf_read(&system->conf, options->instance, options->conf, options->conf_dir);
        for (size_t i = 0; r == 0 && i < system->conf.sinks.len; i++)
                r = metrics_system_add(system, &system->conf.sinks.data[i], error);
        for (size_t i = 0; r == 0 && i < system->conf.sources.len; i++)
                metrics_source_warn(&system->conf.sources.data[i]);
        if (r || !system->sinks.len) {
                metrics_system_free(system);
                if (r == 0)
                        *out = NULL;
                return r;
        }
        for (size_t i = 0; i < system->sinks.len; i++)
                if (pthread_create(&system->sinks.data[i]->thread, NULL, sink_main, system->sinks.data[i]))
                        abort();
        *out = system;
        return 0;
}

void metrics_system_stop(struct metrics_system *system)
{
        if (!system)
                return;
        pthread_mutex_lock(&system->lock);
        __atomic_store_n(&system->stopped, 1, __ATOMIC_RELAXED);
        pthread_cond_broadcast(&system->wake);
        pthread_mutex_unlock(&system->lock);
        for (size_t i = 0; i < system->sinks.len; i++)
                pthread_join(system->sinks.data[i]->thread, NULL);
        metrics_system_free(system);
}
