/* See task_secrets.h. */
#include "mesos/tasks/task_secrets.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "conf/conf_list.h"
#include "mesos/tasks/task_parts.h"

/* The keys of a role. */
struct secret_keys {
        const char *names, *values, *variables, *files;
};

static const struct secret_keys executor_keys = {
        "spark.mesos.executor.secret.names", "spark.mesos.executor.secret.values",
        "spark.mesos.executor.secret.envkeys", "spark.mesos.executor.secret.filenames"};
static const struct secret_keys driver_keys = {"spark.mesos.driver.secret.names", "spark.mesos.driver.secret.values",
                                               "spark.mesos.driver.secret.envkeys",
                                               "spark.mesos.driver.secret.filenames"};

static Firesteel__Mesos__Secret *secret_by_name(struct arena *arena, const char *name)
{
        Firesteel__Mesos__Secret *s =
                mesos_message_new(arena, Firesteel__Mesos__Secret, firesteel__mesos__secret__init);
        s->has_type = true;
        s->type = FIRESTEEL__MESOS__SECRET__TYPE__REFERENCE;
        s->reference = mesos_message_new(arena, Firesteel__Mesos__Secret__Reference,
                                         firesteel__mesos__secret__reference__init);
        s->reference->name = task_text(arena, name);
        return s;
}

static Firesteel__Mesos__Secret *secret_by_value(struct arena *arena, const char *value)
{
        Firesteel__Mesos__Secret *s =
                mesos_message_new(arena, Firesteel__Mesos__Secret, firesteel__mesos__secret__init);
        s->has_type = true;
        s->type = FIRESTEEL__MESOS__SECRET__TYPE__VALUE;
        s->value = mesos_message_new(arena, Firesteel__Mesos__Secret__Value, firesteel__mesos__secret__value__init);
        s->value->data = (ProtobufCBinaryData){.data = (uint8_t *)task_text(arena, value), .len = strlen(value)};
        return s;
}

static Firesteel__Mesos__Environment__Variable *secret_variable(struct arena *arena, const char *name,
                                                                Firesteel__Mesos__Secret *secret)
{
        Firesteel__Mesos__Environment__Variable *v = task_variable_new(arena, name, NULL);
        v->has_type = true;
        v->type = FIRESTEEL__MESOS__ENVIRONMENT__VARIABLE__TYPE__SECRET;
        v->secret = secret;
        return v;
}

static Firesteel__Mesos__Volume *secret_volume(struct arena *arena, const char *path, Firesteel__Mesos__Secret *secret)
{
        Firesteel__Mesos__Volume *v =
                mesos_message_new(arena, Firesteel__Mesos__Volume, firesteel__mesos__volume__init);
        v->container_path = task_text(arena, path);
        v->mode = FIRESTEEL__MESOS__VOLUME__MODE__RO;
        v->source = mesos_message_new(arena, Firesteel__Mesos__Volume__Source, firesteel__mesos__volume__source__init);
        v->source->has_type = true;
        v->source->type = FIRESTEEL__MESOS__VOLUME__SOURCE__TYPE__SECRET;
        v->source->secret = secret;
        return v;
}

static int secrets_check_count(const char *key, size_t n, size_t n_secrets, struct fst_error *error)
{
        if (n == 0 || n == n_secrets)
                return 0;
        return error_set(error, -EINVAL,
                         "Need to give equal numbers of secrets and of %s: there are %zu secrets and %zu of these", key,
                         n_secrets, n);
}

static int secrets_read_lists(const struct fst_conf *conf, const struct secret_keys *k, struct string_list *names,
                              struct string_list *values, struct string_list *variables, struct string_list *files,
                              struct fst_error *error)
{
        int r = conf_list_read(conf, k->names, names, error);
        if (r == 0)
                r = conf_list_read(conf, k->values, values, error);
        if (r == 0)
                r = conf_list_read(conf, k->variables, variables, error);
        if (r == 0)
                r = conf_list_read(conf, k->files, files, error);
        if (r == 0 && names->len && values->len)
                r = error_set(error, -EINVAL, "Cannot specify both value-type and reference-type secrets: set %s or %s",
                              k->names, k->values);
        if (r == 0)
                r = secrets_check_count(k->files, files->len, names->len + values->len, error);
        if (r == 0)
                r = secrets_check_count(k->variables, variables->len, names->len + values->len, error);
        return r;
}

int task_secrets_read(struct arena *arena, const struct fst_conf *conf, bool of_driver, struct task_secrets *out,
                      struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list names = {0}, values = {0}, variables = {0}, files = {0};
        const int r = secrets_read_lists(conf, of_driver ? &driver_keys : &executor_keys, &names, &values, &variables,
                                         &files, error);
        if (r < 0)
                return r;
        *out = (struct task_secrets){.n_variables = variables.len, .n_volumes = files.len};
        out->variables = arena_alloc(arena, variables.len * sizeof(*out->variables));
        out->volumes = arena_alloc(arena, files.len * sizeof(*out->volumes));
        for (size_t i = 0; i < names.len + values.len; i++) {
                Firesteel__Mesos__Secret *secret =
                        names.len ? secret_by_name(arena, names.data[i]) : secret_by_value(arena, values.data[i]);
                if (i < variables.len)
                        out->variables[i] = secret_variable(arena, variables.data[i], secret);
                if (i < files.len)
                        out->volumes[i] = secret_volume(arena, files.data[i], secret);
        }
        return 0;
}
