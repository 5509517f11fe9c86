/*
 * From a SparkApplication of spark.apache.org to the objects of its driver, through the words of spark-submit.
 *
 * Behaviour: Apache's operator. Its defaults of sparkConf, labels, owners and names: "NAME-ATTEMPT-driver" and so on.
 *
 * Differs from Apache's operator: spec.files reaches the driver (it is ignored there). Of spec.jars and spec.pyFiles,
 * the first file is the application and the others go beside it. Services, ingresses and routes stay in the
 * application's namespace. The name of the application is always metadata.name.
 */
#pragma once

#include "operator/apache/apache_application.h"
#include "operator/render/application_objects.h"

/* Returns @image with @version in the place of each {{SPARK_VERSION}}. The caller owns it. */
char *apache_image_of_version(const char *image, const char *version);

/*
 * Makes the objects of the attempt app->attempt: plan->objects, ->pod_at, ->namespace and ->container are set, ->server
 * is not. The driver's pod belongs to the application; driver_launch makes it the owner of the others. Returns 0, or
 * negative with @error for settings that Spark refuses. The caller must deinit the plan in either case.
 *
 * Any thread. Blocks if the application has files of this machine to upload, or remote templates.
 */
int apache_objects_make(const struct apache_application *app, const struct render_options *o, struct driver_plan *plan,
                        struct fst_error *error);
