/*
 * What the parts of java_command.h share: one command in the making. java_command.c has what all classes have in
 * common, and the plain classes; java_submit.c SparkSubmit; java_class_path.c the class path.
 */
#pragma once

#include "base/arena.h"
#include "submit/jvm/java_command.h"
#include "launch/spark_home.h"

struct java_builder {
        const char *(*env)(const char *name);
        struct spark_home home;
        struct java_command *command;
        struct arena memory; /* strings that are made on the way */
        bool is_remote;      /* a client of Spark Connect: 4.x keeps Spark's own SQL from it */
        bool is_beeline;
};

/* The variable, or NULL when it is not set or empty. */
const char *java_builder_env(const struct java_builder *b, const char *name);

/* SPARK_CONF_DIR, or conf in SPARK_HOME. Valid as long as @b. */
const char *java_builder_conf_dir(struct java_builder *b);

/* Append java, the options of the java-opts file, -cp and the class path, @extra first. Negative with @error. */
int java_builder_start(struct java_builder *b, const char *extra, struct fst_error *error);

/* Append the options in @text (NULL: none). -EINVAL with @error. */
int java_builder_options(struct java_builder *b, const char *text, struct fst_error *error);

/* Append the options that this version gives every JVM for its modules. */
void java_builder_module_options(struct java_builder *b);

/* The class path with @extra (NULL: none) before all. Owned by the caller; NULL with @error. */
char *java_class_path(struct java_builder *b, const char *extra, struct fst_error *error);

/* Build spark-submit's command. As java_command_build. */
int java_submit_build(struct java_builder *b, int n, char *const *words, struct fst_error *error);
