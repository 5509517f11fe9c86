/*
 * Answers that are written in steps. The first step runs while the resource is served. If the answer is longer, the
 * rest becomes a stream, which keeps the view open and locks it for each step only. The list of applications has no
 * view.
 */
#include "ui/api/api_internal.h"

#include "base/mem.h"

#include <errno.h>

struct api_stream {
        struct ui_stream stream;
        struct app_source *source;
        struct api_call call;
        struct api_steps *steps;
};

static int api_stream_next(struct ui_stream *stream, struct buf *out)
{
        struct api_stream *s = container_of(stream, struct api_stream, stream);
        s->call.json.out = out;
        if (s->call.view)
                app_view_read(s->call.view);
        int r = s->steps->step(s->steps, &s->call);
        if (s->call.view)
                app_view_end(s->call.view);
        return s->call.view && app_view_is_damaged(s->call.view) ? -EIO : r;
}

static void api_stream_free(struct ui_stream *stream)
{
        struct api_stream *s = container_of(stream, struct api_stream, stream);
        s->steps->free(s->steps);
        if (s->call.view)
                s->source->class->release(s->source, s->call.view);
        free(s);
}

int api_run_steps(struct api_call *c, struct api_steps *steps)
{
        int r = steps->step(steps, c);
        if (r <= 0) {
                steps->free(steps);
                return r;
        }
        struct api_stream *s = new0(struct api_stream);
        s->stream = (struct ui_stream){.next = api_stream_next, .free = api_stream_free};
        s->source = c->q->source;
        s->steps = steps;
        s->call = *c;
        s->call.q = NULL; /* they end with the request */
        s->call.a = NULL;
        s->call.app_id = s->call.attempt = NULL;
        c->a->rest = &s->stream;
        return 0;
}
