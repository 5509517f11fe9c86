/*
 * The executor's side of task_process_requests.h. Invariant: a page that did not fit into a reply is the first of the
 * next one.
 */
#include "exec/isolation/task_process_requests.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/actions/stage_context.h"
#include "rdd/pipeline/task_services.h"
#include "shuffle/shuffle_reader.h"
#include "rdd/rdd_visit.h"
#include "rdd/pipeline/remote_blocks.h"
#include "shuffle/shuffle_store.h"
#include "store/block_store.h"
#include "store/page_frame.h"
#include "store/storage_level.h"

enum { MAX_INPUTS = 64 };

/* An open input of a task process: a partition of a shuffle, or a block here or of another executor. */
struct open_input {
        struct shuffle_input *shuffle;
        struct block *block;
        struct block_reader reader; /* of `block` */
        struct remote_block *remote;
        const struct page *pending;
};

/* A block that a task process hands over. */
struct handed_block {
        bool begun;
        struct block_id id;
        fst_type type;
        enum fst_storage_level level;
        struct block_writer *writer; /* NULL: the block exists already or cannot be stored, and the rest is dropped */
        struct page_cursor cursor;
};

struct task_process_requests {
        const struct exec_env *env;
        struct task_run run; /* the task's run, for reads here */
        int64_t task_id;     /* the task that it was begun for; -1: none */
        struct task_counters told;
        struct open_input inputs[MAX_INPUTS];
        struct handed_block kept;
};

struct task_process_requests *task_process_requests_new(const struct exec_env *env)
{
        struct task_process_requests *a = new0(struct task_process_requests);
        a->env = env;
        a->task_id = -1;
        task_run_init(&a->run, env->memory, &env->shuffles->space);
        a->run.services = env->services;
        return a;
}

static bool task_process_requests_is_open(const struct open_input *in)
{
        return in->shuffle || in->block || in->remote;
}

static void close_input(struct task_process_requests *a, struct open_input *in)
{
        if (in->shuffle)
                shuffle_reader_source.close(in->shuffle);
        if (in->remote)
                a->env->remote->close(in->remote);
        if (in->block) {
                block_reader_deinit(&in->reader);
                block_release(in->block);
        }
        *in = (struct open_input){0};
}

/* Drops a block that was not handed over completely. */
static void drop_handed_block(struct handed_block *kept)
{
        block_writer_abort(kept->writer);
        if (kept->begun)
                page_cursor_deinit(&kept->cursor);
        *kept = (struct handed_block){0};
}

void task_process_requests_reset(struct task_process_requests *a)
{
        for (int i = 0; i < MAX_INPUTS; i++)
                close_input(a, &a->inputs[i]);
        drop_handed_block(&a->kept);
        task_run_end(&a->run);
        a->run.task.stopped = &a->run.stop;
        a->task_id = -1;
}

void task_process_requests_free(struct task_process_requests *a)
{
        if (!a)
                return;
        task_process_requests_reset(a);
        task_run_deinit(&a->run);
        free(a);
}

static void begin_task_run(struct task_process_requests *a, struct slot_task *t)
{
        if (a->task_id == t->info.id)
                return;
        task_process_requests_reset(a);
        a->run.task.stopped = &t->killed;
        task_run_begin(&a->run, &t->info, a->env->seed);
        a->told = (struct task_counters){0};
        a->task_id = t->info.id;
}

/* ------------------------------------------------------------------------------------------------------ replies */

/* Adds the reader's counts since the last reply. Every field is a 64-bit sum. */
static void task_process_requests_count(struct task_process_requests *a, struct task_process_reply *answer)
{
        _Static_assert(sizeof(struct task_counters) % sizeof(int64_t) == 0, "counters are int64_t");
        int64_t now[sizeof(struct task_counters) / sizeof(int64_t)], told[ARRAY_SIZE(now)];
        memcpy(now, &a->run.counters, sizeof(now));
        memcpy(told, &a->told, sizeof(told));
        for (size_t i = 0; i < ARRAY_SIZE(now); i++)
                told[i] = now[i] - told[i];
        memcpy(&answer->counted, told, sizeof(told));
        a->told = a->run.counters;
}

static bool send_reply(int socket, const struct task_process_reply *answer, const void *body, size_t len)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        buf_reserve(&b, sizeof(*answer) + len);
        buf_append(&b, answer, sizeof(*answer));
        if (len)
                buf_append(&b, body, len);
        return task_process_send(socket, PACKET_REPLY, b.data, b.len, -1) == 0;
}

static bool send_failure(struct task_process_requests *a, int socket, int status, const char *message)
{
        struct task_process_reply answer = {.status = status < 0 ? status : -EIO};
        if (!message)
                message = a->run.error.message;
        if (a->run.fetch_failed) {
                answer.fetch_failed = 1;
                answer.fetch_shuffle = a->run.fetch_shuffle;
                answer.fetch_map = a->run.fetch_map;
                answer.fetch_executor = a->run.fetch_executor;
        }
        task_process_requests_count(a, &answer);
        return send_reply(socket, &answer, message, message ? strlen(message) : 0);
}

static int free_handle(const struct task_process_requests *a)
{
        int i = 0;
        while (i < MAX_INPUTS && task_process_requests_is_open(&a->inputs[i]))
                i++;
        return i;
}

static bool reply_open(struct task_process_requests *a, int socket, struct task_batch *run,
                       const struct task_process_request *ask)
{
        struct task_process_reply answer = {.handle = free_handle(a)};
        struct shuffle_input *input;
        if (answer.handle == MAX_INPUTS)
                return send_failure(a, socket, -EMFILE, "a task has too many open shuffles");
        int r = shuffle_reader_source.open((void *)&run->work->inputs, &a->run, ask->shuffle, ask->partition, ask->type,
                                           &input);
        if (r)
                return send_failure(a, socket, r, NULL);
        a->inputs[answer.handle].shuffle = input;
        return send_reply(socket, &answer, NULL, 0);
}

/* Returns the persisted RDD @id of the stage, or NULL. */
static const fst_rdd *task_process_requests_persisted(const struct task_batch *run, int id)
{
        struct rdd_visit walk;
        const fst_rdd *found = NULL;
        rdd_visit_init(&walk, (fst_rdd *)run->work->final, RDD_VISIT_STAGE);
        for (uint32_t i = 0; i < walk.n && !found; i++)
                if (walk.rdds[i]->lineage.id == id)
                        found = walk.rdds[i];
        rdd_visit_deinit(&walk);
        return found;
}

/* Returns the current storage level of @rdd; FST_STORAGE_NONE for NULL. */
static enum fst_storage_level level_of(const fst_rdd *rdd)
{
        int level = rdd ? __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED) : FST_STORAGE_NONE;
        return storage_level_valid(level) ? (enum fst_storage_level)level : FST_STORAGE_NONE;
}

static bool reply_block(struct task_process_requests *a, int socket, struct task_batch *run,
                        const struct task_process_request *ask)
{
        const struct remote_blocks *remote = a->env->remote;
        const fst_rdd *rdd = task_process_requests_persisted(run, ask->shuffle);
        struct task_process_reply answer = {.handle = free_handle(a)};
        struct fst_error error = FST_ERROR_INIT;
        if (!rdd || answer.handle == MAX_INPUTS)
                return send_failure(a, socket, -EMFILE, "a task has too many open inputs");
        struct open_input *in = &a->inputs[answer.handle];
        struct block_id id = {ask->shuffle, ask->partition};
        int r = 0;
        in->block = block_store_find(a->env->blocks, id);
        if (in->block)
                block_is_wanted_at(in->block, level_of(rdd));
        if (in->block && (r = block_reader_init(&in->reader, in->block, &error))) {
                block_release(steal(in->block));
                bool sent = send_failure(a, socket, r, error_message(&error));
                error_deinit(&error);
                return sent;
        }
        if (!in->block && remote && (r = remote->open(remote->owner, &a->run, id, rdd->type, &in->remote)))
                in->remote = NULL;
        if (r < 0)
                return send_failure(a, socket, r, NULL);
        if (!task_process_requests_is_open(in))
                answer.handle = -1;
        return send_reply(socket, &answer, NULL, 0);
}

/* ---------------------------------------------------------------------------------------------- persisted blocks */

static void begin_handed_block(struct task_process_requests *a, struct task_batch *run, struct block_id id)
{
        const fst_rdd *rdd = task_process_requests_persisted(run, id.rdd);
        struct handed_block *kept = &a->kept;
        struct block *there;
        drop_handed_block(kept);
        enum fst_storage_level level = level_of(rdd);
        if (level == FST_STORAGE_NONE)
                return; /* unpersisted meanwhile */
        kept->begun = true;
        kept->id = id;
        kept->type = rdd->type;
        kept->level = level;
        page_cursor_init(&kept->cursor, kept->type);
        /* `holds_memory` keeps it from waiting for another task, which may do the same. */
        struct block_asker asker = {.task = a, .holds_memory = true, .stopped = a->run.task.stopped};
        if (block_store_acquire(a->env->blocks, &asker, id, kept->level, kept->type, &there, &kept->writer) == 0)
                block_release(there);
}

static int task_process_requests_keep_page(struct handed_block *kept, const unsigned char *data, size_t len,
                                           struct fst_error *error)
{
        struct page_frame frame;
        struct page *page;
        fst_batch batch;
        int r = len < PAGE_FRAME_HEADER ? error_set(error, -EBADMSG, "a truncated page")
                                        : page_frame_parse(data, kept->type, &frame, error);
        if (r == 0 && (frame.codec != CODEC_NONE || frame.payload != len - PAGE_FRAME_HEADER))
                r = error_set(error, -EBADMSG, "a truncated page");
        if (r || (r = page_frame_decode(&frame, kept->type, data + PAGE_FRAME_HEADER, NULL, NULL, &page, error)))
                return r;
        page_cursor_start(&kept->cursor, page);
        while (r == 0 && page_cursor_next(&kept->cursor, &batch))
                r = block_writer_append(kept->writer, &batch, error);
        page_free(NULL, page);
        return r;
}

/* The reply's status says whether to send more. A block that cannot be stored is not an error: a later task recomputes
 * it. */
static bool reply_keep(struct task_process_requests *a, int socket, struct task_batch *run,
                       const struct task_process_request *ask, const struct task_process_received *in)
{
        struct block_id id = {ask->shuffle, ask->partition};
        struct handed_block *kept = &a->kept;
        const struct remote_blocks *remote = a->env->remote;
        struct fst_error error = FST_ERROR_INIT;
        struct task_process_reply answer = {0};
        size_t len = in->len - sizeof(*ask);
        int r = 0;
        if (!kept->begun || kept->id.rdd != id.rdd || kept->id.partition != id.partition)
                begin_handed_block(a, run, id);
        if (!kept->writer) {
                drop_handed_block(kept);
                answer.status = -ECANCELED;
                return send_reply(socket, &answer, NULL, 0);
        }
        if (len) {
                r = task_process_requests_keep_page(kept, (const unsigned char *)in->body + sizeof(*ask), len, &error);
        } else {
                enum fst_storage_level level = kept->level;
                r = block_writer_commit(steal(kept->writer), &error);
                drop_handed_block(kept);
                if (r == 0 && remote && remote->replicate && storage_level_replicas(level) > 1)
                        remote->replicate(remote->owner, &a->run, id, level);
        }
        if (r < 0)
                log_warn("BlockManager", "rdd_%d_%d of a task process cannot be stored: %s", id.rdd, id.partition,
                         error_message(&error));
        error_deinit(&error);
        if (r)
                drop_handed_block(kept);
        answer.status = r ? -ECANCELED : 0;
        return send_reply(socket, &answer, NULL, 0);
}

/* ------------------------------------------------------------------------------------------------------- inputs */

static size_t page_space(const struct page *page)
{
        return (sizeof(*page) + page->used + 15) & ~(size_t)15;
}

static int task_process_requests_next_page(struct task_process_requests *a, struct open_input *in,
                                           const struct page **page)
{
        struct fst_error error = FST_ERROR_INIT;
        if (in->shuffle)
                return shuffle_reader_source.next(in->shuffle, page);
        if (in->remote)
                return a->env->remote->next(in->remote, page);
        int r = block_reader_next_page(&in->reader, page, &error);
        return r ? task_run_fail_with(&a->run, r, &error) : 0;
}

/* Writes pages to the shared memory until it is full or there are no more. */
static bool reply_next(struct task_process_requests *a, int socket, struct task_process_shared *shared, int handle)
{
        struct task_process_reply answer = {.handle = handle};
        struct open_input *in = &a->inputs[handle];
        size_t used = 0;
        int r = 0;
        for (;;) {
                const struct page *page = in->pending;
                if (!page)
                        r = task_process_requests_next_page(a, in, &page);
                in->pending = r ? NULL : page;
                if (r || !page || page_space(page) > sizeof(shared->pages) - used)
                        break;
                memcpy(shared->pages + used, page, sizeof(*page) + page->used);
                used += page_space(page);
                answer.pages++;
                in->pending = NULL;
        }
        const struct page *page = in->pending;
        if (r)
                return send_failure(a, socket, r, NULL);
        task_process_requests_count(a, &answer);
        answer.end = !page;
        if (page && answer.pages == 0) { /* larger than the shared memory */
                in->pending = NULL;
                return send_reply(socket, &answer, page, sizeof(*page) + page->used);
        }
        return send_reply(socket, &answer, NULL, 0);
}

static bool reply_broadcast(struct task_process_requests *a, int socket, const struct task_process_request *ask)
{
        const struct task_services *services = a->env->services;
        struct fst_error error = FST_ERROR_INIT;
        struct task_process_reply answer = {0};
        const void *data = NULL;
        void *hold = NULL;
        int r = services && services->broadcast
                        ? services->broadcast(services->owner, ask->id, ask->size, a->run.task.stopped, &data, &hold,
                                              &error)
                        : error_set(&error, -ENOTSUP, "this executor has no broadcast variables");
        bool sent;
        if (r) {
                sent = send_failure(a, socket, r, error_message(&error));
        } else {
                sent = send_reply(socket, &answer, data, ask->size);
                services->release(services->owner, hold);
        }
        error_deinit(&error);
        return sent;
}

static bool reply_file(struct task_process_requests *a, int socket, const struct task_process_received *in)
{
        const struct task_services *services = a->env->services;
        struct fst_error error = FST_ERROR_INIT;
        struct task_process_reply answer = {0};
        const char *path = NULL;
        _cleanup_free_ char *name = mem_strndup((const char *)in->body + sizeof(struct task_process_request),
                                                in->len - sizeof(struct task_process_request));
        int r = services && services->file ? services->file(services->owner, name, a->run.task.stopped, &path, &error)
                                           : error_set(&error, -ENOENT, "this executor has no file %s", name);
        bool sent =
                r ? send_failure(a, socket, r, error_message(&error)) : send_reply(socket, &answer, path, strlen(path));
        error_deinit(&error);
        return sent;
}

static bool reply_slice(struct task_process_requests *a, int socket, const struct task_process_request *ask)
{
        _cleanup_(buf_deinit) struct buf slice = BUF_INIT;
        struct task_process_reply answer = {0};
        const struct slice_source *slices = a->env->slices;
        if (!slices)
                return send_failure(a, socket, -ENOENT, "the rows of parallelize are not available here");
        int r = slices->fetch(a->env->slice_owner, &a->run, ask->shuffle, ask->partition, &slice);
        return r ? send_failure(a, socket, r, NULL) : send_reply(socket, &answer, slice.data, slice.len);
}

static bool reply_barrier(struct task_process_requests *a, int socket, const struct task_process_received *in)
{
        const struct task_services *services = a->env->services;
        struct fst_error error = FST_ERROR_INIT;
        struct task_process_reply answer = {0};
        _cleanup_free_ uint8_t *reply = NULL;
        size_t len = 0;
        int r = services && services->barrier
                        ? services->barrier(services->owner, in->body + sizeof(struct task_process_request),
                                            in->len - sizeof(struct task_process_request), a->run.task.stopped, &reply,
                                            &len, &error)
                        : error_set(&error, -ENOTSUP, "barrier stages are not supported here");
        bool sent = r ? send_failure(a, socket, r, error_message(&error)) : send_reply(socket, &answer, reply, len);
        error_deinit(&error);
        return sent;
}

bool task_process_requests_reply(struct task_process_requests *a, int socket, struct task_process_shared *shared,
                                 struct task_batch *run, struct slot_task *t, const struct task_process_received *in)
{
        struct task_process_request ask;
        if (in->len < sizeof(ask))
                return false;
        memcpy(&ask, in->body, sizeof(ask));
        if (ask.what != REQUEST_CLOSE) { /* CLOSE is sent without waiting for a reply, so it may arrive late */
                if (!t)
                        return false;
                begin_task_run(a, t);
        }
        bool open = ask.handle >= 0 && ask.handle < MAX_INPUTS && task_process_requests_is_open(&a->inputs[ask.handle]);
        switch (ask.what) {
        case REQUEST_OPEN:
                return reply_open(a, socket, run, &ask);
        case REQUEST_NEXT:
                return open && reply_next(a, socket, shared, ask.handle);
        case REQUEST_CLOSE: /* no reply */
                if (!open)
                        return true; /* its task had ended before */
                close_input(a, &a->inputs[ask.handle]);
                return true;
        case REQUEST_BLOCK:
                return reply_block(a, socket, run, &ask);
        case REQUEST_KEEP:
                return reply_keep(a, socket, run, &ask, in);
        case REQUEST_BROADCAST:
                return reply_broadcast(a, socket, &ask);
        case REQUEST_FILE:
                return reply_file(a, socket, in);
        case REQUEST_SLICE:
                return reply_slice(a, socket, &ask);
        case REQUEST_BARRIER:
                return reply_barrier(a, socket, in);
        }
        return false;
}
