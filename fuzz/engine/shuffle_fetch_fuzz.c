/*
 * A reduce task that reads from a malicious server: the input is the reply on each connection, with frames, records and
 * pages, after a byte that chooses how it is split. The read must end with rows or a fetch failure.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/socket.h"
#include "rpc/transfer/transfer.h"
#include "shuffle/shuffle_reader.h"
#include "shuffle/shuffle_store.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define TYPE FST_PAIR(BYTES, I64)

static int listener, port;
#define MAX_ANSWER 60000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t answer[MAX_ANSWER]; /* of the current input */
static size_t answer_size;

/* Replies on each connection, and keeps it open until the client closes it. */
static void *serve_input(void *arg)
{
        static uint8_t present[MAX_ANSWER]; /* a copy, because a reader that fails does not wait until all is sent */
        char buf[4096];
        for (;;) {
                if (socket_wait(listener, POLLIN, -1, NULL) < 0)
                        return NULL;
                int fd = socket_accept(listener);
                if (fd < 0)
                        continue;
                pthread_mutex_lock(&lock);
                size_t n = answer_size;
                memcpy(present, answer, n);
                pthread_mutex_unlock(&lock);
                (void)!send(fd, present, n, MSG_NOSIGNAL);
                shutdown(fd, SHUT_WR);
                while (socket_wait(fd, POLLIN, -1, NULL) == 1 && recv(fd, buf, sizeof(buf), 0) > 0)
                        ;
                close(fd);
        }
}

static void start_server(void)
{
        pthread_t thread;
        log_set_level(LOG_OFF);
        listener = socket_listen(&(struct listen_options){.service = "fuzz", .host = "127.0.0.1"}, &port, NULL);
        if (listener < 0 || pthread_create(&thread, NULL, serve_input, NULL))
                abort();
        pthread_detach(thread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (!port)
                start_server();
        if (size > MAX_ANSWER)
                return 0;
        pthread_mutex_lock(&lock);
        memcpy(answer, data, size);
        answer_size = size;
        pthread_mutex_unlock(&lock);
        struct spill_space space = {.shuffle_codec = CODEC_LZ4};
        struct shuffle_map maps[2] = {{.task_id = 10}, {.task_id = 11}};
        struct shuffle_inputs inputs = {.shuffle_id = 1, .n = 2, .maps = maps};
        struct shuffle_location location = {.executor_id = (char *)"1", .host = (char *)"127.0.0.1", .port = port};
        struct transfer_client *client = transfer_client_new(&(struct transfer_client_options){0});
        struct shuffle_reader_env env = {.inputs = &inputs,
                                         .n_inputs = 1,
                                         .locations = &location,
                                         .n_locations = 1,
                                         .here = -1,
                                         .space = &space,
                                         .client = client};
        struct memory_manager *memory = memory_manager_new((size_t)8 << 20, 0.5);
        struct task_run run;
        struct shuffle_input *input;
        const struct page *page;
        struct page_cursor cursor;
        fst_batch batch;
        size_t bytes = 0;
        task_run_init(&run, memory, &space);
        task_run_begin(&run, &(struct fst_task_info){0}, 1);
        page_cursor_init(&cursor, TYPE);
        if (shuffle_reader_source.open(&env, &run, 1, 0, TYPE, &input))
                abort();
        while (shuffle_reader_source.next(input, &page) == 0 && page)
                for (page_cursor_start(&cursor, page); page_cursor_next(&cursor, &batch);)
                        for (uint32_t i = 0; i < batch.rows; i++)
                                bytes += batch.key.bytes[i].len;
        shuffle_reader_source.close(input);
        shuffle_reader_env_end(&env);
        if (run.status == 0 && bytes > size * 256)
                abort(); /* more rows than the input can have */
        page_cursor_deinit(&cursor);
        task_run_deinit(&run);
        transfer_client_free(client);
        if (memory_manager_execution_used(memory))
                abort();
        memory_manager_free(memory);
        return 0;
}
