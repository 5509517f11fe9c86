/* See exec_services.h. */
#include "exec/exec_services.h"

#include "base/error.h"
#include "exec/app/app_files.h"
#include "exec/blocks/broadcasts.h"
#include "exec/exec_env.h"
#include "store/disk_dirs.h"

static int services_broadcast(void *owner, int64_t id, uint64_t size, const int *stopped, const void **data,
                              void **hold, struct fst_error *error)
{
        struct exec_env *env = owner;
        return broadcasts_get(env->broadcasts, id, size, stopped, data, hold, error);
}

static void services_release(void *owner, void *hold)
{
        struct exec_env *env = owner;
        broadcasts_release(env->broadcasts, hold);
}

static int services_file(void *owner, const char *name, const int *stopped, const char **path, struct fst_error *error)
{
        struct exec_env *env = owner;
        if (!*name) {
                *path = disk_dirs_root(env->dirs, 0);
                return env->files ? app_files_dir(env->files, stopped, path, error) : 0;
        }
        if (!env->files)
                return error_set(error, -ENOENT, "the application has no files: add them with fst_add_file or --files");
        return app_files_path(env->files, name, stopped, path, error);
}

static int services_barrier(void *owner, const uint8_t *question, size_t len, const int *stopped, uint8_t **answer,
                            size_t *answer_len, struct fst_error *error)
{
        struct exec_env *env = owner;
        if (!env->barrier)
                return error_set(error, -ENOTSUP, "barrier stages are not supported here");
        return env->barrier(env->barrier_owner, question, len, stopped, answer, answer_len, error);
}

void exec_services_init(struct task_services *services, struct exec_env *env)
{
        *services = (struct task_services){.broadcast = services_broadcast,
                                           .release = services_release,
                                           .file = services_file,
                                           .barrier = services_barrier,
                                           .python = env->python,
                                           .owner = env};
}
