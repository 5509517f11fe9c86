/*
 * The task process's side of task_process_requests.h. The process has one thread and one runner, so its state is one
 * static struct.
 *
 * Pages of the input used last lie in the memory shared with the executor. If several inputs are open, their pages are
 * copied first, because the next reply overwrites that memory.
 */
#include "exec/isolation/task_process_requests.h"

#include "base/error.h"
#include "base/mem.h"
#include "exec/task/task_runner.h"
#include "rdd/pipeline/remote_blocks.h"
#include "rdd/pipeline/task_services.h"
#include "store/page_frame.h"

#include <unistd.h>

struct shuffle_input {
        struct shuffle_input *next; /* next open input */
        struct task_run *run;
        int handle;
        const unsigned char *at; /* next page */
        uint32_t pages;          /* pages not returned yet */
        bool end;                /* the executor has no more pages */
        void *copy;              /* owned memory that `at` points into; NULL: shared memory */
};

/* A partition held by the executor, read as a shuffle is. */
struct remote_block {
        struct shuffle_input input;
};

struct kept_broadcast {
        struct kept_broadcast *next;
        int64_t id;
        uint64_t size;
        unsigned char data[] __attribute__((aligned(16)));
};

static struct {
        int socket;
        struct task_process_shared *shared;
        struct shuffle_input *open;
        struct kept_broadcast *broadcasts;
        struct task_services services;
        char *files_dir; /* NULL: not known yet */
        struct remote_blocks blocks;
        struct block_store *store; /* collects partitions while they are computed */
        struct task_process_received in;
} me;

/*
 * Sends a request and waits for the reply. Its text is in me.in until task_process_received_deinit. Exits if the
 * executor has ended.
 */
static struct task_process_reply send_request(struct task_process_request question, const void *text, size_t text_len,
                                              const unsigned char **body, size_t *len)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        struct task_process_reply answer = {0};
        buf_append(&b, &question, sizeof(question));
        if (text_len)
                buf_append(&b, text, text_len);
        if (task_process_send(me.socket, PACKET_REQUEST, b.data, b.len, -1) ||
            task_process_receive(me.socket, &me.in) <= 0 || me.in.kind != PACKET_REPLY || me.in.len < sizeof(answer))
                _exit(0);
        memcpy(&answer, me.in.body, sizeof(answer));
        *body = me.in.body + sizeof(answer);
        *len = me.in.len - sizeof(answer);
        return answer;
}

static struct task_process_reply send_simple_request(struct task_process_request question, const char *text,
                                                     const unsigned char **body, size_t *len)
{
        return send_request(question, text, text ? strlen(text) : 0, body, len);
}

static void add_counted(struct task_run *run, const struct task_process_reply *answer)
{
        int64_t sum[sizeof(struct task_counters) / sizeof(int64_t)], more[ARRAY_SIZE(sum)];
        memcpy(sum, &run->counters, sizeof(sum));
        memcpy(more, &answer->counted, sizeof(more));
        for (size_t i = 0; i < ARRAY_SIZE(sum); i++)
                sum[i] += more[i];
        memcpy(&run->counters, sum, sizeof(sum));
        __atomic_store_n(&run->records_read, run->counters.input_records + run->counters.shuffle_read_records,
                         __ATOMIC_RELAXED);
}

static int task_process_inputs_failed(struct task_run *run, const struct task_process_reply *answer,
                                      const unsigned char *text, size_t len)
{
        run->fetch_failed = answer->fetch_failed;
        run->fetch_shuffle = answer->fetch_shuffle;
        run->fetch_map = answer->fetch_map;
        run->fetch_executor = answer->fetch_executor;
        int r = task_run_fail(run, answer->status, "%.*s", (int)len, (const char *)text);
        task_process_received_deinit(&me.in);
        return r;
}

/* ------------------------------------------------------------------------------------------------------- shuffles */

/* Copies the input's pages out of the shared memory, which is about to be overwritten. */
static void copy_shared_pages(struct shuffle_input *in)
{
        if (!in->pages || in->copy)
                return;
        size_t offset = (size_t)(in->at - me.shared->pages);
        in->copy = mem_alloc(sizeof(me.shared->pages) - offset);
        memcpy(in->copy, in->at, sizeof(me.shared->pages) - offset);
        in->at = in->copy;
}

static void task_process_inputs_enlist(struct shuffle_input *in, struct task_run *run, int handle)
{
        *in = (struct shuffle_input){.next = me.open, .run = run, .handle = handle};
        me.open = in;
}

static int input_open(void *owner, struct task_run *run, int shuffle_id, int partition, fst_type type,
                      struct shuffle_input **input)
{
        const unsigned char *text;
        size_t len;
        struct task_process_reply answer = send_simple_request(
                (struct task_process_request){
                        .what = REQUEST_OPEN, .shuffle = shuffle_id, .partition = partition, .type = type},
                NULL, &text, &len);
        if (answer.status)
                return task_process_inputs_failed(run, &answer, text, len);
        task_process_received_deinit(&me.in);
        struct shuffle_input *in = new0(struct shuffle_input);
        task_process_inputs_enlist(in, run, answer.handle);
        *input = in;
        return 0;
}

static int task_process_inputs_fill(struct shuffle_input *in)
{
        const unsigned char *body;
        size_t len;
        for (struct shuffle_input *other = me.open; other; other = other->next)
                if (other != in)
                        copy_shared_pages(other);
        free(steal(in->copy));
        struct task_process_reply answer = send_simple_request(
                (struct task_process_request){.what = REQUEST_NEXT, .handle = in->handle}, NULL, &body, &len);
        add_counted(in->run, &answer);
        if (answer.status)
                return task_process_inputs_failed(in->run, &answer, body, len);
        in->end = answer.end;
        in->pages = answer.pages;
        in->at = me.shared->pages;
        if (len) {
                in->at = in->copy = mem_alloc(len);
                memcpy(in->copy, body, len);
                in->pages = 1;
        }
        task_process_received_deinit(&me.in);
        return 0;
}

static int input_next(struct shuffle_input *in, const struct page **page)
{
        *page = NULL;
        while (!in->pages) {
                int r = in->end ? 0 : task_process_inputs_fill(in);
                if (r || (in->end && !in->pages))
                        return r;
        }
        const struct page *p = (const struct page *)(const void *)in->at;
        in->at += (sizeof(*p) + p->used + 15) & ~(size_t)15;
        in->pages--;
        *page = p;
        return 0;
}

static void input_end(struct shuffle_input *in)
{
        struct task_process_request question = {.what = REQUEST_CLOSE, .handle = in->handle};
        task_process_send(me.socket, PACKET_REQUEST, &question, sizeof(question), -1);
        for (struct shuffle_input **at = &me.open; *at; at = &(*at)->next)
                if (*at == in) {
                        *at = in->next;
                        break;
                }
        free(in->copy);
}

static void input_close(struct shuffle_input *in)
{
        input_end(in);
        free(in);
}

static const struct shuffle_source asking_source = {.open = input_open, .next = input_next, .close = input_close};

/* --------------------------------------------------------------------------------------------- persisted partitions */

static int block_open(void *owner, struct task_run *run, struct block_id id, fst_type type, struct remote_block **block)
{
        const unsigned char *text;
        size_t len;
        struct task_process_reply answer = send_simple_request(
                (struct task_process_request){.what = REQUEST_BLOCK, .shuffle = id.rdd, .partition = id.partition},
                NULL, &text, &len);
        if (answer.status)
                return task_process_inputs_failed(run, &answer, text, len);
        task_process_received_deinit(&me.in);
        if (answer.handle < 0)
                return 1;
        *block = new0(struct remote_block);
        task_process_inputs_enlist(&(*block)->input, run, answer.handle);
        return 0;
}

static int task_process_inputs_block_next(struct remote_block *block, const struct page **page)
{
        return input_next(&block->input, page);
}

static void task_process_inputs_block_close(struct remote_block *block)
{
        input_end(&block->input);
        free(block);
}

/* Hands over a page. @page NULL is the end. Returns false if the executor wants no more. */
static bool hand_page_over(struct block_id id, const struct page *page)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        const unsigned char *body;
        size_t len;
        if (page) {
                unsigned char header[PAGE_FRAME_HEADER];
                page_frame_header(page, header);
                buf_reserve(&b, page_frame_bound(page));
                buf_append(&b, header, sizeof(header));
                buf_append(&b, page->data, page->used);
        }
        struct task_process_reply answer = send_request(
                (struct task_process_request){.what = REQUEST_KEEP, .shuffle = id.rdd, .partition = id.partition},
                b.data, b.len, &body, &len);
        task_process_received_deinit(&me.in);
        return answer.status == 0;
}

/*
 * Hands the gathered partition to the executor and frees it here. If the executor does not keep it, it is computed
 * again.
 */
static void hand_block_over(void *owner, struct task_run *run, struct block_id id, enum fst_storage_level level)
{
        struct fst_error error = FST_ERROR_INIT;
        struct block *block = block_store_find(me.store, id);
        struct block_reader reader;
        const struct page *page;
        if (block && block_reader_init(&reader, block, &error) == 0) {
                int r;
                while ((r = block_reader_next_page(&reader, &page, &error)) == 0 && page && hand_page_over(id, page))
                        ;
                if (r == 0 && !page)
                        hand_page_over(id, NULL);
                block_reader_deinit(&reader);
        }
        error_deinit(&error);
        if (block)
                block_release(block);
        block_store_remove(me.store, id);
}

/* ------------------------------------------------------------------------------------------------ everything else */

static int slice_fetch(void *owner, struct task_run *run, int rdd, int partition, struct buf *slice)
{
        const unsigned char *body;
        size_t len;
        struct task_process_reply answer = send_simple_request(
                (struct task_process_request){.what = REQUEST_SLICE, .shuffle = rdd, .partition = partition}, NULL,
                &body, &len);
        if (answer.status)
                return task_process_inputs_failed(run, &answer, body, len);
        buf_append(slice, body, len);
        task_process_received_deinit(&me.in);
        return 0;
}

static const struct slice_source asking_slices = {.fetch = slice_fetch};

/* Values are kept: they never change, and the next task may use them. */
static int task_process_inputs_broadcast(void *owner, int64_t id, uint64_t size, const int *stopped, const void **data,
                                         void **hold, struct fst_error *error)
{
        const unsigned char *body;
        size_t len;
        struct kept_broadcast *kept = me.broadcasts;
        while (kept && (kept->id != id || kept->size != size))
                kept = kept->next;
        if (!kept) {
                struct task_process_reply answer = send_simple_request(
                        (struct task_process_request){.what = REQUEST_BROADCAST, .id = id, .size = size}, NULL, &body,
                        &len);
                if (answer.status || len != size) {
                        error_set(error, answer.status, "%.*s", (int)len, (const char *)body);
                        task_process_received_deinit(&me.in);
                        return answer.status ? answer.status : -EBADMSG;
                }
                kept = malloc(sizeof(*kept) + size);
                if (!kept) {
                        task_process_received_deinit(&me.in);
                        return error_set(error, -ENOMEM, "no memory for a broadcast variable of %llu bytes",
                                         (unsigned long long)size);
                }
                *kept = (struct kept_broadcast){.next = me.broadcasts, .id = id, .size = size};
                memcpy(kept->data, body, len);
                task_process_received_deinit(&me.in);
                me.broadcasts = kept;
        }
        *data = kept->data;
        *hold = kept;
        return 0;
}

static void task_process_inputs_release(void *owner, void *hold)
{
        /* The value stays in memory. */
}

static int task_process_inputs_file(void *owner, const char *name, const int *stopped, const char **path,
                                    struct fst_error *error)
{
        const unsigned char *body;
        size_t len;
        struct task_process_reply answer =
                send_simple_request((struct task_process_request){.what = REQUEST_FILE}, name, &body, &len);
        char *text = mem_strndup((const char *)body, len);
        task_process_received_deinit(&me.in);
        if (answer.status) {
                error_set(error, answer.status, "%s", text);
                free(text);
                return answer.status;
        }
        if (!*name) {
                free(me.files_dir);
                me.files_dir = text;
        }
        *path = text; /* valid as long as the application, as every path; there are few */
        return 0;
}

static int task_process_inputs_barrier(void *owner, const uint8_t *question, size_t question_len, const int *stopped,
                                       uint8_t **answer, size_t *answer_len, struct fst_error *error)
{
        const unsigned char *body;
        size_t len;
        struct task_process_reply a = send_request((struct task_process_request){.what = REQUEST_BARRIER}, question,
                                                   question_len, &body, &len);
        if (a.status) {
                error_set(error, a.status, "%.*s", (int)len, (const char *)body);
        } else {
                *answer = mem_alloc(len + 1);
                memcpy(*answer, body, len);
                *answer_len = len;
        }
        task_process_received_deinit(&me.in);
        return a.status;
}

void task_process_requests_use(struct exec_env *env, struct task_runner *runner, int socket,
                               struct task_process_shared *shared)
{
        me.socket = socket;
        me.shared = shared;
        me.services = (struct task_services){.broadcast = task_process_inputs_broadcast,
                                             .release = task_process_inputs_release,
                                             .file = task_process_inputs_file,
                                             .barrier = task_process_inputs_barrier,
                                             .python = env->python};
        env->services = &me.services;
        env->slices = &asking_slices;
        me.store = env->blocks;
        me.blocks = (struct remote_blocks){.open = block_open,
                                           .next = task_process_inputs_block_next,
                                           .close = task_process_inputs_block_close,
                                           .replicate = hand_block_over,
                                           .takes_all = true};
        env->remote = &me.blocks;
        runner->shuffle = &asking_source;
        runner->run.services = &me.services;
}
