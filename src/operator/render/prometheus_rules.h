/* The default files of monitoring.prometheus: metrics.properties, and the rules of the JMX exporter. */
#pragma once

/* The sinks and sources that export the metrics of driver and executors by JMX. */
extern const char prometheus_metrics_properties[];

/*
 * Returns the rules that name the metrics as the genuine operator's dashboards expect them:
 * "spark_driver_jvm_heap_used" and so on, with the labels app_namespace, app_id and executor_id. The caller owns the
 * text.
 */
char *prometheus_rules_make(void);
