/* Commands that a worker starts: turns a Command of standalone.proto into a process's arguments and environment. */
#pragma once

#include "base/string_list.h"
#include "standalone/wire/standalone_wire.h"

#include <stdbool.h>

struct redactor;

/* The value of an argument that consists of a placeholder: {"{{CORES}}", "4"}. */
struct placeholder {
        const char *name, *value;
};

/* Appends the command's arguments with placeholders replaced. */
void launch_command_arguments(const Firesteel__Standalone__Command *command, const struct placeholder *placeholders,
                              size_t n, struct string_list *words);

/* Appends the child's environment: this process's, then the command's, with its library path in front of
 * LD_LIBRARY_PATH. @secret is that of spark.authenticate, or NULL.
 */
void launch_command_environment(const Firesteel__Standalone__Command *command, const char *secret,
                                struct string_list *variables);

/* The arguments as Spark's workers log a command: quoted, secrets redacted. The caller owns it. */
char *launch_command_text(const struct string_list *words, const struct redactor *redactor);

/* "Command(class,List(a, b),Map(k -> v),List(),List(),ArraySeq())" without its class path, for pages and JSON. The
 * caller owns it.
 */
char *launch_command_show(const Firesteel__Standalone__Command *command, const struct redactor *redactor);

/* Returns true if @name is safe as a file or directory name (no slash, not ".."). */
bool launch_name_is_safe(const char *name);
