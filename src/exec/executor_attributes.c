/* See executor_attributes.h. */
#include "exec/executor_attributes.h"

#include "base/mem.h"
#include "base/strmap.h"

#include <ctype.h>

static void collect_attributes(char *const *environment, const char *prefix, int (*with_case)(int),
                               struct executor_attributes *labels)
{
        size_t n = 0, prefix_len = strlen(prefix);
        while (environment[n])
                n++;
        *labels = (struct executor_attributes){.list = new_array(Firesteel__Property *, n + 1)};
        for (size_t i = 0; i < n; i++) {
                const char *name = environment[i] + prefix_len;
                const char *equals = strncmp(environment[i], prefix, prefix_len) == 0 ? strchr(name, '=') : NULL;
                if (!equals || equals == name)
                        continue;
                Firesteel__Property *p = mem_alloc(sizeof(*p));
                firesteel__property__init(p);
                p->key = mem_strndup(name, (size_t)(equals - name));
                for (char *c = p->key; *c; c++)
                        *c = (char)with_case((unsigned char)*c);
                p->value = mem_strdup(equals + 1);
                labels->list[labels->n++] = p;
        }
}

void executor_log_urls(char *const *environment, struct executor_attributes *urls)
{
        collect_attributes(environment, "SPARK_LOG_URL_", tolower, urls);
}

void executor_attributes_read(char *const *environment, struct executor_attributes *attributes)
{
        collect_attributes(environment, "SPARK_EXECUTOR_ATTRIBUTE_", toupper, attributes);
}

void executor_attributes_deinit(struct executor_attributes *labels)
{
        for (size_t i = 0; i < labels->n; i++) {
                free(labels->list[i]->key);
                free(labels->list[i]->value);
                free(labels->list[i]);
        }
        free(labels->list);
        *labels = (struct executor_attributes){0};
}

void driver_links_read(char *const *environment, struct strmap *urls, struct strmap *attributes)
{
        struct executor_attributes found[2];
        struct strmap *const maps[] = {urls, attributes};
        collect_attributes(environment, "SPARK_DRIVER_LOG_URL_", tolower, &found[0]);
        collect_attributes(environment, "SPARK_DRIVER_ATTRIBUTE_", toupper, &found[1]);
        for (size_t i = 0; i < ARRAY_SIZE(found); i++) {
                for (size_t k = 0; k < found[i].n; k++)
                        strmap_set(maps[i], found[i].list[k]->key, found[i].list[k]->value);
                executor_attributes_deinit(&found[i]);
        }
}
