/*
 * The flags of the operator: those of the genuine one's `controller start` and `webhook start`, with its defaults.
 *
 *      struct operator_conf conf;
 *      r = operator_conf_read(&conf, argc, argv, &error);
 *      operator_conf_deinit(&conf);
 */
#pragma once

#include "base/log.h"
#include "base/string_list.h"
#include "operator/schedule/schedule_core.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

/* Texts are owned. Durations are ns. */
struct operator_conf {
        struct string_list namespaces;      /* empty: all */
        struct string_list kube_schedulers; /* names of kube-scheduler with the coscheduling plugin */
        struct string_list metrics_labels;
        char *namespace_selector, *kubeconfig;
        int64_t controller_threads; /* the number of objects that are worked on at the same time; 0: 64 */
        int64_t max_tracked_executors, default_time_to_live_s;
        bool enable_ui_service, enable_batch_scheduler, enable_driver_pdb;
        bool apache_applications; /* SparkApplications of spark.apache.org, too */
        char *default_batch_scheduler;
        char *ingress_class, *ingress_url_format, *ingress_tls, *ingress_annotations;
        bool leader_election;
        char *lock_name, *lock_namespace;
        int64_t lease_duration, renew_deadline, retry_period;
        int64_t queue_rate, queue_burst, queue_most_pause;
        bool enable_metrics;
        char *metrics_address, *metrics_endpoint, *metrics_prefix;
        char *start_buckets, *submit_buckets;
        char *health_address;
        int64_t sync_timeout, driver_creation_grace;
        char *feature_gates, *precision_name;
        bool partial_restart, load_spark_defaults;
        enum schedule_precision precision;
        char *log_level_name, *log_encoder; /* "info"; "console" or "json" */
        enum log_level log_level;
        int64_t webhook_port;
        char *webhook_secret, *webhook_secret_namespace, *webhook_service, *webhook_service_namespace;
        char *webhook_configuration;
        bool enforce_quotas;
        const char *webhook_flag; /* one that was given and belongs to `webhook start`; NULL: none */
        struct string_list ineffective; /* flags that were given and do nothing here */
};

#define OPERATOR_CONF_E_HELP 1

/*
 * Reads @argv[1] on. Returns 0, OPERATOR_CONF_E_HELP for --help, or -EINVAL with @error for an unknown flag or an
 * invalid value. Deinit @out in either case.
 */
int operator_conf_read(struct operator_conf *out, int argc, char **argv, struct fst_error *error);
void operator_conf_deinit(struct operator_conf *conf);
