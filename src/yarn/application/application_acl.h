/* The users and groups that may view or modify an application, as YARN wants them: "user,user group,group". */
#pragma once

#include "base/arena.h"
#include "yarn/protocol/yarn.pb-c.h"

#include <stdbool.h>

struct fst_conf;
struct fst_error;

/*
 * @os_user runs this process, @user submits. @view: those that may view it, else those that may modify it. "*" stands
 * for everybody. The caller owns *@out. Returns 0, or negative with @error.
 */
int application_acl(const struct fst_conf *conf, const char *os_user, const char *user, bool view, char **out,
                    struct fst_error *error);

/* Both lists of an application of @user, with the account of this process as @os_user. As application_acl. */
int application_acls(const struct fst_conf *conf, const char *user, char **view, char **modify,
                     struct fst_error *error);

/* Adds them to a container. The messages lie in @arena, and borrow the texts. */
void application_acl_attach(char *view, char *modify, struct arena *arena,
                            Firesteel__Yarn__ContainerLaunchContext *container);
