/*
 * Tags of jobs (firesteel/context.h). As in Spark they are a local property of the thread, "spark.job.tags": a
 * comma-separated list without duplicates. The scheduler searches it when the application cancels the jobs with a tag.
 */
#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "driver/local_properties.h"

#define TAGS "spark.job.tags"

static const char *job_tags_get(fst_context *sc)
{
        const struct strmap *local = local_properties(sc, false);
        const char *tags = local ? strmap_get(local, TAGS) : NULL;
        return tags ? tags : "";
}

static int job_tags_check(const char *tag)
{
        if (*tag && !strchr(tag, ','))
                return 0;
        log_error("SparkContext",
                  *tag ? "Spark job tag '%s' cannot contain ','." : "Spark job tag%s cannot be an empty string.", tag);
        return -EINVAL;
}

/* The list without @tag. */
static void job_tags_without(fst_context *sc, const char *tag, struct buf *list)
{
        for (const char *at = job_tags_get(sc); *at;) {
                size_t n = strcspn(at, ",");
                if (n != strlen(tag) || memcmp(at, tag, n) != 0) {
                        if (list->len)
                                buf_putc(list, ',');
                        buf_append(list, at, n);
                }
                at += n + (at[n] == ',');
        }
}

/* Takes @tag out of the tags and, with @adds, puts it at their end. */
static int job_tags_change(fst_context *sc, const char *tag, bool adds, const char *what)
{
        sc = context_given(sc, rdd_site(what));
        if (context_missing(tag, what, "a tag"))
                return -EINVAL;
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        int r = job_tags_check(tag);
        if (r)
                return r;
        job_tags_without(sc, tag, &list);
        if (adds)
                buf_printf(&list, "%s%s", list.len ? "," : "", tag);
        fst_set_local_property(sc, TAGS, list.len ? buf_text(&list) : NULL);
        return 0;
}

FST_API int fst_add_job_tag(fst_context *sc, const char *tag)
{
        return job_tags_change(sc, tag, true, "add_job_tag");
}

FST_API int fst_remove_job_tag(fst_context *sc, const char *tag)
{
        return job_tags_change(sc, tag, false, "remove_job_tag");
}

FST_API void fst_clear_job_tags(fst_context *sc)
{
        fst_set_local_property(sc, TAGS, NULL);
}

FST_API const char *fst_job_tags(fst_context *sc)
{
        sc = context_given(sc, rdd_site("job_tags"));
        return job_tags_get(sc);
}

FST_API void fst_set_interrupt_on_cancel(fst_context *sc, bool interrupt)
{
        fst_set_local_property(sc, "spark.job.interruptOnCancel", interrupt ? "true" : NULL);
}
