/* Members of Spark's contexts, configurations and files. */
#include "sparkr/r_calls.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "driver/context.h"
#include "driver/events/driver_ui.h"
#include "process/failure_reason.h"
#include "store/disk_dirs.h"

#define JAVA_CONTEXT R_CLASS_JAVA_CONTEXT
#define CONTEXT R_CLASS_CONTEXT

#define LIBRARY_PATH "LD_LIBRARY_PATH"
#define OWN_LIBRARY_PATH "$LD_LIBRARY_PATH:"

/* ------------------------------------------------------------------------------------------------ configuration */

/* Sets @prefix and each name of an environment of R. */
static int conf_set_map(struct r_call *call, size_t i, const char *prefix, fst_conf *conf)
{
        const struct r_value *map = &call->arguments[i];
        if (map->type != R_MAP)
                return r_call_refuse(call, "argument %zu of %s is not an environment", i + 1, call->member);
        for (size_t k = 0; k < map->list.n; k += 2) {
                const char *name = map->list.items[k].bytes.data;
                _cleanup_free_ char *value = r_value_text(&map->list.items[k + 1]);
                _cleanup_free_ char *key = mem_printf("%s%s", prefix, name);
                const char *set = value;
                if (!value)
                        return r_call_refuse(call, "the value of %s is not a string or a number", name);
                /* SparkR adds to the executor's own path, which executors of Firesteel inherit. */
                if (strcmp(name, LIBRARY_PATH) == 0 && text_starts_with(value, OWN_LIBRARY_PATH))
                        set = value + strlen(OWN_LIBRARY_PATH);
                if (*set || !*value)
                        fst_conf_set(conf, key, set);
        }
        return 0;
}

static int context_set_up(struct r_call *call, fst_conf *conf)
{
        const char *master, *name;
        int r = r_call_text(call, 0, &master);
        if (r == 0)
                r = r_call_text(call, 1, &name);
        if (r)
                return r;
        fst_conf_set(conf, "spark.app.name", name);
        if (*master)
                fst_conf_set(conf, "spark.master", master);
        else if (!conf_contains(conf, "spark.master"))
                fst_conf_set(conf, "spark.master", "local");
        if (call->arguments[3].type == R_LIST || call->arguments[3].type == R_ARRAY)
                for (size_t i = 0; i < call->arguments[3].list.n; i++)
                        log_warn("RRDD", "jars have no effect: Firesteel has no JVM");
        r = conf_set_map(call, 4, "", conf);
        return r ? r : conf_set_map(call, 5, "spark.executorEnv.", conf);
}

/* createSparkContext(master, name, home, jars, settings, variables of executors) */
static int context_create(struct r_call *call)
{
        struct r_world *world = call->world;
        pthread_mutex_lock(&world->lock);
        int r = 0;
        if (!world->sc) {
                fst_conf *conf = fst_conf_new();
                r = context_set_up(call, conf);
                if (r) {
                        fst_conf_free(conf);
                } else {
                        fst_context *sc = fst_context_new_conf(conf);
                        r = sc->status;
                        if (r)
                                error_set(&call->error, r, "%s", error_message(&sc->error));
                        if (r)
                                fst_context_stop(sc);
                        else
                                world->sc = sc;
                }
        }
        pthread_mutex_unlock(&world->lock);
        return r ? r : r_call_give(call, r_object_new(JAVA_CONTEXT));
}

int r_context_stop(struct r_call *call)
{
        struct r_world *world = call->world;
        pthread_mutex_lock(&world->lock);
        fst_context *sc = steal(world->sc);
        strmap_deinit(&world->session);
        pthread_mutex_unlock(&world->lock);
        if (sc) {
                r_objects_forget_rdds(&world->objects);
                fst_context_stop(sc);
        }
        return 0;
}

static int context_get_conf(struct r_call *call)
{
        return r_call_give(call, r_object_new(R_CLASS_CONF));
}

static int context_of_java(struct r_call *call)
{
        return r_call_give(call, r_object_new(CONTEXT));
}

static int conf_get_setting(struct r_call *call)
{
        const char *key, *otherwise;
        fst_context *sc;
        int r = r_call_setting(call, &key, &otherwise, &sc);
        if (r)
                return r;
        const char *value = call->n == 2 ? conf_get_raw(sc->conf, key) : fst_context_conf(sc, key);
        if (value || call->n == 2)
                return r_call_give_text(call, value ? value : otherwise);
        call->exception = "java.util.NoSuchElementException";
        return error_set(&call->error, -ENOENT, "%s", key);
}

int r_context_version(struct r_call *call)
{
        return r_call_give_text(call, call->world->version);
}

/* ---------------------------------------------------------------------------------------------------- properties */

static int context_default_parallelism(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                call->result = r_value_int(fst_context_default_parallelism(sc));
        return r;
}

static int context_default_min_partitions(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                call->result = r_value_int(fst_context_default_min_partitions(sc));
        return r;
}

static int context_application_id(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        return r ? r : r_call_give_text(call, fst_context_app_id(sc));
}

static int context_app_name(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        return r ? r : r_call_give_text(call, sc->app_name);
}

static int context_master(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        return r ? r : r_call_give_text(call, fst_context_conf(sc, "spark.master"));
}

static int context_ui(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r)
                return r;
        struct r_object *option = r_object_new(R_CLASS_OPTION);
        option->text = mem_strdup_if(driver_ui_address(sc->ui));
        return r_call_give(call, option);
}

static int context_set_log_level(struct r_call *call)
{
        const char *level;
        fst_context *sc;
        int r = r_call_text(call, 0, &level);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r == 0 && fst_context_set_log_level(sc, level) != 0)
                r = r_call_refuse(call,
                                  "Supplied level %s did not match one of: ALL, DEBUG, ERROR, FATAL, INFO, OFF, "
                                  "TRACE, WARN",
                                  level);
        return r;
}

/* Answers NULL: R functions are not found in a conda environment of the driver. */
static int context_no_value(struct r_call *call)
{
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- job groups */

static int context_set_job_group(struct r_call *call)
{
        const char *group, *description;
        bool interrupt;
        fst_context *sc;
        int r = r_call_text(call, 0, &group);
        if (r == 0)
                r = r_call_text_or_null(call, 1, &description);
        if (r == 0)
                r = r_call_bool(call, 2, &interrupt);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r == 0)
                fst_set_job_group(sc, group, description, interrupt);
        return r;
}

static int context_clear_job_group(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                fst_clear_job_group(sc);
        return r;
}

/* Calls @f with the context and the text at 0. */
static int context_with_text(struct r_call *call, void (*f)(fst_context *sc, const char *text), bool null)
{
        const char *text;
        fst_context *sc;
        int r = null ? r_call_text_or_null(call, 0, &text) : r_call_text(call, 0, &text);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r == 0)
                f(sc, text);
        return r;
}

static int context_cancel_job_group(struct r_call *call)
{
        return context_with_text(call, fst_cancel_job_group, false);
}

static int context_cancel_jobs_with_tag(struct r_call *call)
{
        return context_with_text(call, fst_cancel_jobs_with_tag, false);
}

static int context_set_job_description(struct r_call *call)
{
        return context_with_text(call, fst_set_job_description, true);
}

static int context_cancel_all(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                fst_cancel_all_jobs(sc);
        return r;
}

static int context_change_tag(struct r_call *call, int (*change)(fst_context *sc, const char *tag))
{
        const char *tag;
        fst_context *sc;
        int r = r_call_text(call, 0, &tag);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r == 0 && change(sc, tag) != 0)
                r = r_call_refuse(call, "requirement failed: Spark job tag '%s' %s", tag,
                                  *tag ? "cannot contain ','." : "cannot be an empty string.");
        return r;
}

/* Answers with a list of strings, as RUtils.getJobTags. */
static int context_get_tags(struct r_call *call)
{
        struct r_object *object;
        fst_context *sc;
        int r = r_call_object(call, 0, JAVA_CONTEXT, &object);
        if (r)
                return r;
        r_object_unref(object);
        r = r_call_context(call, &sc);
        if (r)
                return r;
        _cleanup_free_ char *tags = mem_strdup(fst_job_tags(sc));
        struct r_values list = {arena_alloc(call->arena, (strlen(tags) + 1) * sizeof(*list.items)), 0};
        for (char *rest, *tag = strtok_r(tags, ",", &rest); tag; tag = strtok_r(NULL, ",", &rest))
                list.items[list.n++] = r_value_string(call->arena, tag);
        call->result = (struct r_value){.type = R_LIST, .list = list};
        return 0;
}

static int context_add_tag(struct r_call *call)
{
        return context_change_tag(call, fst_add_job_tag);
}

static int context_remove_tag(struct r_call *call)
{
        return context_change_tag(call, fst_remove_job_tag);
}

static int context_clear_tags(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                fst_clear_job_tags(sc);
        return r;
}

static int context_set_interrupt(struct r_call *call)
{
        bool interrupt;
        fst_context *sc;
        int r = r_call_bool(call, 0, &interrupt);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r == 0)
                fst_set_interrupt_on_cancel(sc, interrupt);
        return r;
}

static int context_set_property(struct r_call *call)
{
        const char *key, *value;
        fst_context *sc;
        int r = r_call_text(call, 0, &key);
        if (r == 0)
                r = r_call_text_or_null(call, 1, &value);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r == 0)
                fst_set_local_property(sc, key, value);
        return r;
}

static int context_get_property(struct r_call *call)
{
        const char *key;
        fst_context *sc;
        int r = r_call_text(call, 0, &key);
        if (r == 0)
                r = r_call_context(call, &sc);
        return r ? r : r_call_give_text(call, fst_local_property(sc, key));
}

/* --------------------------------------------------------------------------------------------------------- files */

static int context_add_file(struct r_call *call)
{
        const char *path;
        fst_context *sc;
        int r = r_call_text(call, 0, &path);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r)
                return r;
        r = fst_add_file(sc, path);
        return r ? error_set(&call->error, r, "%s", failure_reason_of_thread()) : 0;
}

static int files_root(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r)
                return r;
        _cleanup_free_ char *root = mem_printf("%s/userFiles", disk_dirs_root(sc->env.dirs, 0));
        return r_call_give_text(call, root);
}

static int files_get(struct r_call *call)
{
        const char *name;
        fst_context *sc;
        int r = r_call_text(call, 0, &name);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r)
                return r;
        _cleanup_free_ char *path = mem_printf("%s/userFiles/%s", disk_dirs_root(sc->env.dirs, 0), name);
        return r_call_give_text(call, path);
}

static int context_set_checkpoint_dir(struct r_call *call)
{
        const char *directory;
        fst_context *sc;
        int r = r_call_text(call, 0, &directory);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r)
                return r;
        r = fst_set_checkpoint_dir(sc, directory);
        return r ? error_set(&call->error, r, "%s", failure_reason_of_thread()) : 0;
}

static int encryption_is_enabled(struct r_call *call)
{
        bool enabled;
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                r = conf_get_bool(sc->conf, "spark.io.encryption.enabled", &enabled, &call->error);
        if (r == 0)
                call->result = r_value_bool(enabled);
        return r;
}

/* --------------------------------------------------------------------------------------------- broadcast variables */

static int context_broadcast(struct r_call *call)
{
        fst_bytes value;
        fst_context *sc;
        int r = r_call_bytes(call, 0, &value);
        if (r == 0)
                r = r_call_context(call, &sc);
        if (r)
                return r;
        struct r_object *object = r_object_new(R_CLASS_BROADCAST);
        object->broadcast = fst_broadcast_bytes(sc, value.data, value.len);
        if (object->broadcast.id)
                return r_call_give(call, object);
        r_object_unref(object);
        return error_set(&call->error, -EIO, "the broadcast variable of %zu bytes could not be stored", value.len);
}

static int broadcast_id(struct r_call *call)
{
        call->result = r_value_double((double)call->self->broadcast.id);
        return 0;
}

static int broadcast_unpersist(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                fst_broadcast_unpersist(sc, call->self->broadcast);
        return r;
}

static int broadcast_destroy(struct r_call *call)
{
        fst_context *sc;
        int r = r_call_context(call, &sc);
        if (r == 0)
                fst_broadcast_destroy(sc, call->self->broadcast);
        return r;
}

const struct r_member r_context_members[] = {
        {.class_name = "org.apache.spark.api.r.RRDD",
         .name = "createSparkContext",
         .least = 6,
         .most = 6,
         .call = context_create},
        {.class_name = "org.apache.spark.api.r.RUtils",
         .name = "isEncryptionEnabled",
         .least = 1,
         .most = 1,
         .call = encryption_is_enabled},
        {.class_name = "org.apache.spark.api.r.RUtils",
         .name = "getJobTags",
         .least = 1,
         .most = 1,
         .call = context_get_tags},
        {.class_name = "org.apache.spark.SparkFiles", .name = "getRootDirectory", .call = files_root},
        {.class_name = "org.apache.spark.SparkFiles", .name = "get", .least = 1, .most = 1, .call = files_get},
        {.class = R_CLASS_CONF, .name = "get", .least = 1, .most = 2, .call = conf_get_setting},
        {.class = R_CLASS_BROADCAST, .name = "id", .call = broadcast_id},
        {.class = R_CLASS_BROADCAST, .name = "unpersist", .most = 1, .call = broadcast_unpersist},
        {.class = R_CLASS_BROADCAST, .name = "destroy", .most = 1, .call = broadcast_destroy},
        {.class = JAVA_CONTEXT, .name = "sc", .call = context_of_java},
#define BOTH(...)                                                                                                      \
        {.class = JAVA_CONTEXT, __VA_ARGS__},                                                                          \
        {                                                                                                              \
                .class = CONTEXT, __VA_ARGS__                                                                          \
        }
        BOTH(.name = "stop", .call = r_context_stop),
        BOTH(.name = "getConf", .call = context_get_conf),
        BOTH(.name = "conf", .call = context_get_conf),
        BOTH(.name = "version", .call = r_context_version),
        BOTH(.name = "appName", .call = context_app_name),
        BOTH(.name = "master", .call = context_master),
        BOTH(.name = "applicationId", .call = context_application_id),
        BOTH(.name = "uiWebUrl", .call = context_ui),
        BOTH(.name = "defaultParallelism", .call = context_default_parallelism),
        BOTH(.name = "defaultMinPartitions", .call = context_default_min_partitions),
        BOTH(.name = "setLogLevel", .least = 1, .most = 1, .call = context_set_log_level),
        BOTH(.name = "buildCondaInstructions", .call = context_no_value),
        BOTH(.name = "setJobGroup", .least = 3, .most = 3, .call = context_set_job_group),
        BOTH(.name = "clearJobGroup", .call = context_clear_job_group),
        BOTH(.name = "cancelJobGroup", .least = 1, .most = 1, .call = context_cancel_job_group),
        BOTH(.name = "cancelJobsWithTag", .least = 1, .most = 1, .call = context_cancel_jobs_with_tag),
        BOTH(.name = "cancelAllJobs", .call = context_cancel_all),
        BOTH(.name = "setJobDescription", .least = 1, .most = 1, .call = context_set_job_description),
        BOTH(.name = "addJobTag", .least = 1, .most = 1, .call = context_add_tag),
        BOTH(.name = "removeJobTag", .least = 1, .most = 1, .call = context_remove_tag),
        BOTH(.name = "clearJobTags", .call = context_clear_tags),
        BOTH(.name = "setInterruptOnCancel", .least = 1, .most = 1, .call = context_set_interrupt),
        BOTH(.name = "setLocalProperty", .least = 2, .most = 2, .call = context_set_property),
        BOTH(.name = "getLocalProperty", .least = 1, .most = 1, .call = context_get_property),
        BOTH(.name = "addFile", .least = 1, .most = 2, .call = context_add_file),
        BOTH(.name = "setCheckpointDir", .least = 1, .most = 1, .call = context_set_checkpoint_dir),
        BOTH(.name = "broadcast", .least = 1, .most = 1, .call = context_broadcast),
#undef BOTH
        {0},
};
