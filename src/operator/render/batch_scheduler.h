/* Batch schedulers: Volcano, YuniKorn, and kube-scheduler with scheduler-plugins. */
#pragma once

#include "operator/render/application_objects.h"

enum batch_scheduler { BATCH_NONE, BATCH_VOLCANO, BATCH_YUNIKORN, BATCH_KUBE };

/* Returns the scheduler that @app names, or the default one. BATCH_NONE for an unknown name, which the genuine operator
 * schedules normally. */
enum batch_scheduler batch_scheduler_of(const struct spark_application *app, const struct render_options *o);

/*
 * Changes the labels, annotations and scheduler names in @spec, the application's own, and appends its group to
 * @before. Returns 0, or -EINVAL with @error for an amount that is not a quantity.
 */
int batch_scheduler_apply(struct spark_application *app, const struct render_options *o, json_t *before,
                          struct fst_error *error);

/* Returns the name of the group, or NULL for a scheduler without groups. The caller owns it. */
char *batch_group_name(const struct spark_application *app, enum batch_scheduler scheduler);
const char *batch_group_version(enum batch_scheduler scheduler);
