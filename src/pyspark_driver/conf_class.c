/* org.apache.spark.SparkConf: settings by key, in the order in which they were set. */
#include "pyspark_driver/classes.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/redact.h"
#include "py4j/collections.h"

struct conf_object {
        struct py4j_object object;
        pthread_mutex_t lock;
        struct strmap set;
};

static struct conf_object *conf_object_of(const struct py4j_object *object)
{
        return (struct conf_object *)object;
}

struct py4j_object *conf_object_new(const struct strmap *settings)
{
        struct conf_object *conf = new0(struct conf_object);
        py4j_object_init(&conf->object, &conf_class);
        pthread_mutex_init(&conf->lock, NULL);
        strmap_merge(&conf->set, settings);
        return &conf->object;
}

void conf_object_read(struct py4j_object *object, struct strmap *out)
{
        struct conf_object *conf = conf_object_of(object);
        pthread_mutex_lock(&conf->lock);
        strmap_merge(out, &conf->set);
        pthread_mutex_unlock(&conf->lock);
}

static void conf_object_free(struct py4j_object *object)
{
        struct conf_object *conf = conf_object_of(object);
        strmap_deinit(&conf->set);
        pthread_mutex_destroy(&conf->lock);
        free(conf);
}

/* With defaults: the settings of spark-submit and the system properties of Spark. */
static void conf_construct(struct py4j_call *call)
{
        struct strmap settings = STRMAP_INIT;
        if (call->n == 0 || call->args[0].yes) {
                struct pyspark *p = pyspark_of(call);
                if (conf_prepared())
                        strmap_merge(&settings, &conf_prepared()->set);
                pthread_mutex_lock(&p->lock);
                for (struct strmap_entry *e = NULL; (e = strmap_next(&p->properties, e));)
                        if (text_starts_with(e->key, "spark."))
                                strmap_set(&settings, e->key, e->value);
                pthread_mutex_unlock(&p->lock);
        }
        call->result = py4j_object_value(conf_object_new(&settings));
        strmap_deinit(&settings);
}

static void conf_return_self(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(call->self));
}

static void conf_set_one(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        pthread_mutex_lock(&conf->lock);
        strmap_set(&conf->set, call->args[0].text, call->args[1].text);
        pthread_mutex_unlock(&conf->lock);
        conf_return_self(call);
}

static void conf_set_key(struct py4j_call *call, const char *key)
{
        struct conf_object *conf = conf_object_of(call->self);
        pthread_mutex_lock(&conf->lock);
        strmap_set(&conf->set, key, call->args[0].text);
        pthread_mutex_unlock(&conf->lock);
        conf_return_self(call);
}

static void conf_set_master(struct py4j_call *call)
{
        conf_set_key(call, "spark.master");
}

static void conf_set_app_name(struct py4j_call *call)
{
        conf_set_key(call, "spark.app.name");
}

static void conf_set_executor_env(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        _cleanup_free_ char *key = mem_printf("spark.executorEnv.%s", call->args[0].text);
        pthread_mutex_lock(&conf->lock);
        strmap_set(&conf->set, key, call->args[1].text);
        pthread_mutex_unlock(&conf->lock);
        conf_return_self(call);
}

static void conf_set_missing(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        pthread_mutex_lock(&conf->lock);
        strmap_set_if_missing(&conf->set, call->args[0].text, call->args[1].text);
        pthread_mutex_unlock(&conf->lock);
        conf_return_self(call);
}

static void conf_remove(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        pthread_mutex_lock(&conf->lock);
        strmap_remove(&conf->set, call->args[0].text);
        pthread_mutex_unlock(&conf->lock);
        conf_return_self(call);
}

static void conf_contains_key(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        pthread_mutex_lock(&conf->lock);
        call->result = py4j_bool(strmap_get(&conf->set, call->args[0].text) != NULL);
        pthread_mutex_unlock(&conf->lock);
}

static void conf_get(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        pthread_mutex_lock(&conf->lock);
        const char *value = strmap_get(&conf->set, call->args[0].text);
        if (value)
                call->result = py4j_string(value);
        else if (call->n == 2)
                call->result = py4j_string(py4j_text_argument(call, 1));
        else
                py4j_throw(call, "java.util.NoSuchElementException", "%s", call->args[0].text);
        pthread_mutex_unlock(&conf->lock);
}

static void conf_get_all(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        struct py4j_object *array = py4j_array_new("scala.Tuple2", 0);
        pthread_mutex_lock(&conf->lock);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));)
                py4j_add(array, py4j_object_value(py4j_tuple_new(py4j_string(e->key), py4j_string(e->value))));
        pthread_mutex_unlock(&conf->lock);
        call->result = py4j_object_value(array);
}

static void conf_to_debug_string(struct py4j_call *call)
{
        struct conf_object *conf = conf_object_of(call->self);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct redactor redactor;
        pthread_mutex_lock(&conf->lock);
        redactor_init_lenient(&redactor, strmap_get(&conf->set, "spark.redaction.regex"));
        _cleanup_free_ struct strmap_entry **entries = strmap_sorted(&conf->set);
        for (size_t i = 0; i < conf->set.count; i++)
                buf_printf(&text, "%s%s=%s", i ? "\n" : "", entries[i]->key,
                           redactor_value(&redactor, entries[i]->key, entries[i]->value));
        redactor_deinit(&redactor);
        pthread_mutex_unlock(&conf->lock);
        call->result = py4j_string(buf_text(&text));
}

static const struct py4j_member conf_members[] = {
        {"", "", conf_construct, PY4J_CONSTRUCTOR},
        {"", "b", conf_construct, PY4J_CONSTRUCTOR},
        {"set", "ss", conf_set_one},
        {"setIfMissing", "ss", conf_set_missing},
        {"setMaster", "s", conf_set_master},
        {"setAppName", "s", conf_set_app_name},
        {"setExecutorEnv", "ss", conf_set_executor_env},
        {"remove", "s", conf_remove},
        {"contains", "s", conf_contains_key},
        {"get", "s", conf_get},
        {"get", "sS", conf_get},
        {"getAll", "", conf_get_all},
        {"toDebugString", "", conf_to_debug_string},
};

const struct py4j_class conf_class = {
        .name = "org.apache.spark.SparkConf", PY4J_MEMBERS(conf_members), .free = conf_object_free};
