/*
 * Members of Spark's sessions. A session is a view of the context with settings of its own, which hide the context's
 * and have no other effect: only SQL would read them.
 */
#include "sparkr/r_calls.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "driver/context.h"

#define SQL_UTILS "org.apache.spark.sql.api.r.SQLUtils"

/* Adds the environment at @i to the settings of the session. */
static int session_set_map(struct r_call *call, size_t i)
{
        const struct r_value *map = &call->arguments[i];
        if (map->type != R_MAP)
                return r_call_refuse(call, "argument %zu of %s is not an environment", i + 1, call->member);
        for (size_t k = 0; k < map->list.n; k += 2) {
                _cleanup_free_ char *value = r_value_text(&map->list.items[k + 1]);
                if (!value)
                        return r_call_refuse(call, "the value of %s is not a string or a number",
                                             map->list.items[k].bytes.data);
                pthread_mutex_lock(&call->world->lock);
                strmap_set(&call->world->session, map->list.items[k].bytes.data, value);
                pthread_mutex_unlock(&call->world->lock);
        }
        return 0;
}

/* getOrCreateSparkSession(context, settings, with Hive) */
static int session_create(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                r = session_set_map(call, 1);
        return r ? r : r_call_give(call, r_object_new(R_CLASS_SESSION));
}

static int session_context(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        return r ? r : r_call_give(call, r_object_new(R_CLASS_JAVA_CONTEXT));
}

/* setSparkContextSessionConf(session, settings): a context that runs keeps its own. */
static int session_set_conf(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        return r ? r : session_set_map(call, 1);
}

static int session_get_conf(struct r_call *call)
{
        struct strmap all = STRMAP_INIT;
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r)
                return r;
        strmap_merge(&all, &sc->conf->set);
        pthread_mutex_lock(&call->world->lock);
        strmap_merge(&all, &call->world->session);
        pthread_mutex_unlock(&call->world->lock);
        struct r_values map = {arena_alloc(call->arena, (2 * all.count + 1) * sizeof(*map.items)), 0};
        for (struct strmap_entry *e = NULL; (e = strmap_next(&all, e));) {
                map.items[map.n++] = r_value_string(call->arena, e->key);
                map.items[map.n++] = r_value_string(call->arena, e->value);
        }
        strmap_deinit(&all);
        call->result = (struct r_value){.type = R_MAP, .list = map};
        return 0;
}

static int session_conf(struct r_call *call)
{
        return r_call_give(call, r_object_new(R_CLASS_SESSION_CONF));
}

/* get(key), get(key, otherwise) */
static int session_conf_get(struct r_call *call)
{
        const char *key, *otherwise;
        fst_context *sc;
        int r = r_call_setting(call, &key, &otherwise, &sc);
        if (r)
                return r;
        pthread_mutex_lock(&call->world->lock);
        const char *value = strmap_get(&call->world->session, key);
        if (value)
                r_call_give_text(call, value);
        pthread_mutex_unlock(&call->world->lock);
        if (!value)
                value = conf_get_raw(sc->conf, key);
        if (value || call->n == 2)
                return call->result.type == R_STRING ? 0 : r_call_give_text(call, value ? value : otherwise);
        if (text_starts_with(key, "spark.sql.")) /* has a default in Spark, which DataFrames ask for first */
                return r_call_refuse_sql(call, key);
        call->exception = "java.util.NoSuchElementException";
        return error_set(&call->error, -ENOENT, "[SQL_CONF_NOT_FOUND] The SQL config \"%s\" cannot be found", key);
}

const struct r_member r_session_members[] = {
        {.class_name = SQL_UTILS, .name = "getOrCreateSparkSession", .least = 3, .most = 3, .call = session_create},
        {.class_name = SQL_UTILS, .name = "getJavaSparkContext", .least = 1, .most = 1, .call = session_context},
        {.class_name = SQL_UTILS,
         .name = "setSparkContextSessionConf",
         .least = 2,
         .most = 2,
         .call = session_set_conf},
        {.class_name = SQL_UTILS, .name = "getSessionConf", .least = 1, .most = 1, .call = session_get_conf},
        {.class = R_CLASS_SESSION, .name = "version", .call = r_context_version},
        {.class = R_CLASS_SESSION, .name = "sparkContext", .call = session_context},
        {.class = R_CLASS_SESSION, .name = "conf", .call = session_conf},
        {.class = R_CLASS_SESSION, .name = "stop", .call = r_context_stop},
        {.class = R_CLASS_SESSION_CONF, .name = "get", .least = 1, .most = 2, .call = session_conf_get},
        {0},
};
