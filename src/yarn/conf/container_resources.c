/* See container_resources.h. */
#include "yarn/conf/container_resources.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AMOUNT_SUFFIX ".amount"

void container_resources_deinit(struct container_resources *resources)
{
        for (size_t i = 0; i < resources->list.len; i++) {
                free(resources->list.data[i].name);
                free(resources->list.data[i].units);
        }
        vec_deinit(&resources->list);
}

/* Hadoop's units are powers of 1000 with upper-case letters; Spark allows g, t and p, too. */
static const char *container_units(const char *units)
{
        return strcmp(units, "g") == 0 ? "G" : strcmp(units, "t") == 0 ? "T" : strcmp(units, "p") == 0 ? "P" : units;
}

/* Takes @name. A resource that is there already is replaced. */
static void container_resources_put(struct container_resources *out, char *name, int64_t amount, const char *units)
{
        for (size_t i = 0; i < out->list.len; i++) {
                struct container_resource *r = &out->list.data[i];
                if (strcmp(r->name, name) != 0)
                        continue;
                free(name);
                free(r->units);
                r->amount = amount;
                r->units = mem_strdup(container_units(units));
                return;
        }
        vec_push(&out->list, (struct container_resource){
                                     .name = name, .amount = amount, .units = mem_strdup(container_units(units))});
}

/* "5", "5G". Spark names the part of the key behind the prefix. */
static int container_amount_parse(const char *key, const char *text, int64_t *amount, const char **units,
                                  struct fst_error *error)
{
        char *end = (char *)text;
        errno = 0;
        *amount = isdigit((unsigned char)*text) ? strtoll(text, &end, 10) : 0;
        *units = end;
        for (const char *p = end; end != text && isalpha((unsigned char)*p); p++)
                end = (char *)p + 1;
        if (end == text || *end || errno)
                return error_set(error, -EINVAL,
                                 "Resource request for '%s' ('%s') does not match pattern ([0-9]+)([A-Za-z]*).", key,
                                 text);
        return 0;
}

/* Adds a line to @out if @key, or its amount, is set, but @better should be. */
static void container_resource_refuse(const struct fst_conf *conf, const char *key, const char *better, struct buf *out)
{
        _cleanup_free_ char *amount = mem_printf("%s" AMOUNT_SUFFIX, key);
        const char *const keys[] = {key, amount};
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
                if (conf_contains(conf, keys[i]))
                        buf_printf(out, "Error: Do not use %s, please use %s instead!\n", keys[i], better);
}

/* Whether a key of the container resources of any role is set: most applications set none. */
static bool container_resources_any(const struct fst_conf *conf)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                const char *rest = text_starts_with(e->key, "spark.yarn.") ? e->key + strlen("spark.yarn.") : "";
                if (text_starts_with(rest, "am.resource.") || text_starts_with(rest, "driver.resource.") ||
                    text_starts_with(rest, "executor.resource."))
                        return true;
        }
        return false;
}

int container_resources_check(const struct fst_conf *conf, struct fst_error *error)
{
        static const char *const memory[] = {"memory", "mb", "memory-mb"}, *const cores[] = {"cores", "vcores",
                                                                                             "cpu-vcores"};
        static const struct {
                const char *prefix, *memory, *cores;
        } roles[] = {
                {"spark.yarn.am.resource.", "spark.yarn.am.memory", "spark.yarn.am.cores"},
                {"spark.yarn.driver.resource.", "spark.driver.memory", "spark.driver.cores"},
                {"spark.yarn.executor.resource.", "spark.executor.memory", "spark.executor.cores"},
        };
        static const struct {
                const char *type_key, *prefix, *better;
        } types[] = {
                {"spark.yarn.resourceFpgaDeviceName", "spark.yarn.executor.resource.",
                 "spark.executor.resource.fpga.amount"},
                {"spark.yarn.resourceFpgaDeviceName", "spark.yarn.driver.resource.",
                 "spark.driver.resource.fpga.amount"},
                {"spark.yarn.resourceGpuDeviceName", "spark.yarn.executor.resource.",
                 "spark.executor.resource.gpu.amount"},
                {"spark.yarn.resourceGpuDeviceName", "spark.yarn.driver.resource.", "spark.driver.resource.gpu.amount"},
        };
        _cleanup_(buf_deinit) struct buf message = BUF_INIT;
        if (!container_resources_any(conf))
                return 0;
        for (size_t kind = 0; kind < 6; kind++)
                for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
                        _cleanup_free_ char *key =
                                mem_printf("%s%s", roles[i].prefix, kind < 3 ? memory[kind] : cores[kind - 3]);
                        container_resource_refuse(conf, key, kind < 3 ? roles[i].memory : roles[i].cores, &message);
                }
        for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
                _cleanup_free_ char *key = mem_printf("%s%s", types[i].prefix, conf_get_value(conf, types[i].type_key));
                container_resource_refuse(conf, key, types[i].better, &message);
        }
        return message.len ? error_set(error, -EINVAL, "%s", buf_text(&message)) : 0;
}

/* The part of @key, which follows @prefix, before ".amount"; owned by the caller. NULL with @error if it has none. */
static char *container_resource_name(const char *key, const char *prefix, struct fst_error *error)
{
        const char *rest = key + strlen(prefix), *dot = strrchr(rest, '.');
        if (dot && strcmp(dot, AMOUNT_SUFFIX) == 0)
                return mem_strndup(rest, (size_t)(dot - rest));
        if (dot)
                error_set(error, -EINVAL, "Unsupported suffix: %s in: %s, only .amount is supported.", dot + 1, key);
        else
                error_set(error, -EINVAL,
                          "Missing suffix for %s, you must specify a suffix - amount is currently the only supported "
                          "suffix.",
                          key);
        return NULL;
}

static int container_resources_read_own(const struct fst_conf *conf, const char *role, struct container_resources *out,
                                        struct fst_error *error)
{
        _cleanup_free_ char *prefix = mem_printf("spark.yarn.%s.resource.", role);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                int64_t amount;
                const char *units;
                if (!text_starts_with(e->key, prefix))
                        continue;
                _cleanup_free_ char *name = container_resource_name(e->key, prefix, error);
                if (!name)
                        return -EINVAL;
                const int r = container_amount_parse(name, e->value, &amount, &units, error);
                if (r < 0)
                        return r;
                container_resources_put(out, steal(name), amount, units);
        }
        return 0;
}

int container_resources_read(const struct fst_conf *conf, const char *role, const char *spark_prefix,
                             struct container_resources *out, struct fst_error *error)
{
        static const struct {
                const char *name, *key;
        } devices[] = {{"gpu", "spark.yarn.resourceGpuDeviceName"}, {"fpga", "spark.yarn.resourceFpgaDeviceName"}};
        int r = container_resources_read_own(conf, role, out, error);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(devices); i++) {
                _cleanup_free_ char *key = mem_printf("%s%s.amount", spark_prefix, devices[i].name);
                _cleanup_free_ char *name = NULL;
                int64_t amount;
                const char *units, *text = conf_get_raw(conf, key);
                if (!text)
                        continue;
                r = conf_get_string(conf, devices[i].key, &name, error);
                r = r < 0 ? r : container_amount_parse(key, text, &amount, &units, error);
                if (r < 0 || *units) /* a number in Java's words */
                        return error_set(error, -EINVAL, "For input string: \"%s\"", text);
                if (amount > 0)
                        container_resources_put(out, steal(name), amount, units);
        }
        return r;
}
