/* Any lines of metrics.properties give each instance named sinks, and each sink a period of a second or more. */
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/properties.h"
#include "metrics/metrics_conf.h"

#include <inttypes.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parts(const metrics_part_list *list)
{
        for (size_t i = 0; i < list->len; i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                int64_t ms = 0;
                int r = metrics_conf_period(&list->data[i], &ms, &error);
                if (!*list->data[i].name || !list->data[i].options.count)
                        abort();
                if (r == 0 ? ms < 1000 : r != -EINVAL || !*error_message(&error))
                        abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const instances[] = {"driver", "executor", "master", "applications", "worker", "", "*"};
        _cleanup_(strmap_deinit) struct strmap lines = STRMAP_INIT;
        struct fst_conf conf;
        if (properties_parse(&lines, "fuzz", (const char *)data, size, NULL) < 0)
                return 0;
        conf_init(&conf);
        for (const struct strmap_entry *e = NULL; (e = strmap_next(&lines, e));) {
                _cleanup_free_ char *key = mem_printf("spark.metrics.conf.%s", e->key);
                conf_set(&conf, key, e->value);
        }
        for (size_t i = 0; i < ARRAY_SIZE(instances); i++) {
                struct metrics_conf m;
                metrics_conf_read(&m, instances[i], &conf, NULL);
                check_parts(&m.sinks);
                check_parts(&m.sources);
                metrics_conf_deinit(&m);
        }
        conf_deinit(&conf);
        return 0;
}
