/* For tests: applications that are read, and the options of a plain operator. */
#pragma once

#include "operator/render/application_objects.h"
#include "operator/resources/operator_fixture.h"

#define FIXTURE_ID "0a1b2c3d-0000-4000-8000-000000000001"

static const struct render_options fixture_options = {
        .master = "k8s://https://10.0.0.1:443", .submission_id = FIXTURE_ID, .ui_service = true, .show = true};

/* Reads the application whose spec has @more, and whose metadata has @labels, or NULL. The caller must deinit @app. */
static inline void fixture_read_labelled(const char *more, const char *labels, struct spark_application *app)
{
        struct fst_error error = FST_ERROR_INIT;
        json_t *object = fixture_application(more);
        if (labels)
                json_object_set_new(json_object_get(object, "metadata"), "labels", fixture_json(labels));
        if (spark_application_read(object, app, NULL, &error) < 0)
                fail_msg("%s", error_message(&error));
        json_decref(object);
}

static inline void fixture_read(const char *more, struct spark_application *app)
{
        fixture_read_labelled(more, NULL, app);
}
