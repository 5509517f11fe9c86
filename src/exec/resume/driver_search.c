/* See driver_search.h. */
#include "exec/resume/driver_search.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "journal/place.h"

#include <string.h>

struct driver_search {
        uv_loop_t *loop;
        char *directory, *name;
        driver_search_fn looked;
        void *owner;
        bool stopped;
        int after, epoch;
        struct buf url;
        uv_work_t work;
};

struct driver_search *driver_search_new(uv_loop_t *loop, const char *directory, const char *name,
                                        driver_search_fn looked, void *owner)
{
        struct driver_search *s = new0(struct driver_search);
        *s = (struct driver_search){.loop = loop,
                                    .directory = mem_strdup(directory),
                                    .name = mem_strdup(name),
                                    .looked = looked,
                                    .owner = owner};
        return s;
}

bool driver_search_is_remote(const struct driver_search *s)
{
        return strstr(s->directory, ":/") && strncmp(s->directory, "file:", 5) != 0;
}

static void driver_search_run(uv_work_t *work)
{
        struct driver_search *s = container_of(work, struct driver_search, work);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct journal_place *place = NULL;
        buf_reset(&s->url);
        s->epoch = journal_place_find(s->directory, s->name, &place, &error);
        if (s->epoch == 0)
                s->epoch = journal_place_find_driver(place, s->after, &s->url, &error);
        if (s->epoch < 0)
                log_debug("DriverSearch", "%s", error_message(&error));
        journal_place_free(place);
}

static void driver_search_done(uv_work_t *work, int status)
{
        struct driver_search *s = container_of(work, struct driver_search, work);
        s->url.len = s->url.len ? strcspn(buf_text(&s->url), "\n") : 0;
        if (s->url.len)
                s->url.data[s->url.len] = '\0';
        if (!s->stopped)
                s->looked(s->owner, status == 0 && s->url.len && s->epoch > 0 ? s->epoch : 0, buf_text(&s->url));
}

void driver_search_look(struct driver_search *s, int after)
{
        s->after = after;
        s->epoch = 0;
        if (uv_queue_work(s->loop, &s->work, driver_search_run, driver_search_done))
                s->looked(s->owner, 0, "");
}

void driver_search_stop(struct driver_search *s)
{
        if (s)
                s->stopped = true;
}

void driver_search_free(struct driver_search *s)
{
        if (!s)
                return;
        buf_deinit(&s->url);
        free(s->directory);
        free(s->name);
        free(s);
}
