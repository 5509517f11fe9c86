/* JavaSparkContext, and the SparkContext that its sc() returns: one class, since Python never tells them apart. */
#include "pyspark_driver/classes.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "driver/application_files.h"
#include "driver/context.h"
#include "driver/events/driver_ui.h"
#include "driver/local_properties.h"
#include "driver/job_runner.h"
#include "py4j/collections.h"
#include "pyspark_driver/added_directory.h"
#include "pyspark_driver/broadcast_class.h"
#include "pyspark_driver/errors.h"
#include "pyspark_driver/rdd_sources.h"

struct context_object {
        struct py4j_object object;
        struct driver_session *session;
};

struct driver_session *context_object_session(const struct py4j_object *context)
{
        return ((const struct context_object *)context)->session;
}

static struct driver_session *context_check(struct py4j_call *call, struct driver_session *session)
{
        if (!session_has_ended(session))
                return session;
        py4j_throw(call, "java.lang.IllegalStateException", "Cannot call methods on a stopped SparkContext.");
        return NULL;
}

struct driver_session *context_argument(struct py4j_call *call, size_t i)
{
        struct py4j_object *context = py4j_argument(call, i, &context_class);
        return context ? context_check(call, context_object_session(context)) : NULL;
}

/* The context of a method; NULL, and the call throws, once it was stopped. */
static fst_context *context_of(struct py4j_call *call)
{
        struct driver_session *session = context_check(call, context_object_session(call->self));
        return session ? session->sc : NULL;
}

static void context_object_free(struct py4j_object *object)
{
        session_unref(context_object_session(object));
        free(object);
}

/* ------------------------------------------------------------------------------------------- start and stop */

/* pyspark sets a key of Java's serializer in every program, which a warning should not tell each time. */
#define SERIALIZER_KEYS "spark.serializer."

static fst_context *context_start_with(const struct strmap *settings)
{
        fst_conf *conf = fst_conf_new();
        for (struct strmap_entry *e = NULL; (e = strmap_next(settings, e));)
                if (!text_starts_with(e->key, SERIALIZER_KEYS))
                        fst_conf_set(conf, e->key, e->value);
        return fst_context_new_conf(conf);
}

/* Offers executors the driver's pyspark, if it is in archives. */
static void context_offer_package(struct pyspark *p, struct driver_session *session)
{
        static const char *const names[] = {".pyspark.zip", ".py4j.zip"}; /* PYSPARK_FILES */
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(string_list_deinit) struct string_list archives = {0};
        int r = python_package_archives(&p->package, &archives) ? 0 : -ENOENT;
        for (size_t i = 0; r == 0 && i < archives.len; i++)
                r = application_files_add_module(session->sc, names[i], archives.data[i], &error);
        session->has_package = r == 0;
        if (error.message)
                log_warn("SparkContext", "Executors cannot get the driver's pyspark: %s", error_message(&error));
}

static void context_construct(struct py4j_call *call)
{
        struct pyspark *p = pyspark_of(call);
        struct py4j_object *conf = py4j_argument(call, 0, &conf_class);
        if (!conf)
                return;
        struct strmap settings = STRMAP_INIT;
        conf_object_read(conf, &settings);
        fst_context *sc = context_start_with(&settings);
        if (sc->status) {
                strmap_deinit(&settings);
                py4j_throw(call, "org.apache.spark.SparkException", "%s", error_message(&sc->error));
                fst_context_stop(sc);
                return;
        }
        struct driver_session *session = new0(struct driver_session), *old;
        session->refs = 1;
        session->sc = sc;
        strmap_merge(&settings, &sc->conf->set);
        strmap_set_if_missing(&settings, "spark.driver.host", sc->host);
        session->conf = conf_object_new(&settings);
        session->directories = py4j_list_new();
        strmap_deinit(&settings);
        context_offer_package(p, session);
        pthread_mutex_lock(&p->lock);
        old = p->session;
        p->session = session_ref(session);
        pthread_mutex_unlock(&p->lock);
        session_unref(old);
        struct context_object *context = new0(struct context_object);
        py4j_object_init(&context->object, &context_class);
        context->session = session;
        call->result = py4j_object_value(&context->object);
}

static void context_stop(struct py4j_call *call)
{
        session_stop(context_object_session(call->self));
}

static void context_return_self(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(call->self));
}

/* ---------------------------------------------------------------------------------------------- description */

static void context_conf(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(context_object_session(call->self)->conf));
}

static void context_version(struct py4j_call *call)
{
        const struct python_package *package = &pyspark_of(call)->package;
        call->result = py4j_string(package->version[0] ? package->version : fst_version());
}

static void context_application_id(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                call->result = py4j_string(fst_context_app_id(sc));
}

static void context_start_time(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                call->result = py4j_long(fst_context_start_time(sc));
}

static void context_ui_url(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (!sc)
                return;
        call->result = py4j_object_value(py4j_option_new(py4j_string(sc->ui ? driver_ui_address(sc->ui) : NULL)));
}

static void context_default_parallelism(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                call->result = py4j_int(fst_context_default_parallelism(sc));
}

static void context_default_min_partitions(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                call->result = py4j_int(fst_context_default_min_partitions(sc));
}

static void context_user(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                call->result = py4j_string(fst_context_user(sc));
}

static void context_set_log_level(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc && fst_context_set_log_level(sc, call->args[0].text) < 0)
                py4j_throw(call, "java.lang.IllegalArgumentException",
                           "requirement failed: Supplied level %s did not match one of: "
                           "ALL,DEBUG,ERROR,FATAL,INFO,OFF,TRACE,WARN",
                           call->args[0].text);
}

/* ------------------------------------------------------------------------------------------------ resources */

#define DRIVER_RESOURCE "spark.driver.resource."

struct resource_object {
        struct py4j_object object;
        char *name;
        struct py4j_object *addresses;
};

static void resource_name(struct py4j_call *call)
{
        call->result = py4j_string(((struct resource_object *)call->self)->name);
}

static void resource_addresses(struct py4j_call *call)
{
        call->result = py4j_object_value(py4j_object_ref(((struct resource_object *)call->self)->addresses));
}

static void resource_free(struct py4j_object *object)
{
        struct resource_object *resource = (struct resource_object *)object;
        py4j_object_unref(resource->addresses);
        free(resource->name);
        free(resource);
}

static const struct py4j_member resource_members[] = {
        {"name", "", resource_name},
        {"addresses", "", resource_addresses},
};

static const struct py4j_class resource_class = {
        .name = "org.apache.spark.resource.ResourceInformation", PY4J_MEMBERS(resource_members), .free = resource_free};

static struct py4j_object *resource_new(fst_context *sc, const char *name)
{
        struct resource_object *resource = new0(struct resource_object);
        py4j_object_init(&resource->object, &resource_class);
        resource->name = mem_strdup(name);
        resource->addresses = py4j_array_new("java.lang.String", 0);
        int n = fst_context_resource(sc, name, NULL, 0);
        _cleanup_free_ const char **addresses = new_array(const char *, n > 0 ? (size_t)n : 1);
        n = n > 0 ? fst_context_resource(sc, name, addresses, (size_t)n) : 0;
        for (int i = 0; i < n; i++)
                py4j_add(resource->addresses, py4j_string(addresses[i]));
        return &resource->object;
}

/* The resources whose amounts are configured. */
static void context_resources(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (!sc)
                return;
        struct py4j_object *map = py4j_map_new();
        for (struct strmap_entry *e = NULL; (e = strmap_next(&sc->conf->set, e));) {
                if (!text_starts_with(e->key, DRIVER_RESOURCE) || !text_ends_with(e->key, ".amount"))
                        continue;
                const char *from = e->key + strlen(DRIVER_RESOURCE);
                _cleanup_free_ char *name = mem_strndup(from, strlen(from) - strlen(".amount"));
                py4j_map_put(map, py4j_string(name), py4j_object_value(resource_new(sc, name)));
        }
        call->result = py4j_object_value(map);
}

/* ---------------------------------------------------------------------------------------------------- files */

static void context_add_file(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (!sc || added_directory(call, context_object_session(call->self), call->args[0].text,
                                   call->n > 1 && call->args[1].yes))
                return;
        if (fst_add_file(sc, call->args[0].text) < 0)
                throw_failure(call, "the file cannot be added");
}

static void context_add_archive(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc && fst_add_archive(sc, call->args[0].text) < 0)
                throw_failure(call, "the archive cannot be added");
}

typedef int list_names(fst_context *sc, const char **names, size_t max);

/* Whether @name is that of a directory that was added as an archive. */
static bool context_is_directory(const struct driver_session *session, const char *name)
{
        struct py4j_object *directories = py4j_collection_copy(session->directories);
        bool found = false;
        for (size_t i = 0; i < py4j_length(directories) && !found; i++)
                found = strcmp(py4j_element(directories, i)->text, name) == 0;
        py4j_object_unref(directories);
        return found;
}

static void context_list_names(struct py4j_call *call, list_names *list, bool directories)
{
        const struct driver_session *session = context_object_session(call->self);
        fst_context *sc = context_of(call);
        if (!sc)
                return;
        int n = list(sc, NULL, 0);
        _cleanup_free_ const char **names = new_array(const char *, n > 0 ? (size_t)n : 1);
        struct py4j_object *found = py4j_list_new();
        n = n > 0 ? MIN(list(sc, names, (size_t)n), n) : 0;
        for (int i = 0; i < n; i++) {
                if (list == fst_list_archives && context_is_directory(session, names[i]) != directories)
                        continue;
                const char *path = fst_context_file(sc, names[i]);
                _cleanup_free_ char *uri = mem_printf("file:%s", path ? path : names[i]);
                py4j_add(found, py4j_string(uri));
        }
        for (size_t i = 0; call->result.type == PY4J_OBJECT && i < py4j_length(call->result.object); i++)
                py4j_add(found, py4j_value_copy(py4j_element(call->result.object, i)));
        py4j_value_deinit(&call->result);
        call->result = py4j_object_value(found);
}

static void context_list_files(struct py4j_call *call)
{
        context_list_names(call, fst_list_files, false);
        if (!call->thrown)
                context_list_names(call, fst_list_archives, true);
}

static void context_list_archives(struct py4j_call *call)
{
        context_list_names(call, fst_list_archives, false);
}

/* The text of the directory lasts until another connection sets one. */
static pthread_mutex_t checkpoint_dir_lock = PTHREAD_MUTEX_INITIALIZER;

static void context_set_checkpoint_dir(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        pthread_mutex_lock(&checkpoint_dir_lock);
        if (sc && fst_set_checkpoint_dir(sc, call->args[0].text) < 0)
                throw_failure(call, "the checkpoint directory cannot be set");
        pthread_mutex_unlock(&checkpoint_dir_lock);
}

static void context_get_checkpoint_dir(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        pthread_mutex_lock(&checkpoint_dir_lock);
        if (sc)
                call->result = py4j_object_value(py4j_option_new(py4j_string(fst_checkpoint_dir(sc))));
        pthread_mutex_unlock(&checkpoint_dir_lock);
}

/* ----------------------------------------------------------------------------------------- local properties */

static void context_set_local_property(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                fst_set_local_property(sc, call->args[0].text, py4j_text_argument(call, 1));
}

static void context_get_local_property(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                call->result = py4j_string(fst_local_property(sc, call->args[0].text));
}

static void context_get_local_properties(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (!sc)
                return;
        struct py4j_object *map = py4j_map_new();
        const struct strmap *local = local_properties(sc, false);
        for (struct strmap_entry *e = NULL; local && (e = strmap_next(local, e));)
                py4j_map_put_text(map, e->key, e->value);
        call->result = py4j_object_value(map);
}

/* A thread of Python inherits the properties of the thread that made it. */
static void context_set_local_properties(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        struct py4j_object *map = sc ? py4j_argument(call, 0, &py4j_map_class) : NULL;
        if (!map)
                return;
        struct strmap *local = local_properties(sc, true);
        _cleanup_free_ struct strmap_entry **old = strmap_sorted(local);
        for (size_t i = 0, n = local->count; i < n; i++)
                strmap_remove(local, old[i]->key);
        map = py4j_collection_copy(map);
        for (size_t i = 0; i < py4j_length(map); i++)
                if (py4j_map_key(map, i)->type == PY4J_STRING && py4j_element(map, i)->type == PY4J_STRING)
                        strmap_set(local, py4j_map_key(map, i)->text, py4j_element(map, i)->text);
        py4j_object_unref(map);
}

static void context_set_job_group(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                fst_set_job_group(sc, py4j_text_argument(call, 0), py4j_text_argument(call, 1),
                                  call->n == 3 && call->args[2].yes);
}

static void context_clear_job_group(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                fst_clear_job_group(sc);
}

static void context_set_job_description(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                fst_set_job_description(sc, py4j_text_argument(call, 0));
}

static void context_set_interrupt(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                fst_set_interrupt_on_cancel(sc, call->args[0].yes);
}

static void context_check_tag(struct py4j_call *call, int status)
{
        if (status < 0)
                py4j_throw(call, "java.lang.IllegalArgumentException", "requirement failed: Spark job tag '%s' %s",
                           call->args[0].text,
                           call->args[0].len ? "cannot contain ','." : "cannot be an empty string.");
}

static void context_add_job_tag(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                context_check_tag(call, fst_add_job_tag(sc, call->args[0].text));
}

static void context_remove_job_tag(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                context_check_tag(call, fst_remove_job_tag(sc, call->args[0].text));
}

static void context_get_job_tags(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (!sc)
                return;
        struct py4j_object *set = py4j_set_new();
        _cleanup_free_ char *tags = mem_strdup(fst_job_tags(sc));
        for (char *rest, *tag = strtok_r(tags, ",", &rest); tag; tag = strtok_r(NULL, ",", &rest))
                py4j_add(set, py4j_string(tag));
        call->result = py4j_object_value(set);
}

static void context_clear_job_tags(struct py4j_call *call)
{
        fst_context *sc = context_of(call);
        if (sc)
                fst_clear_job_tags(sc);
}

/* --------------------------------------------------------------------------------------------- cancellation */

/* An interrupted program cancels while its own command still runs, and after the end of its context. */
static fst_context *context_to_cancel(const struct py4j_call *call)
{
        struct driver_session *session = context_object_session(call->self);
        return session_has_ended(session) ? NULL : session->sc;
}

static void context_cancel_group(struct py4j_call *call)
{
        fst_context *sc = context_to_cancel(call);
        if (sc)
                fst_cancel_job_group(sc, call->args[0].text);
}

static void context_cancel_group_for_good(struct py4j_call *call)
{
        fst_context *sc = context_to_cancel(call);
        if (sc && sc->runner)
                job_runner_cancel_for_good(sc->runner, call->args[0].text);
}

static void context_cancel_tag(struct py4j_call *call)
{
        fst_context *sc = context_to_cancel(call);
        if (sc)
                fst_cancel_jobs_with_tag(sc, call->args[0].text);
}

static void context_cancel_all(struct py4j_call *call)
{
        fst_context *sc = context_to_cancel(call);
        if (sc)
                fst_cancel_all_jobs(sc);
}

static void context_status_tracker(struct py4j_call *call)
{
        call->result = py4j_object_value(status_tracker_new(context_object_session(call->self)));
}

/* pyspark calls it after the end of its context, too. */
static void context_set_call_site(struct py4j_call *call)
{
        const struct driver_session *session = context_object_session(call->self);
        if (!session_has_ended(session))
                fst_set_local_property(session->sc, "callSite.short", py4j_text_argument(call, 0));
}

static const struct py4j_member context_members[] = {
        {"", "r", context_construct, PY4J_CONSTRUCTOR},
        {"sc", "", context_return_self},
        {"stop", "", context_stop},
        {"close", "", context_stop},
        {"conf", "", context_conf},
        {"getConf", "", context_conf},
        {"version", "", context_version},
        {"applicationId", "", context_application_id},
        {"startTime", "", context_start_time},
        {"uiWebUrl", "", context_ui_url},
        {"defaultParallelism", "", context_default_parallelism},
        {"defaultMinPartitions", "", context_default_min_partitions},
        {"sparkUser", "", context_user},
        {"setLogLevel", "s", context_set_log_level},
        {"resources", "", context_resources},
        {"addFile", "s", context_add_file},
        {"addFile", "sb", context_add_file},
        {"addArchive", "s", context_add_archive},
        {"listFiles", "", context_list_files},
        {"listArchives", "", context_list_archives},
        {"setCheckpointDir", "s", context_set_checkpoint_dir},
        {"getCheckpointDir", "", context_get_checkpoint_dir},
        {"setLocalProperty", "sS", context_set_local_property},
        {"getLocalProperty", "s", context_get_local_property},
        {"getLocalProperties", "", context_get_local_properties},
        {"setLocalProperties", "r", context_set_local_properties},
        {"setJobGroup", "SS", context_set_job_group},
        {"setJobGroup", "SSb", context_set_job_group},
        {"clearJobGroup", "", context_clear_job_group},
        {"setJobDescription", "S", context_set_job_description},
        {"setInterruptOnCancel", "b", context_set_interrupt},
        {"addJobTag", "s", context_add_job_tag},
        {"removeJobTag", "s", context_remove_job_tag},
        {"getJobTags", "", context_get_job_tags},
        {"clearJobTags", "", context_clear_job_tags},
        {"cancelJobGroup", "s", context_cancel_group},
        {"cancelJobGroupAndFutureJobs", "s", context_cancel_group_for_good},
        {"cancelJobsWithTag", "s", context_cancel_tag},
        {"cancelAllJobs", "", context_cancel_all},
        {"statusTracker", "", context_status_tracker},
        {"setCallSite", "S", context_set_call_site},
        {"register", "r", context_register_accumulator},
        {"broadcast", "r", context_broadcast},
        {"emptyRDD", "", source_empty},
        {"textFile", "s", source_text_file},
        {"textFile", "si", source_text_file},
        {"wholeTextFiles", "si", source_whole_text_files},
        {"binaryFiles", "si", source_binary_files},
        {"binaryRecords", "si", source_binary_records},
        {"objectFile", "s", source_object_file},
        {"objectFile", "si", source_object_file},
        {"checkpointFile", "s", source_checkpoint_file},
        {"union", "r", source_union},
};

const struct py4j_class context_class = {.name = "org.apache.spark.api.java.JavaSparkContext",
                                         PY4J_MEMBERS(context_members),
                                         .free = context_object_free};
