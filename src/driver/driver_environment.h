/*
 * The environment of the application, for the event log and the page of the environment: the settings of Spark and
 * Hadoop, the system, the files of the application.
 *
 * Differs from Spark: no JVM runs, so the properties of Java say so, and the system properties are those of the system
 * and the user. Hadoop's defaults, which are in a jar, are missing.
 */
#pragma once

#include "base/strmap.h"

struct environment_update;
struct fst_context;

struct driver_environment {
        struct strmap runtime, spark, hadoop, system, metrics, classpath;
};

/* Reads the environment of @sc. An invalid Hadoop configuration counts as empty: whatever uses it reports the error. */
void driver_environment_init(struct driver_environment *self, const struct fst_context *sc);
void driver_environment_deinit(struct driver_environment *self);

/* Posts the event. */
void driver_environment_post(const struct driver_environment *self, const struct fst_context *sc);
