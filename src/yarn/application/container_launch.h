/*
 * The launch of a container by YARN: command, environment and files. Pure.
 *
 * YARN replaces {{NAME}} by a variable, <CPS> by the separator of class paths and <LOG_DIR> by the log directory, and
 * runs the command through `bash -c "…"`, unescaped.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/string_list.h"
#include "base/strmap.h"
#include "yarn/application/local_resource.h"
#include "yarn/protocol/yarn.pb-c.h"

struct container_launch {
        struct strmap environment;
        struct string_list command; /* words as they are; YARN joins them with blanks */
};

void container_launch_deinit(struct container_launch *launch);

/* Appends the redirection of both streams to the log directory. */
void container_launch_add_logs(struct container_launch *launch);

/*
 * `exec firesteel NAME` of the program's archive, so that YARN's signals reach the program. @library_path: the user's
 * own, or NULL.
 */
void container_launch_begin_firesteel(struct container_launch *launch, const char *library_path, const char *name);

/* An option of such a command: its value is quoted. */
void container_launch_add_option(struct container_launch *launch, const char *option, const char *value);

/*
 * @text in single quotes, for a container's command, which YARN pastes into a script between double quotes. The caller
 * owns it.
 */
char *container_command_quote(const char *text);

/* Fills @out, which lies in @arena and borrows the arguments. @tokens is a stream of credentials; empty or NULL: none.
 */
void container_launch_message(const struct container_launch *launch, const struct local_resources *resources,
                              const struct buf *tokens, struct arena *arena,
                              Firesteel__Yarn__ContainerLaunchContext *out);
