/*
 * Settings of Mesos tasks as users write them, a line each: constraints, labels, volumes, port mappings, parameters,
 * secrets. Whatever parses, holds what its type promises.
 */
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "mesos/offers/mesos_constraints.h"
#include "mesos/tasks/task_parts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const keys[] = {
        "spark.mesos.task.labels",
        "spark.mesos.network.labels",
        "spark.mesos.executor.docker.volumes",
        "spark.mesos.executor.docker.portmaps",
        "spark.mesos.executor.docker.parameters",
        "spark.mesos.executor.secret.values",
        "spark.mesos.executor.secret.envkeys",
        "spark.mesos.executor.secret.filenames",
        "spark.mesos.uris",
        "spark.executor.uri",
};

static const char *no_environment(const char *name)
{
        return NULL;
}

static void fuzz_constraints(const char *text)
{
        static const char *const items[] = {"a", "b"};
        static const struct mesos_range range = {1, 5};
        static const struct mesos_attribute attributes[] = {
                {.name = "os", .type = MESOS_VALUE_TEXT, .text = "debian"},
                {.name = "n", .type = MESOS_VALUE_SCALAR, .scalar = 2},
                {.name = "set", .type = MESOS_VALUE_SET, .items = items, .n_items = 2},
                {.name = "ports", .type = MESOS_VALUE_RANGES, .ranges = &range, .n_ranges = 1},
        };
        struct mesos_constraints c;

        if (mesos_constraints_parse(&c, text, NULL) < 0)
                return;
        if (mesos_constraints_match(&c, NULL, 0) != (c.len == 0))
                abort(); /* each constraint needs its attribute */
        mesos_constraints_match(&c, attributes, ARRAY_SIZE(attributes));
        mesos_constraints_deinit(&c);
}

static void fuzz_parts(const struct fst_conf *conf)
{
        struct task_parts p;

        if (task_parts_read(&p, conf, TASK_OF_EXECUTOR, no_environment, NULL) < 0)
                return;
        for (size_t i = 0; i < p.labels->n_labels; i++)
                if (!p.labels->labels[i]->key || !p.labels->labels[i]->value)
                        abort();
        for (size_t i = 0; i < p.container->n_volumes; i++)
                if (!p.container->volumes[i]->container_path)
                        abort();
        for (size_t i = 0; i < p.container->docker->n_port_mappings; i++)
                if (p.container->docker->port_mappings[i]->host_port > 65535)
                        abort();
        task_parts_deinit(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_conf conf;
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        char *line = text;

        conf_init(&conf);
        conf_set(&conf, "spark.mesos.executor.docker.image", "image");
        conf_set(&conf, "spark.mesos.network.name", "network");
        fuzz_constraints(text);
        for (size_t i = 0; i < ARRAY_SIZE(keys) && line; i++) {
                char *end = strchr(line, '\n');
                if (end)
                        *end++ = 0;
                if (*line)
                        conf_set(&conf, keys[i], line);
                line = end;
        }
        fuzz_parts(&conf);
        conf_deinit(&conf);
        return 0;
}
