/* See push_stream.h. */
#include "celeborn/push/push_stream.h"

#include "base/mem.h"
#include "base/vec.h"
#include "celeborn/push/push_client.h"
#include "shuffle/shuffle_output.h"

/* A page that is added before the locations are known. */
struct push_waiting {
        int partition;
        const struct page *page;
};

struct push_stream {
        struct remote_stream stream;
        struct push_client *client;
        int32_t shuffle; /* Celeborn's */
        int map;
        int64_t task;
        struct shuffle_output *output; /* which owns the stream; pinned */
        struct map_push *push;         /* NULL: the locations are not known yet */
        bool asked;                    /* for the locations: if that fails, drain asks again and reports it */
        VEC(struct push_waiting) waiting;
};

static struct push_stream *push_stream_of(struct remote_stream *stream)
{
        return container_of(stream, struct push_stream, stream);
}

/* The locations are known: pushes the pages that waited. Returns as map_push_page. */
static int push_stream_begun(struct push_stream *s, struct map_push *push)
{
        int r = 0;
        s->push = push;
        map_push_collect(push, true);
        for (size_t i = 0; i < s->waiting.len; i++)
                r = map_push_page(push, s->waiting.data[i].partition, s->waiting.data[i].page);
        vec_deinit(&s->waiting);
        return r;
}

static int push_stream_add(struct remote_stream *stream, int partition, const struct page *page)
{
        struct push_stream *s = push_stream_of(stream);
        if (s->push)
                return map_push_page(s->push, partition, page);
        vec_push(&s->waiting, ((struct push_waiting){partition, page}));
        struct map_push *push = push_client_try_begin(s->client, s->shuffle, s->map, s->task, !s->asked);
        s->asked = true;
        return push ? push_stream_begun(s, push) : 0;
}

static void push_stream_flush(struct remote_stream *stream)
{
        struct push_stream *s = push_stream_of(stream);
        if (s->push)
                map_push_collect(s->push, false);
}

static int push_stream_drain(struct remote_stream *stream, const int *stopped, struct fst_error *error)
{
        struct push_stream *s = push_stream_of(stream);
        struct map_push *push;
        if (!s->push && !s->waiting.len)
                return 0;
        int r = s->push ? 0 : push_client_begin(s->client, s->shuffle, s->map, s->task, stopped, &push, error);
        if (r)
                return r;
        if (!s->push)
                push_stream_begun(s, push); /* map_push_wait reports a failure */
        map_push_collect(s->push, false);
        r = map_push_wait(s->push, stopped, error);
        if (r == 0)
                map_push_collect(s->push, true);
        return r;
}

static void push_stream_free(struct remote_stream *stream)
{
        struct push_stream *s = push_stream_of(stream);
        if (s->push) {
                map_push_keep(s->push, s->output);
                map_push_free(s->push);
        }
        shuffle_output_unpin(s->output);
        vec_deinit(&s->waiting);
        free(s);
}

static const struct remote_stream_class push_stream_class = {
        .add = push_stream_add,
        .flush = push_stream_flush,
        .drain = push_stream_drain,
        .free = push_stream_free,
};

struct remote_stream *push_stream_new(struct push_client *client, int32_t shuffle, const struct remote_output *output)
{
        struct push_stream *s = new0(struct push_stream);
        s->stream.class = &push_stream_class;
        s->client = client;
        s->shuffle = shuffle;
        s->map = output->map_partition;
        s->task = output->task_id;
        s->output = output->output;
        shuffle_output_pin(s->output);
        return &s->stream;
}
