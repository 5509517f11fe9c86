/*
 * See object_input.h.
 *
 * Each object is a stream: its range of the partition, cut into chunks. Maps are read in ascending order, so the next
 * block may come from any stream, but each stream is read from its start to its end. Blocks of outputs that do not
 * count are skipped.
 *
 * Read-ahead: streams in the order of their first map get one chunk each, then a second one, and so on, while all
 * chunks together are within spark.reducer.maxSizeInFlight. The first chunk of the stream that is being read may exceed
 * that and is the only one without a reservation: all others are storage memory that is free anyway.
 *
 * A damaged block is read once more, from its start on. Chunks and blocks are untrusted.
 */
#include "shuffle/remote/object_input.h"

#include "base/clock.h"
#include "base/fault_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "rdd/pipeline/task_run.h"
#include "shuffle/remote/object_store.h"
#include "store/memory.h"

#include <inttypes.h>

#define LOG "ShuffleBlockFetcherIterator"
#define MIN_CHUNK ((size_t)256 << 10)
#define MAX_CHUNK ((size_t)4 << 20)
#define MAX_AHEAD 6 /* chunks of one stream */

/* A range that is read on a thread of the pool. Two owners: the input until it drops it, and the job until it ends. */
struct object_chunk {
        struct object_job job;
        struct object_chunk *prev, *next; /* in the stream */
        struct object_store *store;
        struct object_entry *entry;     /* a reference */
        struct memory_manager *manager; /* has the reserved bytes; NULL: none are */
        uint64_t offset;
        size_t length, used;
        int owners;  /* atomic */
        int dropped; /* atomic: the input does not need it any more */
        int done;    /* under the lock of the store */
        int status;
        struct fst_error error;
        unsigned char data[];
};

struct object_range {
        uint64_t key; /* writer and place */
        int first_map;
        struct object_entry *entry;
        bool opened;        /* the range is known */
        uint64_t at, end;   /* the next byte to return; the end of the range */
        uint64_t requested; /* the next byte to request */
        LIST(struct object_chunk) chunks;
        int n_chunks;
        bool parsed; /* `at` is behind the head of a block: */
        uint64_t block;
        uint32_t output;
        struct page_frame frame;
        uint64_t damaged; /* offset of the last block that was read again; 0: none */
};

struct remote_input {
        struct object_store *store;
        struct remote_read read;
        struct object_range *streams; /* by key */
        struct object_range **order;  /* by first map */
        int n_streams;
        size_t chunk; /* bytes of a chunk */
        size_t ahead; /* bytes of all chunks */
        bool room;    /* chunks were dropped since the last read-ahead */
        unsigned char *scratch;
        size_t scratch_size;
        struct codec codec;
};

/* ------------------------------------------------------------------------------------------------------ chunks */

static void object_chunk_release(struct object_chunk *c)
{
        if (__atomic_sub_fetch(&c->owners, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        if (c->manager)
                memory_release_storage(c->manager, c->length);
        object_entry_put(c->entry);
        error_deinit(&c->error);
        free(c);
}

/* On a thread of the pool. */
static void object_chunk_run(struct object_job *job)
{
        struct object_chunk *c = container_of(job, struct object_chunk, job);
        struct object_store *s = c->store;
        const struct object_index *index = c->entry->index;
        int r = __atomic_load_n(&c->dropped, __ATOMIC_RELAXED)
                        ? -ECANCELED
                        : object_store_read(s, c->entry->path, index->size, c->offset, c->data, c->length, &c->dropped,
                                            &c->error);
        if (r == 0 && index->encrypted)
                r = s->key ? file_crypt(s->key, index->iv, c->offset, c->data, c->data, c->length, &c->error)
                           : error_set(&c->error, -EBADMSG, "%s is encrypted", c->entry->path);
        pthread_mutex_lock(&s->lock);
        c->status = r;
        c->done = 1;
        pthread_cond_broadcast(&s->loaded);
        pthread_mutex_unlock(&s->lock);
        object_chunk_release(c);
}

static int object_chunk_wait(struct object_chunk *c, struct task_run *run, struct fst_error *error)
{
        struct object_store *s = c->store;
        int64_t began = 0;
        pthread_mutex_lock(&s->lock);
        while (!c->done && !task_run_stopped(run)) {
                began = began ? began : now_ns();
                object_store_await(s);
        }
        bool done = c->done;
        pthread_mutex_unlock(&s->lock);
        if (began)
                run->counters.shuffle_fetch_wait_ns += now_ns() - began;
        if (!done)
                return -ECANCELED;
        return c->status ? error_set(error, c->status, "%s", error_message(&c->error)) : 0;
}

static void object_range_drop_first(struct remote_input *in, struct object_range *s)
{
        struct object_chunk *c = list_pop(&s->chunks);
        in->ahead -= c->length;
        in->room = true;
        s->n_chunks--;
        __atomic_store_n(&c->dropped, 1, __ATOMIC_RELAXED);
        object_chunk_release(c);
}

/* Requests the next chunk of a stream. Returns 0, 1 if there is no room, or -ENOMEM. */
static int object_range_request(struct remote_input *in, struct object_range *s, bool forced)
{
        size_t n = (size_t)MIN(s->end - s->requested, (uint64_t)in->chunk);
        struct memory_manager *manager = in->read.run->memory_manager;
        bool reserved = false;
        if (!forced || s->n_chunks) {
                if (in->ahead + n > in->read.in_flight || !mem_has_room(n) || !memory_acquire_fixed_storage(manager, n))
                        return 1;
                reserved = true;
        }
        struct object_chunk *c = mem_try(sizeof(*c) + n);
        if (!c) {
                if (reserved)
                        memory_release_storage(manager, n);
                return -ENOMEM;
        }
        const unsigned char *whole = __atomic_load_n(&s->entry->damaged, __ATOMIC_RELAXED) ? NULL : s->entry->whole;
        *c = (struct object_chunk){.job.run = object_chunk_run,
                                   .store = in->store,
                                   .entry = object_entry_ref(s->entry),
                                   .manager = reserved ? manager : NULL,
                                   .offset = s->requested,
                                   .length = n,
                                   .owners = whole ? 1 : 2,
                                   .done = whole != NULL};
        list_append(&s->chunks, c);
        s->n_chunks++;
        s->requested += n;
        in->ahead += n;
        if (whole)
                memcpy(c->data, whole + c->offset, n);
        else
                object_pool_submit(in->store->pool, &c->job);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ streams */

/* Determines the range of the partition, once the index is loaded. */
static int object_range_open(struct remote_input *in, struct object_range *s, struct fst_error *error)
{
        if (s->opened)
                return 0;
        int r = object_entry_wait(s->entry, in->read.run->task.stopped, error);
        if (r)
                return r;
        const struct object_index *index = s->entry->index;
        if ((uint32_t)in->read.partition >= index->partitions)
                return error_set(error, -EBADMSG, "%s has %u partitions, not partition %d", s->entry->path,
                                 index->partitions, in->read.partition);
        s->at = s->requested = index->at[in->read.partition];
        s->end = index->at[in->read.partition + 1];
        s->opened = true;
        return 0;
}

static bool object_range_is_loaded(const struct object_range *s)
{
        pthread_mutex_lock(&s->entry->store->lock);
        bool loaded = s->entry->loaded;
        pthread_mutex_unlock(&s->entry->store->lock);
        return loaded;
}

/* Requests chunks while there is room. Streams whose index is not loaded yet are left out. */
static void object_input_read_ahead(struct remote_input *in)
{
        bool more = true;
        in->room = false;
        for (int depth = 1; depth <= MAX_AHEAD && more; depth++) {
                more = false;
                for (int i = 0; i < in->n_streams; i++) {
                        struct object_range *s = in->order[i];
                        if (!s->opened && (!object_range_is_loaded(s) || object_range_open(in, s, NULL)))
                                continue;
                        if (s->requested == s->end)
                                continue;
                        if (s->n_chunks < depth && object_range_request(in, s, false))
                                return;
                        more = true;
                }
        }
}

/* Waits for the first chunk of a stream, which is requested if it is not. The stream is not at its end. */
static int object_range_fill(struct remote_input *in, struct object_range *s, struct fst_error *error)
{
        if (!s->chunks.first && object_range_request(in, s, true))
                return error_set(error, -ENOMEM, "no memory to read %zu bytes of map outputs", in->chunk);
        return object_chunk_wait(s->chunks.first, in->read.run, error);
}

/* Leaves @n bytes behind, which lie before the end. */
static void object_range_skip(struct remote_input *in, struct object_range *s, uint64_t n)
{
        s->at += n;
        while (s->chunks.first && s->chunks.first->offset + s->chunks.first->length <= s->at)
                object_range_drop_first(in, s);
        if (!s->chunks.first)
                s->requested = s->at;
}

/* Provides the next @n bytes in one piece, until the next call, without leaving them behind. */
static int object_range_peek(struct remote_input *in, struct object_range *s, size_t n, const unsigned char **bytes,
                             struct fst_error *error)
{
        if (n > s->end - s->at)
                return error_set(error, -EBADMSG, "a block at byte %" PRIu64 " exceeds its partition", s->at);
        int r = object_range_fill(in, s, error);
        if (r)
                return r;
        const struct object_chunk *c = s->chunks.first;
        size_t from = (size_t)(s->at - c->offset);
        if (n <= c->length - from) {
                *bytes = c->data + from;
                return 0;
        }
        if (n > in->scratch_size) {
                unsigned char *grown = mem_has_room(n) ? mem_try(MAX(n, PAGE_BLOCK + OBJECT_BLOCK)) : NULL;
                if (!grown)
                        return error_set(error, -ENOMEM, "no memory for a page of %zu bytes", n);
                free(in->scratch);
                in->scratch = grown;
                in->scratch_size = MAX(n, PAGE_BLOCK + OBJECT_BLOCK);
        }
        uint64_t start = s->at;
        size_t got = 0;
        while (got < n) {
                if ((r = object_range_fill(in, s, error)))
                        return r;
                c = s->chunks.first;
                from = (size_t)(start + got - c->offset);
                size_t part = MIN(n - got, c->length - from);
                memcpy(in->scratch + got, c->data + from, part);
                got += part;
                if (got < n) { /* the chunk is used up */
                        object_range_drop_first(in, s);
                        object_input_read_ahead(in);
                }
        }
        *bytes = in->scratch;
        return 0;
}

/* Reads again from @at on. */
static void object_range_restart(struct remote_input *in, struct object_range *s, uint64_t at)
{
        while (s->chunks.first)
                object_range_drop_first(in, s);
        s->at = s->requested = at;
        s->parsed = false;
}

/* ------------------------------------------------------------------------------------------------------ blocks */

/* Parses the head of the next block, unless it is parsed. The stream is not at its end. */
static int object_range_parse(struct remote_input *in, struct object_range *s, struct fst_error *error)
{
        const unsigned char *head;
        if (s->parsed)
                return 0;
        s->block = s->at;
        int r = object_range_peek(in, s, OBJECT_BLOCK, &head, error);
        if (r == 0)
                r = object_block_parse(head, s->entry->index, in->read.type, &s->output, &s->frame, error);
        if (r == 0 && s->frame.payload > s->end - s->at - OBJECT_BLOCK)
                r = error_set(error, -EBADMSG, "a block at byte %" PRIu64 " exceeds its partition", s->at);
        if (r)
                return r;
        object_range_skip(in, s, OBJECT_BLOCK);
        s->parsed = true;
        return 0;
}

static int object_range_decode(struct remote_input *in, struct object_range *s, struct page **page,
                               struct fst_error *error)
{
        const unsigned char *payload = NULL;
        enum codec_kind kind = s->frame.codec;
        int r = s->frame.payload ? object_range_peek(in, s, s->frame.payload, &payload, error) : 0;
        if (r)
                return r;
        if (kind != CODEC_NONE && in->codec.kind != kind) {
                codec_deinit(&in->codec);
                codec_init(&in->codec, kind, 1);
        }
        r = page_frame_decode(&s->frame, in->read.type, payload, &in->codec, in->read.memory, page, error);
        if (r)
                return r;
        object_range_skip(in, s, s->frame.payload);
        s->parsed = false;
        return 0;
}

/* Gets the next page of the output @output of the stream's object; NULL after the last. Returns as object_input_next,
 * but -EBADMSG for a damaged block. */
static int object_range_next(struct remote_input *in, struct object_range *s, uint32_t output, struct page **page,
                             struct fst_error *error)
{
        *page = NULL;
        while (s->parsed || s->at < s->end) {
                int r = object_range_parse(in, s, error);
                if (r)
                        return r;
                if (s->output > output)
                        return 0;
                if (s->output == output)
                        return object_range_decode(in, s, page, error);
                object_range_skip(in, s, s->frame.payload);
                s->parsed = false;
        }
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ the input */

static uint64_t object_range_key(const struct shuffle_map *map)
{
        return (uint64_t)(uint32_t)shuffle_map_writer(map) << 32 | map->place;
}

static int object_range_compare(const void *a, const void *b)
{
        const struct object_range *x = a, *y = b;
        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        return x->first_map < y->first_map ? -1 : x->first_map > y->first_map;
}

static int object_range_compare_maps(const void *a, const void *b)
{
        const struct object_range *const *x = a, *const *y = b;
        return (*x)->first_map < (*y)->first_map ? -1 : (*x)->first_map > (*y)->first_map;
}

/* Makes a stream of each object that has an output which counts. */
static void object_input_make_streams(struct remote_input *in)
{
        const struct shuffle_inputs *inputs = in->read.inputs;
        uint64_t before = 0;
        int n = 0;
        in->streams = new_array(struct object_range, (size_t)inputs->n);
        for (int m = 0; m < inputs->n; m++) {
                const struct shuffle_map *map = &inputs->maps[m];
                bool wanted = shuffle_map_is_remote(map) && !(in->read.here && in->read.here[m]);
                uint64_t key = wanted ? object_range_key(map) : 0;
                if (key && key != before)
                        in->streams[n++] = (struct object_range){.key = key, .first_map = m};
                before = key ? key : before;
        }
        qsort(in->streams, (size_t)n, sizeof(*in->streams), object_range_compare);
        for (int i = 0; i < n; i++)
                if (i == 0 || in->streams[i].key != in->streams[in->n_streams - 1].key)
                        in->streams[in->n_streams++] = in->streams[i];
        in->order = new_array(struct object_range *, (size_t)in->n_streams);
        for (int i = 0; i < in->n_streams; i++)
                in->order[i] = &in->streams[i];
        qsort(in->order, (size_t)in->n_streams, sizeof(*in->order), object_range_compare_maps);
}

struct remote_input *object_input_new(struct object_store *store, const struct remote_read *read)
{
        struct remote_input *in = new0(struct remote_input);
        in->store = store;
        in->read = *read;
        object_input_make_streams(in);
        size_t share = in->n_streams ? read->in_flight / (2 * (size_t)in->n_streams) : MIN_CHUNK;
        in->chunk = MAX(MIN(share, MAX_CHUNK), MIN_CHUNK);
        for (int i = 0; i < in->n_streams; i++) {
                struct object_range *s = in->order[i];
                s->entry = object_store_get(store, read->inputs->shuffle_id, (int32_t)(s->key >> 32), (uint32_t)s->key);
        }
        fault_point(FAULT_FETCH);
        object_input_read_ahead(in);
        return in;
}

static struct object_range *object_input_stream(struct remote_input *in, uint64_t key)
{
        int low = 0, high = in->n_streams - 1;
        while (low < high) {
                int middle = low + (high - low) / 2;
                if (in->streams[middle].key < key)
                        low = middle + 1;
                else
                        high = middle;
        }
        return &in->streams[low];
}

/* Returns the status of next for a failure of the stream; 0 to read the block again. */
static int object_input_failed(struct remote_input *in, struct object_range *s, int map, int status,
                               struct fst_error *error)
{
        if (status >= 0 || status == -ECANCELED)
                return status;
        if (status == -EBADMSG && s->opened && s->damaged != s->block) {
                log_warn(LOG, "reading a block of %s again: %s", s->entry->path, error_message(error));
                error_deinit(error);
                s->damaged = s->block;
                __atomic_store_n(&s->entry->damaged, 1, __ATOMIC_RELAXED);
                object_range_restart(in, s, s->block);
                return 0;
        }
        error_wrap(error, status, "cannot read map output %d of shuffle %d from %s", map, in->read.inputs->shuffle_id,
                   s->entry->path);
        return status == -ENOENT || status == -EBADMSG ? FST_REMOTE_E_LOST : status;
}

int object_input_next(struct remote_input *in, int map, struct page **page, struct fst_error *error)
{
        const struct shuffle_map *at = &in->read.inputs->maps[map];
        struct object_range *s = object_input_stream(in, object_range_key(at));
        if (in->room)
                object_input_read_ahead(in);
        for (;;) {
                bool begins = !s->opened;
                int r = object_range_open(in, s, error);
                if (r == 0 && begins)
                        object_input_read_ahead(in);
                int output = r ? -1 : object_index_find(s->entry->index, map, at->task_id);
                if (r == 0 && output < 0)
                        return error_set(error, FST_REMOTE_E_LOST, "%s has no output of map %d by task %" PRId64,
                                         s->entry->path, map, at->task_id);
                if (r == 0)
                        r = object_range_next(in, s, (uint32_t)output, page, error);
                if (r == 0) {
                        in->read.run->counters.shuffle_remote_blocks += *page != NULL;
                        in->read.run->counters.shuffle_remote_bytes += *page ? (*page)->used : 0;
                        return 0;
                }
                r = object_input_failed(in, s, map, r, error);
                if (r)
                        return r;
        }
}

void object_input_free(struct remote_input *in)
{
        if (!in)
                return;
        for (int i = 0; i < in->n_streams; i++) {
                while (in->streams[i].chunks.first)
                        object_range_drop_first(in, &in->streams[i]);
                object_entry_put(in->streams[i].entry);
        }
        codec_deinit(&in->codec);
        free(in->scratch);
        free(in->streams);
        free(in->order);
        free(in);
}
