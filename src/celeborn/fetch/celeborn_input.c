/*
 * See celeborn_input.h. A page is read from the socket to its place. Everything that a worker sends is untrusted: a
 * batch whose size, type or checksum does not match is read again, then from the other copy.
 *
 * Rows come in the order of map partitions. A partition that fits into half of the memory that its task may have is
 * read as it was pushed, and sorted by map here. Workers sort the files of a larger one: they read and write each once
 * more, and a reader waits for that.
 */
#include "celeborn/fetch/celeborn_input.h"

#include "base/clock.h"
#include "base/fault_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "celeborn/fetch/fetch_core.h"
#include "celeborn/fetch/gathered_pages.h"
#include "rdd/pipeline/task_run.h"
#include "store/memory.h"
#include "store/page_frame.h"

#include <inttypes.h>
#include <stdio.h>

#define LOG "ShuffleBlockFetcherIterator"
#define CHECK_NS (20 * NS_PER_MS) /* between looks at `stopped` */

struct celeborn_input_file {
        const struct celeborn_location *at;
        struct chunk_stream stream;
        unsigned char header[PAGE_BATCH_HEADER]; /* of its next batch */
        struct fst_error error;                  /* of its last failure */
};

struct remote_input {
        struct celeborn_reader *reader;
        struct remote_read read;
        int32_t shuffle;                         /* Celeborn's number */
        const struct celeborn_file_group *group; /* NULL before the first read */
        struct celeborn_input_file *files;
        int n;
        struct fetch_core core;
        bool sorted; /* by the workers; else pages are gathered */
        struct gathered_pages gathered;
        struct codec codec;
        void *scratch;
        size_t room;
};

struct remote_input *celeborn_input_new(struct celeborn_reader *reader, const struct remote_read *read)
{
        struct remote_input *in = new0(struct remote_input);
        in->reader = reader;
        in->read = *read;
        gathered_pages_init(&in->gathered, read->memory->task);
        return in;
}

static int64_t celeborn_input_attempt(const void *owner, int map)
{
        const struct remote_input *in = owner;
        const struct shuffle_map *m = &in->read.inputs->maps[map];
        return shuffle_map_is_remote(m) && !(in->read.here && in->read.here[map]) ? m->task_id : -1;
}

/* Begins to read the files from their beginning. */
static void celeborn_input_start(struct remote_input *in, bool sorted)
{
        struct fetch_location *locations = new_array(struct fetch_location, (size_t)MAX(in->n, 1));
        for (int i = 0; i < in->n; i++) {
                const struct celeborn_location *at = in->files[i].at;
                chunk_stream_close(&in->files[i].stream);
                locations[i] = (struct fetch_location){.epoch = at->epoch, .copies = {at->primary, at->replica}};
        }
        in->sorted = sorted;
        fetch_core_deinit(&in->core);
        fetch_core_init(&in->core, &(struct fetch_core_config){.locations = locations,
                                                               .n = in->n,
                                                               .n_maps = in->read.inputs->n,
                                                               .sorted = sorted,
                                                               .attempt = celeborn_input_attempt,
                                                               .owner = in,
                                                               .tries = in->reader->tries,
                                                               .pause = in->reader->pause});
        free(locations);
}

/* Asks which files there are. */
static int celeborn_input_begin(struct remote_input *in, int map, struct fst_error *error)
{
        const int *stopped = in->read.run->task.stopped;
        in->shuffle = celeborn_shuffle_of_place(in->read.inputs->maps[map].place);
        int r = celeborn_files_get(&in->reader->files, in->shuffle, stopped, &in->group, error);
        if (r)
                return r;
        const struct celeborn_location *at = celeborn_file_group_partition(in->group, in->read.partition, &in->n);
        in->files = new_array(struct celeborn_input_file, (size_t)MAX(in->n, 1));
        for (int i = 0; i < in->n; i++)
                in->files[i].at = &at[i];
        celeborn_input_start(in, false);
        fault_point(FAULT_FETCH);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------------- pages */

static int celeborn_page_read_plain(struct chunk_stream *s, const struct page_frame *frame, fst_type type,
                                    struct memory_consumer *memory, struct page **page, struct fst_error *error)
{
        struct page *p = NULL;
        const size_t block = (sizeof(struct page) + frame->bytes + 15) & ~(size_t)15; /* pages may be kept long */
        int r = block <= PAGE_BLOCK / 4 * 3 ? page_new_small(memory, type, block, &p)
                                            : page_new(memory, type, frame->bytes, &p);
        if (r)
                return r < 0 ? error_set(error, r, "no memory for a page of %u bytes", frame->bytes) : r;
        r = chunk_stream_read(s, p->data, frame->bytes, error);
        p->used = frame->bytes;
        p->rows = frame->rows;
        if (r == 0)
                r = page_validate(p, frame->checksum, error);
        if (r) {
                page_free(memory, p);
                return r;
        }
        *page = p;
        return 0;
}

int64_t celeborn_page_rest(struct celeborn_batch batch)
{
        return (int64_t)batch.size - (PAGE_BATCH_HEADER - CELEBORN_BATCH_HEADER);
}

int celeborn_page_read(struct chunk_stream *s, const unsigned char header[static PAGE_BATCH_HEADER], fst_type type,
                       struct memory_consumer *memory, struct codec *codec, void **scratch, size_t *room,
                       struct page **page, struct fst_error *error)
{
        struct page_frame frame;
        int r = page_frame_parse(header + PAGE_BATCH_FRAME, type, &frame, error);
        if (r)
                return r;
        int64_t rest = celeborn_page_rest(celeborn_batch_get(header));
        if (frame.payload != rest)
                return error_set(error, -EBADMSG, "a batch with %lld bytes for a page of %u", (long long)rest,
                                 frame.payload);
        if (!mem_has_room(frame.bytes))
                return error_set(error, -ENOMEM, "no memory for a page of %u bytes", frame.bytes);
        if (frame.codec == CODEC_NONE)
                return celeborn_page_read_plain(s, &frame, type, memory, page, error);
        if (!mem_try_reserve(scratch, room, frame.payload))
                return error_set(error, -ENOMEM, "no memory for a page of %u bytes", frame.payload);
        if ((r = chunk_stream_read(s, *scratch, frame.payload, error)))
                return r;
        if (codec->kind != frame.codec) {
                codec_deinit(codec);
                codec_init(codec, frame.codec, 1);
        }
        return page_frame_decode(&frame, type, *scratch, codec, memory, page, error);
}

/* -------------------------------------------------------------------------------------------------------- actions */

static int celeborn_input_open(struct remote_input *in, const struct fetch_action *action, struct fst_error *error)
{
        struct celeborn_input_file *f = &in->files[action->file];
        int worker = action->copy == 0 ? f->at->primary : f->at->replica;
        const struct celeborn_worker *w = &in->group->answer.workers[worker];
        char key[512], name[64];
        snprintf(key, sizeof(key), "%s-%d", in->reader->app_id, in->shuffle);
        snprintf(name, sizeof(name), "%d-%d-%d", f->at->partition, f->at->epoch, action->copy);
        const struct chunk_file file = {.host = w->host,
                                        .port = w->fetch_port,
                                        .app_id = in->reader->app_id,
                                        .secret = in->group->answer.secret,
                                        .key = key,
                                        .name = name,
                                        .n_maps = in->sorted ? in->read.inputs->n : INT32_MAX,
                                        .local = in->reader->local && !f->error.message};
        return chunk_stream_open(&f->stream, &in->reader->connections, &file, in->read.run->task.stopped, error);
}

static int celeborn_input_head(struct remote_input *in, int file, struct fst_error *error)
{
        struct celeborn_batch batch;
        size_t left;
        struct chunk_stream *s = &in->files[file].stream;
        int r = chunk_stream_head(s, in->files[file].header, &batch, &left, error);
        if (r == FST_CHUNK_E_END) {
                chunk_stream_close(s);
                fetch_core_file_end(&in->core, file);
                return 0;
        }
        if (r == 0 && (celeborn_page_rest(batch) < 0 || fetch_core_head(&in->core, file, batch, left)))
                r = -EBADMSG;
        if (r == -EBADMSG && !error->message)
                error_set(error, r, "an invalid batch: map %d, batch %d, %d bytes", batch.map, batch.batch, batch.size);
        return r;
}

static int celeborn_input_do(struct remote_input *in, const struct fetch_action *action, struct page **page,
                             struct fst_error *error)
{
        int file = action->file, r = 0;
        struct chunk_stream *s = &in->files[file].stream;
        switch (action->kind) {
        case FETCH_OPEN:
                if ((r = celeborn_input_open(in, action, error)) == 0)
                        fetch_core_opened(&in->core, file);
                return r;
        case FETCH_HEAD:
                return celeborn_input_head(in, file, error);
        case FETCH_SKIP:
                r = chunk_stream_skip(s, (size_t)celeborn_page_rest(celeborn_batch_get(in->files[file].header)), error);
                if (r == 0)
                        fetch_core_skipped(&in->core, file);
                return r;
        case FETCH_TAKE:
                r = celeborn_page_read(s, in->files[file].header, in->read.type,
                                       in->sorted ? in->read.memory : &in->gathered.memory, &in->codec, &in->scratch,
                                       &in->room, page, error);
                if (r == 0)
                        fetch_core_taken(&in->core, file);
                return r;
        default:
                return 0;
        }
}

/* A file failed: the core decides what to read in its place. */
static void celeborn_input_failed(struct remote_input *in, int file, int status, struct fst_error *error)
{
        struct celeborn_input_file *f = &in->files[file];
        log_warn(LOG, "reading partition %d of shuffle %d from the %s again: %s", in->read.partition,
                 in->read.inputs->shuffle_id, fetch_core_copy(&in->core, file) ? "replica" : "primary copy",
                 error_message(error));
        error_deinit(&f->error);
        f->error = *error;
        *error = FST_ERROR_INIT;
        chunk_stream_close(&f->stream);
        fetch_core_failed(&in->core, file,
                          status == -EBADMSG  ? FETCH_DAMAGED
                          : status == -ENOENT ? FETCH_GONE
                                              : FETCH_FAILED,
                          now_ns());
}

/* Waits until @until. Returns 0, or -ECANCELED. */
static int celeborn_input_wait(struct remote_input *in, int64_t until)
{
        const int *stopped = in->read.run->task.stopped;
        for (int64_t now; (now = now_ns()) < until;) {
                if (stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED))
                        return -ECANCELED;
                struct timespec pause = timespec_of_ns(MIN(until - now, CHECK_NS));
                nanosleep(&pause, NULL);
                in->read.run->counters.shuffle_fetch_wait_ns += now_ns() - now;
        }
        return 0;
}

static void celeborn_input_count(struct remote_input *in, int file, const struct page *page)
{
        struct chunk_stream *s = &in->files[file].stream;
        in->read.run->counters.shuffle_fetch_wait_ns += s->wait_ns;
        s->wait_ns = 0;
        in->read.run->counters.shuffle_remote_blocks += page != NULL;
        in->read.run->counters.shuffle_remote_bytes += page ? page->used : 0;
}

/* Reads the next page that the files have of map @map, or, unsorted, of any map. */
static int celeborn_input_read(struct remote_input *in, int map, struct page **page, struct celeborn_batch *batch,
                               struct fst_error *error)
{
        int r = 0;
        while (r == 0) {
                struct fetch_action action = fetch_core_next(&in->core, map, now_ns());
                if (action.kind == FETCH_END)
                        return 0;
                if (action.kind == FETCH_LOST)
                        return error_set(error, FST_REMOTE_E_LOST,
                                         "cannot read partition %d of shuffle %d (%s-%d in Celeborn): %s",
                                         in->read.partition, in->read.inputs->shuffle_id, in->reader->app_id,
                                         in->shuffle, error_message(&in->files[action.file].error));
                if (action.kind == FETCH_WAIT) {
                        r = celeborn_input_wait(in, action.until);
                        continue;
                }
                r = celeborn_input_do(in, &action, page, error);
                celeborn_input_count(in, action.file, *page);
                if (r == 0 && *page) {
                        *batch = celeborn_batch_get(in->files[action.file].header);
                        return 0;
                }
                if (r < 0 && r != -ECANCELED && r != -ENOMEM) {
                        celeborn_input_failed(in, action.file, r, error);
                        r = 0;
                }
        }
        return r;
}

/* Reads all pages of the partition, unless they need too much memory: then the workers sort. */
static int celeborn_input_gather(struct remote_input *in, struct fst_error *error)
{
        struct celeborn_batch batch;
        struct page *page;
        const struct memory_task *task = in->gathered.memory.task;
        const size_t others = memory_task_held(task), share = memory_task_share(task);
        const size_t limit = share > others ? (share - others) / 2 : 0;
        int r;
        do {
                page = NULL;
                r = celeborn_input_read(in, -1, &page, &batch, error);
                if (r == 0 && page)
                        gathered_pages_add(&in->gathered, &batch, page);
        } while (r == 0 && page && in->gathered.memory.held <= limit);
        if (r == FST_MEMORY_E_DENIED || (r == 0 && page)) {
                log_debug(LOG, "partition %d of shuffle %d is large: workers sort it", in->read.partition,
                          in->read.inputs->shuffle_id);
                gathered_pages_clear(&in->gathered);
                celeborn_input_start(in, true);
                return 0;
        }
        return r;
}

int celeborn_input_next(struct remote_input *in, int map, struct page **page, struct fst_error *error)
{
        struct celeborn_batch batch;
        int r = 0;
        *page = NULL;
        if (!in->group && (r = celeborn_input_begin(in, map, error)) == 0)
                r = celeborn_input_gather(in, error);
        if (r)
                return r;
        if (!in->sorted && map > in->gathered.complete)
                celeborn_input_start(in, true);
        if (in->sorted)
                return celeborn_input_read(in, map, page, &batch, error);
        *page = gathered_pages_next(&in->gathered, map);
        return 0;
}

void celeborn_input_free(struct remote_input *in)
{
        if (!in)
                return;
        gathered_pages_deinit(&in->gathered);
        for (int i = 0; i < in->n && in->files; i++) {
                chunk_stream_close(&in->files[i].stream);
                error_deinit(&in->files[i].error);
        }
        if (in->group) {
                fetch_core_deinit(&in->core);
                celeborn_files_put(&in->reader->files, in->group);
        }
        codec_deinit(&in->codec);
        free(in->scratch);
        free(in->files);
        free(in);
}
