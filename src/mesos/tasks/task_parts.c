/* See task_parts.h. */
#include "mesos/tasks/task_parts.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/conf_list.h"
#include "mesos/tasks/task_container.h"
#include "mesos/tasks/task_labels.h"
#include "mesos/tasks/task_secrets.h"

char *task_text(struct arena *arena, const char *text)
{
        return text ? arena_copy(arena, text, strlen(text)) : NULL;
}

Firesteel__Mesos__CommandInfo__URI *task_uri_new(struct arena *arena, const char *value, bool cache)
{
        Firesteel__Mesos__CommandInfo__URI *uri =
                mesos_message_new(arena, Firesteel__Mesos__CommandInfo__URI, firesteel__mesos__command_info__uri__init);
        uri->value = task_text(arena, value);
        uri->has_cache = true;
        uri->cache = cache;
        return uri;
}

Firesteel__Mesos__Environment__Variable *task_variable_new(struct arena *arena, const char *name, const char *value)
{
        Firesteel__Mesos__Environment__Variable *v = mesos_message_new(arena, Firesteel__Mesos__Environment__Variable,
                                                                       firesteel__mesos__environment__variable__init);
        v->name = task_text(arena, name);
        v->value = task_text(arena, value);
        return v;
}

void task_put_archive_directory(struct buf *out, const char *uri)
{
        const char *name = text_base_name(uri);
        buf_append(out, name, strcspn(name, "."));
        buf_putc(out, '*');
}

/* ------------------------------------------------------------------------------------------------------------- read */

static int parts_read_archive(struct task_parts *p, const struct fst_conf *conf, const char *(*env)(const char *name),
                              struct fst_error *error)
{
        _cleanup_free_ char *archive = NULL;
        const int r = conf_get_string(conf, "spark.executor.uri", &archive, error);
        if (r == 0)
                p->archive = task_text(&p->arena, archive ? archive : env("SPARK_EXECUTOR_URI"));
        return r;
}

static int parts_read_uris(struct task_parts *p, const struct fst_conf *conf, enum mesos_task_kind kind,
                           struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list uris = {0};
        int r = conf_get_bool(conf, "spark.mesos.fetcherCache.enable", &p->cache, error);
        if (r == 0)
                r = conf_list_read(conf, "spark.mesos.uris", &uris, error);
        if (r < 0)
                return r;
        p->uris = arena_alloc(&p->arena, (uris.len + 1) * sizeof(*p->uris));
        if (p->archive)
                p->uris[p->n_uris++] = task_uri_new(&p->arena, p->archive, p->cache);
        for (size_t i = 0; i < uris.len; i++)
                p->uris[p->n_uris++] = task_uri_new(&p->arena, uris.data[i], p->cache);
        /* As in Spark: fine-grained, no file is kept, and the archive does not even say so. */
        for (size_t i = 0; kind == TASK_OF_FINE_EXECUTOR && i < p->n_uris; i++) {
                p->uris[i]->has_cache = !(p->archive && i == 0);
                p->uris[i]->cache = false;
        }
        return 0;
}

static int parts_read_labels(struct task_parts *p, const struct fst_conf *conf, const char *key,
                             struct fst_error *error)
{
        _cleanup_free_ char *labels = NULL;
        int r = conf_get_string(conf, key, &labels, error);
        if (r == 0)
                r = task_labels_parse(&p->arena, labels, &p->labels, error);
        return r < 0 ? error_wrap(error, r, "%s", key) : 0;
}

static int parts_read_secrets(struct task_parts *p, const struct fst_conf *conf, bool of_driver,
                              struct fst_error *error)
{
        struct task_secrets secrets;
        const int r = task_secrets_read(&p->arena, conf, of_driver, &secrets, error);
        if (r < 0)
                return r;
        p->secrets = secrets.variables;
        p->n_secrets = secrets.n_variables;
        task_container_add_volumes(&p->arena, p->container, secrets.volumes, secrets.n_volumes);
        return 0;
}

int task_parts_read(struct task_parts *out, const struct fst_conf *conf, enum mesos_task_kind kind,
                    const char *(*env)(const char *name), struct fst_error *error)
{
        struct task_parts p = {.arena = ARENA_INIT};
        const bool driver = kind == TASK_OF_DRIVER;
        *out = p;
        int r = driver ? 0 : parts_read_archive(&p, conf, env, error);
        if (r == 0)
                r = parts_read_uris(&p, conf, kind, error);
        if (r == 0)
                r = task_container_read(&p.arena, conf, &p.container, error);
        if (r == 0 && kind != TASK_OF_FINE_EXECUTOR)
                r = parts_read_labels(&p, conf, driver ? "spark.mesos.driver.labels" : "spark.mesos.task.labels",
                                      error);
        if (r == 0 && kind != TASK_OF_FINE_EXECUTOR)
                r = parts_read_secrets(&p, conf, driver, error);
        if (r < 0)
                task_parts_deinit(&p);
        else
                *out = p;
        return r;
}

void task_parts_deinit(struct task_parts *parts)
{
        arena_deinit(&parts->arena);
        *parts = (struct task_parts){.arena = ARENA_INIT};
}
