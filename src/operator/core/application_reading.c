/* See application_reading.h. */
#include "operator/core/application_reading.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/api/pod_state.h"
#include "text/json.h"

#include <stdlib.h>

/* Reads all but the spec. */
static bool application_reading_make_status(const json_t *object, struct application_reading *out)
{
        const json_t *metadata = json_object_get(object, "metadata");
        const char *version = json_text_at(metadata, "resourceVersion");
        struct application_observation *o = &out->observation;
        *out = (struct application_reading){0};
        o->namespace = json_text_at(metadata, "namespace");
        o->name = json_text_at(metadata, "name");
        o->uid = json_text_at(metadata, "uid");
        if (!o->namespace || !o->name || !o->uid)
                return false;
        o->generation = json_int_at(metadata, "generation");
        o->created_ms = pod_time_read(json_text_at(metadata, "creationTimestamp"));
        o->version = version ? strtoull(version, NULL, 10) : 0;
        o->leaving = json_object_get(metadata, "deletionTimestamp") != NULL;
        application_status_read(json_object_get(object, "status"), &o->status);
        return true;
}

static void application_reading_add_spec(const json_t *object, struct application_reading *out)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct application_observation *o = &out->observation;
        int r = spark_application_read(object, &out->app, &out->problems, &error);
        if (r == 0)
                r = spark_application_validate(&out->app, &error);
        if (r < 0)
                out->invalid = mem_strdup(error_message(&error));
        o->invalid = out->invalid;
        if (out->app.object) {
                out->driver_pod = spark_application_driver_pod(&out->app);
                application_policy_read(&out->app.spec, out->app.spec_hash, &o->policy);
        } else {
                out->driver_pod = mem_printf("%s-driver", o->name);
                o->policy.spec_hash = o->policy.partial_hash = spark_spec_hash(json_object_get(object, "spec"));
        }
        o->driver_pod = out->driver_pod;
}

bool application_reading_make(const json_t *object, struct application_reading *out)
{
        bool read = application_reading_make_status(object, out);
        if (read)
                application_reading_add_spec(object, out);
        return read;
}

bool application_reading_make_for(const struct application_core *core, const json_t *object,
                                  struct application_reading *out)
{
        struct application_observation *o = &out->observation;
        if (!application_reading_make_status(object, out))
                return false;
        o->known_spec = application_core_knows(core, o->namespace, o->name, o->uid, o->generation);
        if (!o->known_spec)
                application_reading_add_spec(object, out);
        return true;
}

void application_reading_deinit(struct application_reading *r)
{
        application_status_deinit(&r->observation.status);
        field_problems_deinit(&r->problems);
        spark_application_deinit(&r->app);
        free(r->driver_pod);
        free(r->invalid);
        *r = (struct application_reading){0};
}
