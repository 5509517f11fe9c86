/*
 * Fetches partitions from other executors for tasks here, and copies local ones to them; see block_manager.h.
 *
 * Pages go to the task's memory while it is granted. After that they all go to a temporary file, including the earlier
 * ones. When a peer fails, its pages are dropped and the next peer is asked.
 */
#include "exec/blocks/block_manager_internal.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/exec_env.h"
#include "rpc/transfer/transfer.h"
#include "store/page_frame.h"
#include "store/spill.h"
#include "store/storage_level.h"

struct remote_block {
        struct block_manager *manager;
        struct task_run *run;
        fst_type type;
        struct memory_consumer memory;
        struct codec codec;
        struct page *first, **last;
        struct spill *spill; /* all pages, once they do not fit in memory */
        struct spill_reader reader;
        bool reading;
        struct page *loaded;
        const struct page *at; /* next page in memory */
        unsigned char *payload;
        size_t room;
};

static void remote_block_clear(struct remote_block *b)
{
        page_list_free(&b->memory, steal(b->first));
        b->last = &b->first;
        spill_free(steal(b->spill));
}

static void remote_close(struct remote_block *b)
{
        if (b->reading)
                spill_reader_deinit(&b->reader);
        page_free(NULL, b->loaded);
        remote_block_clear(b);
        memory_consumer_deinit(&b->memory);
        codec_deinit(&b->codec);
        free(b->payload);
        free(b);
}

/* Moves the pages from memory to a file, which also receives the later pages. */
static int move_pages_to_file(struct remote_block *b, struct fst_error *error)
{
        struct exec_env *env = b->manager->env;
        struct spill *spill;
        int r = spill_new(&(struct spill_options){.dirs = env->dirs, .type = b->type, .codec = CODEC_NONE}, &spill,
                          error);
        if (r)
                return r;
        for (struct page *p = b->first; p && r == 0; p = p->next)
                r = spill_write_page(spill, p, NULL, NULL, error);
        if (r) {
                spill_free(spill);
                return r;
        }
        remote_block_clear(b);
        b->spill = spill;
        return 0;
}

static int keep_page(struct remote_block *b, const struct page_frame *frame, struct fst_error *error)
{
        struct page *page = NULL;
        int r = FST_MEMORY_E_DENIED;
        if (!b->spill) {
                r = page_frame_decode(frame, b->type, b->payload, &b->codec, &b->memory, &page, error);
                if (r == 0) {
                        *b->last = page;
                        b->last = &page->next;
                        return 0;
                }
                if (r < 0 || (r = move_pages_to_file(b, error)))
                        return r;
        }
        r = page_frame_decode(frame, b->type, b->payload, &b->codec, NULL, &page, error);
        if (r)
                return r < 0 ? r : error_set(error, -ENOMEM, "no memory for a page");
        r = spill_write_page(b->spill, page, NULL, NULL, error);
        page_free(NULL, page);
        return r;
}

static int receive_page(struct remote_block *b, struct transfer_input *in, struct fst_error *error)
{
        unsigned char header[PAGE_FRAME_HEADER];
        struct page_frame frame;
        int r = transfer_read_all(in, header, sizeof(header), error);
        if (r)
                return r;
        if ((r = page_frame_parse(header, b->type, &frame, error)))
                return r;
        if (frame.payload > b->room) {
                free(b->payload);
                b->room = MAX(frame.payload, (uint32_t)PAGE_BLOCK);
                if (!(b->payload = mem_try(b->room))) {
                        b->room = 0;
                        return error_set(error, -ENOMEM, "no memory for a page of %u bytes", frame.payload);
                }
        }
        r = frame.payload ? transfer_read_all(in, b->payload, frame.payload, error) : 0;
        if (r == FST_TRANSFER_E_END)
                return error_set(error, -EPROTO, "the reply ends after a page header");
        return r ? r : keep_page(b, &frame, error);
}

static int fetch_block_from(struct remote_block *b, const struct block_location *at, struct block_name name,
                            struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        struct block_peer peer = {&b->manager->network, at};
        struct transfer_call call = {.stopped = b->run->task.stopped, .gone = block_peer_gone, .gone_owner = &peer};
        struct transfer_input *in = NULL;
        block_request_fetch(name, &request);
        int r = transfer_open(b->manager->network.client, at->host, at->port, request.data, request.len, &call, &in,
                              error);
        while (r == 0)
                r = receive_page(b, in, error);
        transfer_close(in);
        if (r == FST_TRANSFER_E_END && b->spill)
                return spill_finish(b->spill, error);
        return r == FST_TRANSFER_E_END ? 0 : r;
}

static int remote_open(void *owner, struct task_run *run, struct block_id id, fst_type type, struct remote_block **out)
{
        struct block_manager *m = owner;
        struct block_name name = {BLOCK_RDD, id.rdd, id.partition};
        struct block_location at[MAX_BLOCK_LOCATIONS];
        struct fst_error error = FST_ERROR_INIT;
        int n = m->network.locations(m->network.owner, name, run->task.stopped, at, MAX_BLOCK_LOCATIONS, &error);
        if (n <= 0) {
                if (n < 0 && n != -ECANCELED)
                        log_warn("BlockManager", "cannot ask the driver for rdd_%d_%d, computing it: %s", id.rdd,
                                 id.partition, error_message(&error));
                error_deinit(&error);
                return n == -ECANCELED ? task_run_cancelled(run) : 1;
        }
        struct remote_block *b = new0(struct remote_block);
        *b = (struct remote_block){.manager = m, .run = run, .type = type};
        b->last = &b->first;
        memory_consumer_init(&b->memory, task_run_memory(run), "remote block", NULL);
        block_store_codec(m->env->blocks, &b->codec);
        int r = -ENOENT;
        for (int i = 0; i < n && r && r != -ECANCELED; i++) {
                r = fetch_block_from(b, &at[i], name, &error);
                if (r == 0 || r == -ECANCELED)
                        break;
                log_warn("BlockManager", "Failed to fetch rdd_%d_%d from %s:%d: %s", id.rdd, id.partition, at[i].host,
                         at[i].port, error_message(&error));
                remote_block_clear(b);
        }
        error_deinit(&error);
        if (r == 0) {
                b->at = b->first;
                *out = b;
                return 0;
        }
        remote_close(b);
        return r == -ECANCELED || task_run_stopped(run) ? task_run_cancelled(run) : 1;
}

static int remote_next(struct remote_block *b, const struct page **page)
{
        struct fst_error error = FST_ERROR_INIT;
        if (!b->spill) {
                *page = b->at;
                b->at = b->at ? b->at->next : NULL;
                return 0;
        }
        int r = b->reading ? 0 : spill_reader_init(&b->reader, b->spill, 0, spill_end(b->spill), NULL, &error);
        if (r == 0) {
                b->reading = true;
                page_free(NULL, steal(b->loaded));
                r = spill_reader_next(&b->reader, NULL, &b->loaded, &error);
        }
        if (r)
                return task_run_fail_with(b->run, r < 0 ? r : -ENOMEM, &error);
        *page = b->loaded;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- replicating */

static int copy_block_to(struct block_manager *m, const struct block_location *at, struct block *block,
                         struct block_name name, enum fst_storage_level level, const int *stopped,
                         struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf request = BUF_INIT;
        struct block_peer peer = {&m->network, at};
        struct transfer_call call = {.stopped = stopped, .gone = block_peer_gone, .gone_owner = &peer};
        struct transfer_stream *stream;
        int r = block_stream_new(block, true, false, &stream, error);
        if (r)
                return r;
        block_request_put(name, level, &request);
        r = transfer_put_stream(m->network.client, at->host, at->port, request.data, request.len, stream, &call, error);
        stream->class->close(stream);
        return r;
}

int block_manager_give(struct block_manager *m, struct block_id id, const struct block_location *to, const int *stopped,
                       struct fst_error *error)
{
        struct block_status status;
        struct block *block = block_store_find(m->env->blocks, id);
        if (!block)
                return -ENOENT;
        int r = block_store_status(m->env->blocks, id, &status)
                        ? copy_block_to(m, to, block, (struct block_name){BLOCK_RDD, id.rdd, id.partition},
                                        status.level, stopped, error)
                        : -ENOENT;
        block_release(block);
        return r;
}

/*
 * Sends the block to @wanted of @peers and returns how many accepted it. Skips failing peers, up to the limit of the
 * configuration (as Spark).
 */
static int copy_block_to_peers(struct block_manager *m, const struct block_location *peers, int n, struct block *block,
                               struct block_name name, enum fst_storage_level level, int wanted, const int *stopped,
                               struct fst_error *error)
{
        int copies = 0, failures = 0;
        for (int i = 0; i < n && copies < wanted; i++) {
                int r = copy_block_to(m, &peers[i], block, name, level, stopped, error);
                copies += r == 0;
                if (r == 0)
                        continue;
                log_warn("BlockManager", "Failed to replicate rdd_%d_%d to %s:%d: %s", (int)name.id, name.part,
                         peers[i].host, peers[i].port, error_message(error));
                if (r == -ECANCELED || ++failures > m->network.replication_failures)
                        break;
        }
        return copies;
}

/* Copies @block to @wanted executors that do not have it. Returns how many accepted it, or negative. */
static int copy_block(struct block_manager *m, struct block *block, struct block_id id, enum fst_storage_level level,
                      int wanted, const int *stopped, struct fst_error *error)
{
        struct block_location peers[MAX_BLOCK_LOCATIONS];
        struct block_name name = {BLOCK_RDD, id.rdd, id.partition};
        int n = m->network.peers ? m->network.peers(m->network.owner, &name, stopped, peers, ARRAY_SIZE(peers), error)
                                 : 0;
        return n <= 0 ? n : copy_block_to_peers(m, peers, n, block, name, level, wanted, stopped, error);
}

static void remote_replicate(void *owner, struct task_run *run, struct block_id id, enum fst_storage_level level)
{
        struct block_manager *m = owner;
        struct fst_error error = FST_ERROR_INIT;
        struct block *block = block_store_find(m->env->blocks, id);
        if (!block)
                return;
        int wanted = storage_level_replicas(level) - 1;
        int copies = copy_block(m, block, id, level, wanted, run->task.stopped, &error);
        if (copies < 0)
                log_warn("BlockManager", "rdd_%d_%d is not replicated: %s", id.rdd, id.partition,
                         error_message(&error));
        else if (copies < wanted)
                log_warn("BlockManager", "Block rdd_%d_%d replicated to only %d peer(s) instead of %d peers", id.rdd,
                         id.partition, copies, wanted);
        block_release(block);
        error_deinit(&error);
}

int block_manager_copy(struct block_manager *m, struct block_id id, const int *stopped, struct fst_error *error)
{
        struct block_status status;
        struct block *block = block_store_find(m->env->blocks, id);
        if (!block)
                return -ENOENT;
        int r = block_store_status(m->env->blocks, id, &status)
                        ? copy_block(m, block, id, status.level, 1, stopped, error)
                        : -ENOENT;
        block_release(block);
        if (r == 0 && !error_message(error))
                return error_set(error, -EHOSTUNREACH, "no other executor is known");
        return r < 0 ? r : r == 0 ? -EHOSTUNREACH : 0;
}

const struct remote_blocks remote_block_operations = {
        .open = remote_open, .next = remote_next, .close = remote_close, .replicate = remote_replicate};
