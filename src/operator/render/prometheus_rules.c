/*
 * See prometheus_rules.h.
 *
 * Spark names an MBean "NAMESPACE.APPLICATION.PROCESS.SOURCE.METRIC" because spark.metrics.namespace is
 * "NAMESPACE.APPLICATION". The first two capturing groups of each rule are these.
 */
#include "operator/render/prometheus_rules.h"

#include "base/buf.h"
#include "base/mem.h"

const char prometheus_metrics_properties[] = "*.sink.jmx.class=org.apache.spark.metrics.sink.JmxSink\n"
                                             "driver.source.jvm.class=org.apache.spark.metrics.source.JvmSource\n"
                                             "executor.source.jvm.class=org.apache.spark.metrics.source.JvmSource\n";

#define REST "(.*)"
#define WORD "(\\S+)"

/* In order: the first rule that matches names the metric. */
static const struct {
        const char *source;    /* the part of the name after the application */
        const char *attribute; /* "Value" is a gauge, "Count" a counter */
        const char *name;
        const char *third; /* the label of the third group, or NULL */
} rules[] = {
        {"driver\\.(BlockManager|DAGScheduler|jvm)\\." WORD, "Value", "spark_driver_$3_$4", NULL},
        {"driver\\." WORD "\\.StreamingMetrics\\.streaming\\." WORD, "Value", "spark_streaming_driver_$4", NULL},
        {"driver\\.spark\\.streaming\\." WORD "\\." REST, "Value", "spark_structured_streaming_driver_$4",
         "query_name"},
        {WORD "\\.executor\\." WORD, "Value", "spark_executor_$4", "executor_id"},
        {"driver\\.(DAGScheduler|HiveExternalCatalog|CodeGenerator|LiveListenerBus)\\." REST, "Count",
         "spark_driver_$3_$4_count", NULL},
        {"driver\\.LiveListenerBus\\." REST, "Value", "spark_driver_LiveListenerBus_$3", NULL},
        {REST "\\.executor\\." REST, "Count", "spark_executor_$4_count", "executor_id"},
        {"([0-9]+)\\.(jvm|NettyBlockTransfer)\\." REST, "Value", "spark_executor_$4_$5", "executor_id"},
        {"([0-9]+)\\.(HiveExternalCatalog|CodeGenerator)\\." REST, "Count", "spark_executor_$4_$5_count",
         "executor_id"},
};

char *prometheus_rules_make(void)
{
        struct buf out = BUF_INIT;
        buf_puts(&out, "lowercaseOutputName: true\nattrNameSnakeCase: true\nrules:\n");
        for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
                buf_printf(&out,
                           "- pattern: 'metrics<name=" WORD "\\." WORD "\\.%s><>%s'\n"
                           "  name: %s\n"
                           "  type: %s\n"
                           "  labels:\n"
                           "    app_namespace: \"$1\"\n"
                           "    app_id: \"$2\"\n",
                           rules[i].source, rules[i].attribute, rules[i].name,
                           strcmp(rules[i].attribute, "Value") == 0 ? "GAUGE" : "COUNTER");
                if (rules[i].third)
                        buf_printf(&out, "    %s: \"$3\"\n", rules[i].third);
        }
        return buf_steal(&out);
}
