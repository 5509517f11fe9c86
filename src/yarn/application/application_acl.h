/* The users and groups that may view or modify an application, as YARN wants them: "user,user group,group". */
#pragma once

#include <stdbool.h>

struct fst_conf;
struct fst_error;

/*
 * @os_user runs this process, @user submits. @view: those that may view it, else those that may modify it. "*" stands
 * for everybody. The caller owns *@out. Returns 0, or negative with @error.
 */
int application_acl(const struct fst_conf *conf, const char *os_user, const char *user, bool view, char **out,
                    struct fst_error *error);
