/* Reads the operator's flags from a table: --name=value, --name value, and --name for switches. */
#include "operator/shell/operator_conf.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/schedule/go_duration.h"
#include "text/edit_distance.h"

#include <stddef.h>

enum flag_type {
        FLAG_TEXT,
        FLAG_LIST, /* separated by commas; may be repeated */
        FLAG_BOOL,
        FLAG_NUMBER,
        FLAG_DURATION,
        FLAG_INEFFECTIVE, /* of the genuine operator; does nothing here */
        FLAG_INEFFECTIVE_BOOL,
};

struct operator_flag {
        const char *name;
        enum flag_type type;
        size_t offset;
        const char *fallback; /* NULL: empty */
};

#define FLAG(name, type, member, fallback)                                                                             \
        {                                                                                                              \
                name, type, offsetof(struct operator_conf, member), fallback                                           \
        }

static const struct operator_flag operator_flags[] = {
        FLAG("namespaces", FLAG_LIST, namespaces, NULL),
        FLAG("namespace-selector", FLAG_TEXT, namespace_selector, NULL),
        FLAG("kubeconfig", FLAG_TEXT, kubeconfig, NULL),
        FLAG("controller-threads", FLAG_NUMBER, controller_threads, "0"),
        FLAG("max-tracked-executor-per-app", FLAG_NUMBER, max_tracked_executors, "1000"),
        FLAG("default-time-to-live-seconds", FLAG_NUMBER, default_time_to_live_s, "0"),
        FLAG("enable-ui-service", FLAG_BOOL, enable_ui_service, "true"),
        FLAG("ingress-class-name", FLAG_TEXT, ingress_class, NULL),
        FLAG("ingress-url-format", FLAG_TEXT, ingress_url_format, NULL),
        FLAG("ingress-tls", FLAG_TEXT, ingress_tls, NULL),
        FLAG("ingress-annotations", FLAG_TEXT, ingress_annotations, NULL),
        FLAG("enable-batch-scheduler", FLAG_BOOL, enable_batch_scheduler, "false"),
        FLAG("kube-scheduler-names", FLAG_LIST, kube_schedulers, NULL),
        FLAG("default-batch-scheduler", FLAG_TEXT, default_batch_scheduler, NULL),
        FLAG("enable-driver-pdb", FLAG_BOOL, enable_driver_pdb, "false"),
        FLAG("enable-apache-applications", FLAG_BOOL, apache_applications, "false"),
        FLAG("leader-election", FLAG_BOOL, leader_election, "false"),
        FLAG("leader-election-lock-name", FLAG_TEXT, lock_name, "spark-operator-lock"),
        FLAG("leader-election-lock-namespace", FLAG_TEXT, lock_namespace, NULL),
        FLAG("leader-election-lease-duration", FLAG_DURATION, lease_duration, "15s"),
        FLAG("leader-election-renew-deadline", FLAG_DURATION, renew_deadline, "10s"),
        FLAG("leader-election-retry-period", FLAG_DURATION, retry_period, "2s"),
        FLAG("workqueue-ratelimiter-bucket-qps", FLAG_NUMBER, queue_rate, "0"),
        FLAG("workqueue-ratelimiter-bucket-size", FLAG_NUMBER, queue_burst, "500"),
        FLAG("workqueue-ratelimiter-max-delay", FLAG_DURATION, queue_most_pause, "1000s"),
        FLAG("enable-metrics", FLAG_BOOL, enable_metrics, "false"),
        FLAG("metrics-bind-address", FLAG_TEXT, metrics_address, ":8080"),
        FLAG("metrics-endpoint", FLAG_TEXT, metrics_endpoint, "/metrics"),
        FLAG("metrics-prefix", FLAG_TEXT, metrics_prefix, NULL),
        FLAG("metrics-labels", FLAG_LIST, metrics_labels, NULL),
        FLAG("metrics-job-start-latency-buckets", FLAG_TEXT, start_buckets, "30,60,90,120,150,180,210,240,270,300"),
        FLAG("metrics-job-submit-latency-buckets", FLAG_TEXT, submit_buckets, "0.5,1,2,4,8,16,32,64,128,256"),
        FLAG("health-probe-bind-address", FLAG_TEXT, health_address, ":8081"),
        FLAG("cache-sync-timeout", FLAG_DURATION, sync_timeout, "30s"),
        FLAG("driver-pod-creation-grace-period", FLAG_DURATION, driver_creation_grace, "10s"),
        FLAG("feature-gates", FLAG_TEXT, feature_gates, NULL),
        FLAG("scheduled-spark-application-timestamp-precision", FLAG_TEXT, precision_name, "nanos"),
        FLAG("webhook-port", FLAG_NUMBER, webhook_port, "9443"),
        FLAG("webhook-secret-name", FLAG_TEXT, webhook_secret, "spark-operator-webhook-certs"),
        FLAG("webhook-secret-namespace", FLAG_TEXT, webhook_secret_namespace, NULL),
        FLAG("webhook-svc-name", FLAG_TEXT, webhook_service, "spark-operator-webhook-svc"),
        FLAG("webhook-svc-namespace", FLAG_TEXT, webhook_service_namespace, NULL),
        FLAG("validating-webhook-name", FLAG_TEXT, webhook_configuration, "spark-operator-webhook"),
        FLAG("enable-resource-quota-enforcement", FLAG_BOOL, enforce_quotas, "false"),
        FLAG("zap-encoder", FLAG_TEXT, log_encoder, "console"),
        FLAG("zap-log-level", FLAG_TEXT, log_level_name, "info"),
        {"enable-cert-manager", FLAG_INEFFECTIVE_BOOL},
        {"enable-http2", FLAG_INEFFECTIVE_BOOL},
        {"kube-api-burst", FLAG_INEFFECTIVE},
        {"kube-api-qps", FLAG_INEFFECTIVE},
        {"mutating-webhook-name", FLAG_INEFFECTIVE},
        {"pprof-bind-address", FLAG_INEFFECTIVE},
        {"secure-metrics", FLAG_INEFFECTIVE_BOOL},
        {"submitter-service-url", FLAG_INEFFECTIVE},
        {"webhook-cert-dir", FLAG_INEFFECTIVE},
        {"webhook-cert-name", FLAG_INEFFECTIVE},
        {"webhook-key-name", FLAG_INEFFECTIVE},
        {"webhook-metrics-bind-address", FLAG_INEFFECTIVE},
        {"zap-devel", FLAG_INEFFECTIVE_BOOL},
        {"zap-stacktrace-level", FLAG_INEFFECTIVE},
        {"zap-time-encoding", FLAG_INEFFECTIVE},
};

static const char *const precision_names[] = {
        [SCHEDULE_NANOS] = "nanos",     [SCHEDULE_MICROS] = "micros",   [SCHEDULE_MILLIS] = "millis",
        [SCHEDULE_SECONDS] = "seconds", [SCHEDULE_MINUTES] = "minutes",
};

static const struct {
        const char *name;
        enum log_level level;
} log_names[] = {{"debug", LOG_DEBUG}, {"info", LOG_INFO}, {"error", LOG_ERROR}};

static const struct operator_flag *operator_flag_find(const char *name, size_t n)
{
        for (size_t i = 0; i < ARRAY_SIZE(operator_flags); i++)
                if (strlen(operator_flags[i].name) == n && strncmp(operator_flags[i].name, name, n) == 0)
                        return &operator_flags[i];
        return NULL;
}

static void operator_flag_set_list(struct string_list *list, const char *value)
{
        _cleanup_free_ char *copy = mem_strdup(value);
        char *rest = copy, *word;
        while ((word = strsep(&rest, ","))) {
                word += strspn(word, " ");
                size_t n = strcspn(word, " ");
                if (n > 0)
                        string_list_take(list, mem_strndup(word, n));
        }
}

static int operator_flag_set(struct operator_conf *conf, const struct operator_flag *flag, const char *value,
                             struct fst_error *error)
{
        void *member = (char *)conf + flag->offset;
        char *end;
        switch (flag->type) {
        case FLAG_TEXT:
                free(*(char **)member);
                *(char **)member = mem_strdup(value);
                return 0;
        case FLAG_LIST:
                operator_flag_set_list(member, value);
                return 0;
        case FLAG_BOOL:
                if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
                        return error_set(error, -EINVAL, "--%s: '%s' is neither true nor false", flag->name, value);
                *(bool *)member = strcmp(value, "true") == 0;
                return 0;
        case FLAG_NUMBER:
                errno = 0;
                *(int64_t *)member = strtoll(value, &end, 10);
                if (!*value || *end || errno || *(int64_t *)member < 0 || *(int64_t *)member > INT32_MAX)
                        return error_set(error, -EINVAL, "--%s: '%s' is not a number from 0 to %d", flag->name, value,
                                         INT32_MAX);
                return 0;
        case FLAG_DURATION:
                if (go_duration_parse(value, member, error) < 0)
                        return error_wrap(error, -EINVAL, "--%s", flag->name);
                return *(int64_t *)member > 0
                               ? 0
                               : error_set(error, -EINVAL, "--%s: '%s' is not above 0", flag->name, value);
        default:
                string_list_add(&conf->ineffective, flag->name);
                return 0;
        }
}

static int operator_flag_unknown(const char *word, size_t n, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_strndup(word, n);
        const char *nearest = NULL;
        int best = edit_distance_limit(n);
        for (size_t i = 0; i < ARRAY_SIZE(operator_flags) && best > 0; i++) {
                const char *known = operator_flags[i].name;
                int distance = edit_distance(name, n, known, strlen(known), best);
                if (distance <= best) {
                        best = distance;
                        nearest = known;
                }
        }
        return error_set(error, -EINVAL, "unknown flag --%s%s%s%s", name, nearest ? "; did you mean --" : "",
                         nearest ? nearest : "", nearest ? "?" : "");
}

/* "PartialRestart=true,LoadSparkDefaults=false" */
static int operator_conf_read_gates(struct operator_conf *conf, struct fst_error *error)
{
        struct string_list gates = {0};
        int r = 0;
        operator_flag_set_list(&gates, conf->feature_gates);
        for (size_t i = 0; i < gates.len && r == 0; i++) {
                const char *gate = gates.data[i];
                bool on = text_ends_with(gate, "=true");
                if (!on && !text_ends_with(gate, "=false"))
                        r = error_set(error, -EINVAL, "--feature-gates: '%s' is not NAME=true or NAME=false", gate);
                else if (text_starts_with(gate, "PartialRestart="))
                        conf->partial_restart = on;
                else if (text_starts_with(gate, "LoadSparkDefaults="))
                        conf->load_spark_defaults = on;
                else if (on)
                        string_list_add(&conf->ineffective, gate);
        }
        string_list_deinit(&gates);
        return r;
}

/* Whether @text is "LABEL=VALUE", or several of these with commas between them, as the genuine operator demands. */
static bool operator_selector_is_valid(const char *text)
{
        for (;;) {
                size_t label = strcspn(text, "=,"), value = text[label] == '=' ? strcspn(text + label + 1, "=,") : 0;
                if (label == 0 || value == 0)
                        return false;
                text += label + 1 + value;
                if (*text != ',')
                        return *text == '\0';
                text++;
        }
}

static int operator_conf_check(struct operator_conf *conf, struct fst_error *error)
{
        size_t i = 0;
        while (i < ARRAY_SIZE(precision_names) && strcmp(precision_names[i], conf->precision_name) != 0)
                i++;
        if (i == ARRAY_SIZE(precision_names))
                return error_set(error, -EINVAL,
                                 "--scheduled-spark-application-timestamp-precision: '%s' is none of nanos, micros, "
                                 "millis, seconds, minutes",
                                 conf->precision_name);
        conf->precision = (enum schedule_precision)i;
        i = 0;
        while (i < ARRAY_SIZE(log_names) && strcmp(log_names[i].name, conf->log_level_name) != 0)
                i++;
        if (i == ARRAY_SIZE(log_names))
                return error_set(error, -EINVAL, "--zap-log-level: '%s' is none of debug, info, error",
                                 conf->log_level_name);
        conf->log_level = log_names[i].level;
        if (strcmp(conf->log_encoder, "console") != 0 && strcmp(conf->log_encoder, "json") != 0)
                return error_set(error, -EINVAL, "--zap-encoder: '%s' is neither console nor json", conf->log_encoder);
        if (conf->renew_deadline >= conf->lease_duration)
                return error_set(error, -EINVAL,
                                 "--leader-election-renew-deadline must be less than "
                                 "--leader-election-lease-duration");
        if (conf->retry_period >= conf->renew_deadline)
                return error_set(error, -EINVAL,
                                 "--leader-election-retry-period must be less than "
                                 "--leader-election-renew-deadline");
        if (*conf->namespace_selector && !operator_selector_is_valid(conf->namespace_selector))
                return error_set(error, -EINVAL,
                                 "--namespace-selector: '%s' is not of the form LABEL=VALUE,LABEL=VALUE",
                                 conf->namespace_selector);
        if (*conf->namespace_selector && conf->namespaces.len > 0)
                return error_set(error, -EINVAL,
                                 "--namespaces and --namespace-selector exclude each other: give one of them");
        if (conf->namespaces.len == 1 && strcmp(conf->namespaces.data[0], "*") == 0)
                string_list_deinit(&conf->namespaces);
        return operator_conf_read_gates(conf, error);
}

int operator_conf_read(struct operator_conf *out, int argc, char **argv, struct fst_error *error)
{
        int r = 0;
        *out = (struct operator_conf){0};
        for (size_t i = 0; i < ARRAY_SIZE(operator_flags); i++)
                if (operator_flags[i].type < FLAG_INEFFECTIVE && operator_flags[i].type != FLAG_LIST)
                        operator_flag_set(out, &operator_flags[i],
                                          operator_flags[i].fallback ? operator_flags[i].fallback : "", NULL);
        for (int i = 1; i < argc && r == 0; i++) {
                const char *word = argv[i];
                if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
                        return OPERATOR_CONF_E_HELP;
                if (!text_starts_with(word, "--"))
                        return error_set(error, -EINVAL, "'%s' is not a flag", word);
                word += 2;
                size_t n = strcspn(word, "=");
                const struct operator_flag *flag = operator_flag_find(word, n);
                if (!flag)
                        return operator_flag_unknown(word, n, error);
                const char *value = word[n] ? word + n + 1 : NULL;
                if (!value && (flag->type == FLAG_BOOL || flag->type == FLAG_INEFFECTIVE_BOOL))
                        value = "true";
                else if (!value && i + 1 < argc)
                        value = argv[++i];
                if (!value)
                        return error_set(error, -EINVAL, "--%s needs a value", flag->name);
                if (text_starts_with(flag->name, "webhook-") || strcmp(flag->name, "validating-webhook-name") == 0)
                        out->webhook_flag = flag->name;
                r = operator_flag_set(out, flag, value, error);
        }
        return r < 0 ? r : operator_conf_check(out, error);
}

void operator_conf_deinit(struct operator_conf *conf)
{
        for (size_t i = 0; i < ARRAY_SIZE(operator_flags); i++) {
                void *member = (char *)conf + operator_flags[i].offset;
                if (operator_flags[i].type == FLAG_TEXT)
                        free(*(char **)member);
                else if (operator_flags[i].type == FLAG_LIST)
                        string_list_deinit(member);
        }
        string_list_deinit(&conf->ineffective);
        *conf = (struct operator_conf){0};
}
