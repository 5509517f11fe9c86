/* See broadcast_variables.h. Values that the driver has read are held until the variable is destroyed. */
#include "driver/broadcast_variables.h"

#include "base/log.h"
#include "base/vec.h"
#include "driver/resume/resume.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "exec/blocks/broadcasts.h"

#include <firesteel/python.h>

#include <fcntl.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct read_value {
        int64_t id;
        fst_bytes value;
        void *hold;
};

/* Ids are unique in the process, so that a handle of a stopped context is invalid in the next one. Atomic. */
static int64_t last_id;

struct broadcast_variables {
        pthread_mutex_t lock;
        VEC(struct read_value) looked_at;
        void (*removed)(void *owner, int64_t id, bool destroyed);
        void *owner;
};

struct broadcast_variables *broadcast_variables_new(void)
{
        struct broadcast_variables *v = new0(struct broadcast_variables);
        pthread_mutex_init(&v->lock, NULL);
        return v;
}

void broadcast_variables_free(struct broadcast_variables *v, struct broadcasts *broadcasts)
{
        if (!v)
                return;
        for (size_t i = 0; i < v->looked_at.len; i++)
                broadcasts_release(broadcasts, v->looked_at.data[i].hold);
        vec_deinit(&v->looked_at);
        pthread_mutex_destroy(&v->lock);
        free(v);
}

void broadcast_variables_set_removed(struct broadcast_variables *v,
                                     void (*removed)(void *owner, int64_t id, bool destroyed), void *owner)
{
        v->removed = removed;
        v->owner = owner;
}

int broadcast_variable_put(fst_context *sc, const void *data, size_t size, int64_t *id, struct fst_error *error)
{
        int64_t next = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
        int r = size && !data ? error_set(error, -EINVAL, "it was given NULL instead of %zu bytes", size)
                              : broadcasts_put(sc->env.broadcasts, next, data, size, error);
        if (r)
                return r;
        *id = next;
        log_info("SparkContext", "Created broadcast %" PRId64 " of %zu bytes", next, size);
        return 0;
}

FST_API fst_broadcast fst_broadcast_bytes(fst_context *sc, const void *data, size_t size)
{
        sc = context_given(sc, rdd_site("broadcast_bytes"));
        struct fst_error error = FST_ERROR_INIT;
        int64_t id = 0;
        if (sc->status)
                return (fst_broadcast){0};
        int r = broadcast_variable_put(sc, data, size, &id, &error);
        if (r) {
                context_action_failed(sc, "broadcast", r, &error);
                return (fst_broadcast){0};
        }
        resume_broadcast(sc->resume, id, data, size);
        return (fst_broadcast){id, size};
}

FST_API fst_broadcast fst_broadcast_file(fst_context *sc, const char *path)
{
        struct fst_error error = FST_ERROR_INIT;
        struct stat st;
        sc = context_given(sc, rdd_site("broadcast_file"));
        if (sc->status || context_missing(path, "broadcast_file", "the path of a file"))
                return (fst_broadcast){0};
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        int r = fd < 0 || fstat(fd, &st) < 0 ? error_errno(&error, "%s", path) : 0;
        void *data = r == 0 && st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
        if (data == MAP_FAILED)
                r = error_errno(&error, "%s", path);
        if (fd >= 0)
                close(fd);
        if (r) {
                context_action_failed(sc, "broadcast", r, &error);
                return (fst_broadcast){0};
        }
        fst_broadcast variable = fst_broadcast_bytes(sc, data, (size_t)st.st_size);
        if (data)
                munmap(data, (size_t)st.st_size);
        return variable;
}

FST_API fst_bytes fst_context_broadcast(fst_context *sc, fst_broadcast variable)
{
        sc = context_given(sc, rdd_site("broadcast_value"));
        struct broadcast_variables *v = sc->broadcasts;
        struct fst_error error = FST_ERROR_INIT;
        fst_bytes value = {NULL, 0};
        const void *data;
        void *hold;
        int r = sc->status;
        pthread_mutex_lock(&v->lock);
        for (size_t i = 0; i < v->looked_at.len; i++)
                if (v->looked_at.data[i].id == variable.id && v->looked_at.data[i].value.len == variable.size)
                        value = v->looked_at.data[i].value;
        if (!value.data && r == 0) {
                r = broadcasts_get(sc->env.broadcasts, variable.id, variable.size, NULL, &data, &hold, &error);
                if (r == 0) {
                        value = (fst_bytes){data, variable.size};
                        vec_push(&v->looked_at, (struct read_value){variable.id, value, hold});
                }
        }
        pthread_mutex_unlock(&v->lock);
        if (r && !sc->status)
                context_misused("broadcast variable %" PRId64 ": %s", variable.id, error_message(&error));
        error_deinit(&error);
        return value;
}

FST_API void fst_broadcast_unpersist(fst_context *sc, fst_broadcast variable)
{
        sc = context_given(sc, rdd_site("broadcast_unpersist"));
        if (sc->broadcasts->removed && variable.id > 0)
                sc->broadcasts->removed(sc->broadcasts->owner, variable.id, false);
}

FST_API void fst_broadcast_destroy(fst_context *sc, fst_broadcast variable)
{
        sc = context_given(sc, rdd_site("broadcast_destroy"));
        struct broadcast_variables *v = sc->broadcasts;
        void *hold = NULL;
        if (sc->status || !exec_env_remove_broadcast(&sc->env, variable.id))
                return;
        pthread_mutex_lock(&v->lock);
        for (size_t i = 0; i < v->looked_at.len && !hold; i++)
                if (v->looked_at.data[i].id == variable.id) {
                        hold = v->looked_at.data[i].hold;
                        v->looked_at.data[i] = v->looked_at.data[--v->looked_at.len];
                }
        pthread_mutex_unlock(&v->lock);
        if (hold)
                broadcasts_release(sc->env.broadcasts, hold);
        if (v->removed)
                v->removed(v->owner, variable.id, true);
}
