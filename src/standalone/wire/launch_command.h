/*
 * The commands that a worker starts: from what an application or a submission asked for (Command of standalone.proto)
 * to a process's words and environment.
 */
#pragma once

#include "base/string_list.h"
#include "standalone/wire/standalone_wire.h"

#include <stdbool.h>

struct fst_error;
struct redactor;

/* What stands for a word that is a placeholder as a whole: {"{{CORES}}", "4"}. */
struct placeholder {
        const char *name, *value;
};

/* Append the command's arguments, placeholders replaced. */
void launch_command_arguments(const Firesteel__Standalone__Command *command, const struct placeholder *placeholders,
                              size_t n, struct string_list *words);

/*
 * Append the environment of what it starts: this process's, then the command's, LD_LIBRARY_PATH with its library path
 * in front. @secret is that of spark.authenticate, or NULL.
 */
void launch_command_environment(const Firesteel__Standalone__Command *command, const char *secret,
                                struct string_list *variables);

/* The words as Spark's workers show a command: in quotes, what is a secret replaced. The caller owns it. */
char *launch_command_text(const struct string_list *words, const struct redactor *redactor);

/*
 * "Command(class,List(a, b),Map(k -> v),List(),List(),ArraySeq())" without its class path: how pages and JSON show a
 * command. The caller owns it.
 */
char *launch_command_show(const Firesteel__Standalone__Command *command, const struct redactor *redactor);

/* Whether it may be the name of a directory or file: nothing in it leads elsewhere. */
bool launch_name_is_safe(const char *name);
