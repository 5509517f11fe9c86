/* See worker_cleanup.h. */
#include "standalone/worker/worker_cleanup.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "standalone/worker/work_dir.h"

struct cleaning {
        uv_work_t work;
        char *path;
        int64_t before;
        struct string_list used;
};

static bool is_used(void *context, const char *name)
{
        const struct string_list *used = context;
        for (size_t i = 0; i < used->len; i++)
                if (strcmp(used->data[i], name) == 0)
                        return true;
        return false;
}

static void worker_cleanup_clean(uv_work_t *work)
{
        struct cleaning *c = work->data;
        struct fst_error error = FST_ERROR_INIT;
        if (work_dir_clean(c->path, c->before, is_used, &c->used, &error) < 0)
                log_error("Worker", "App dir cleanup failed: %s", error_message(&error));
        error_deinit(&error);
}

static void worker_cleanup_cleaned(uv_work_t *work, int status)
{
        struct cleaning *c = work->data;
        (void)status;
        string_list_deinit(&c->used);
        free(c->path);
        free(c);
}

void worker_cleanup_start(uv_loop_t *loop, const struct worker_conf *conf, const struct worker_view *view)
{
        struct cleaning *c = new0(struct cleaning);
        c->work.data = c;
        c->path = mem_strdup(conf->work_dir);
        c->before = time_of_day_ms() - conf->cleanup_after;
        for (size_t i = 0; i < view->executors.len; i++)
                string_list_add(&c->used, view->executors.data[i]->app_id);
        for (size_t i = 0; i < view->drivers.len; i++)
                string_list_add(&c->used, view->drivers.data[i]->id);
        uv_queue_work(loop, &c->work, worker_cleanup_clean, worker_cleanup_cleaned);
}
