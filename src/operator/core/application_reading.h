/*
 * Reads the JSON of a SparkApplication into what the core observes.
 *
 *      struct application_reading reading;
 *      if (application_reading_make_for(core, object, &reading))
 *              application_core_observe(core, &reading.observation);
 *      application_reading_deinit(&reading);
 */
#pragma once

#include "operator/core/application_core.h"
#include "operator/resources/spark_application.h"

struct application_reading {
        struct application_observation observation; /* borrows from the object and from this struct */
        struct field_problems problems;             /* unknown fields and fields without effect, for an event */
        /* Private. */
        struct spark_application app;
        char *driver_pod, *invalid;
};

/*
 * Reads the object, without its spec if @core knows that. Returns false if it has no name, namespace or uid. An
 * application that the genuine webhook would refuse is read with observation.invalid. @object is borrowed until deinit.
 * Deinit in either case.
 */
bool application_reading_make_for(const struct application_core *core, const json_t *object,
                                  struct application_reading *out);

/* For tests: reads the spec in any case. */
bool application_reading_make(const json_t *object, struct application_reading *out);
void application_reading_deinit(struct application_reading *r);
