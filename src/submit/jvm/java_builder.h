/*
 * Shared by the parts of java_command.h: a command under construction. java_command.c builds the common part and the
 * plain classes, java_submit.c builds SparkSubmit, java_class_path.c builds the class path.
 */
#pragma once

#include "base/arena.h"
#include "submit/jvm/java_command.h"
#include "launch/spark_home.h"

struct java_builder {
        const char *(*env)(const char *name);
        struct spark_home home;
        struct java_command *command;
        struct arena memory; /* temporary strings */
        bool is_remote;      /* a client of Spark Connect: 4.x hides Spark's own SQL from it */
        bool is_beeline;
};

/* The value of the variable, or NULL if it is unset or empty. */
const char *java_builder_env(const struct java_builder *b, const char *name);

/* SPARK_CONF_DIR, or conf in SPARK_HOME. Valid as long as @b. */
const char *java_builder_conf_dir(struct java_builder *b);

/*
 * Appends java, the options of the java-opts file, -cp and the class path, with @extra first. Returns negative with
 * @error on failure.
 */
int java_builder_start(struct java_builder *b, const char *extra, struct fst_error *error);

/* Appends the options in @text (NULL: none). Returns -EINVAL with @error. */
int java_builder_options(struct java_builder *b, const char *text, struct fst_error *error);

/* Appends the module options that this version gives every JVM. */
void java_builder_module_options(struct java_builder *b);

/* The class path, with @extra (NULL: none) first. Owned by the caller. Returns NULL with @error on failure. */
char *java_class_path(struct java_builder *b, const char *extra, struct fst_error *error);

/* Builds spark-submit's command. Returns as java_command_build. */
int java_submit_build(struct java_builder *b, int n, char *const *words, struct fst_error *error);
