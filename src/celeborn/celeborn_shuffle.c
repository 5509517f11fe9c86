/* See celeborn_shuffle.h. */
#include "celeborn/celeborn_shuffle.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "celeborn/fetch/celeborn_input.h"
#include "celeborn/protocol/celeborn_wire.h"
#include "celeborn/push/push_client.h"
#include "celeborn/push/push_stream.h"
#include "conf/conf.h"
#include "shuffle/shuffle_output.h"

#include <pthread.h>

#define LOG "Celeborn"
#define BODY ((size_t)512 << 10) /* bytes up to which batches share a body: two pages */

struct celeborn_number {
        int shuffle;    /* the engine's */
        int32_t number; /* Celeborn's */
};

struct celeborn_shuffle {
        struct remote_shuffle remote;
        char *app_id;
        struct push_client *pushes;
        struct celeborn_reader reader;
        pthread_mutex_t lock;
        VEC(struct celeborn_number) numbers; /* that are used here */
};

/* Notes which number of Celeborn's a shuffle has, so that celeborn_shuffle_forget finds it. */
static void celeborn_shuffle_note(struct celeborn_shuffle *c, int shuffle, int32_t number)
{
        bool known = false;
        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < c->numbers.len && !known; i++)
                known = c->numbers.data[i].number == number;
        if (!known)
                vec_push(&c->numbers, (struct celeborn_number){shuffle, number});
        pthread_mutex_unlock(&c->lock);
}

/* ----------------------------------------------------------------------------------------------------- publishing */

static struct remote_stream *celeborn_shuffle_stream(struct remote_shuffle *remote, int shuffle,
                                                     const struct remote_output *output)
{
        struct celeborn_shuffle *c = container_of(remote, struct celeborn_shuffle, remote);
        const int32_t number = celeborn_shuffle_of_place(output->place);
        celeborn_shuffle_note(c, shuffle, number);
        return push_stream_new(c->pushes, number, output);
}

/* Begins to push one output, unless that was done while it was written. */
static int celeborn_shuffle_push(struct celeborn_shuffle *c, int shuffle, const struct remote_output *output,
                                 struct map_push **push, struct fst_error *error)
{
        if (output->place == 0)
                return error_set(error, -EPROTO, "the driver has named no Celeborn shuffle for shuffle %d", shuffle);
        const int32_t number = celeborn_shuffle_of_place(output->place);
        celeborn_shuffle_note(c, shuffle, number);
        if (output->output->stream)
                return 0;
        int r = push_client_begin(c->pushes, number, output->map_partition, output->task_id, NULL, push, error);
        return r ? r : map_push_output(*push, output->output, NULL, error);
}

/* Waits until one output is stored. */
static int celeborn_shuffle_wait(const struct remote_output *output, struct map_push *push, struct fst_error *error)
{
        struct remote_stream *stream = output->output->stream;
        if (!stream)
                return map_push_wait(push, NULL, error);
        int r = stream->class->drain(stream, NULL, error);
        shuffle_output_end_stream(output->output);
        return r;
}

static int celeborn_shuffle_publish(struct remote_shuffle *remote, int shuffle, struct remote_output *outputs, int n,
                                    struct fst_error *error)
{
        struct celeborn_shuffle *c = container_of(remote, struct celeborn_shuffle, remote);
        struct map_push **pushes = new_array(struct map_push *, (size_t)n);
        int64_t began = now_ns();
        uint64_t bytes = 0;
        int r = 0;
        for (int i = 0; i < n && r == 0; i++) {
                bytes += outputs[i].output->bytes;
                r = celeborn_shuffle_push(c, shuffle, &outputs[i], &pushes[i], error);
        }
        for (int i = 0; i < n && r == 0; i++)
                r = celeborn_shuffle_wait(&outputs[i], pushes[i], error);
        for (int i = 0; i < n; i++)
                map_push_free(pushes[i]);
        free(pushes);
        if (r)
                return error_wrap(error, r, "cannot store map outputs of shuffle %d in Celeborn", shuffle);
        log_debug(LOG, "stored %d map outputs of shuffle %d: %llu bytes, waited %lld ms", n, shuffle,
                  (unsigned long long)bytes, (long long)((now_ns() - began) / NS_PER_MS));
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ the rest */

static struct remote_input *celeborn_shuffle_open(struct remote_shuffle *remote, const struct remote_read *read)
{
        return celeborn_input_new(&container_of(remote, struct celeborn_shuffle, remote)->reader, read);
}

static void celeborn_shuffle_forget(struct remote_shuffle *remote, int shuffle)
{
        struct celeborn_shuffle *c = container_of(remote, struct celeborn_shuffle, remote);
        pthread_mutex_lock(&c->lock);
        for (size_t i = 0; i < c->numbers.len;) {
                if (c->numbers.data[i].shuffle != shuffle) {
                        i++;
                        continue;
                }
                push_client_forget(c->pushes, c->numbers.data[i].number);
                celeborn_files_forget(&c->reader.files, c->numbers.data[i].number);
                c->numbers.data[i] = c->numbers.data[--c->numbers.len];
        }
        pthread_mutex_unlock(&c->lock);
}

static void celeborn_shuffle_free(struct remote_shuffle *remote)
{
        struct celeborn_shuffle *c = container_of(remote, struct celeborn_shuffle, remote);
        push_client_free(c->pushes);
        celeborn_files_deinit(&c->reader.files);
        fetch_connections_deinit(&c->reader.connections);
        pthread_mutex_destroy(&c->lock);
        vec_deinit(&c->numbers);
        free(c->app_id);
        free(c);
}

static const struct remote_shuffle_class celeborn_shuffle_class = {
        .name = "celeborn",
        .publish = celeborn_shuffle_publish,
        .stream = celeborn_shuffle_stream,
        .open = celeborn_shuffle_open,
        .next = celeborn_input_next,
        .close = celeborn_input_free,
        .forget = celeborn_shuffle_forget,
        .free = celeborn_shuffle_free,
};

/* Reads the settings. @pushes has no functions yet. */
static int celeborn_shuffle_configure(const struct fst_conf *conf, struct push_client_options *pushes,
                                      struct celeborn_reader *reader, int64_t *fetch_timeout, struct fst_error *error)
{
        int64_t per_worker, total, tries, reads, push_ms, connect_ms, fetch_ms, pause_ms;
        int r;
        if ((r = conf_get_int(conf, "spark.celeborn.client.push.maxReqsInFlight.perWorker", &per_worker, error)) ||
            (r = conf_get_int(conf, "spark.celeborn.client.push.maxReqsInFlight.total", &total, error)) ||
            (r = conf_get_int(conf, "spark.celeborn.client.push.revive.maxRetries", &tries, error)) ||
            (r = conf_get_ms(conf, "spark.celeborn.client.push.timeout", &push_ms, error)) ||
            (r = conf_get_int(conf, "spark.celeborn.client.fetch.maxRetriesForEachReplica", &reads, error)) ||
            (r = conf_get_ms(conf, "spark.celeborn.client.fetch.timeout", &fetch_ms, error)) ||
            (r = conf_get_ms(conf, "spark.celeborn.data.io.retryWait", &pause_ms, error)) ||
            (r = conf_get_bool(conf, "spark.celeborn.client.readLocalShuffleFile.enabled", &reader->local, error)) ||
            (r = conf_get_ms(conf, "spark.celeborn.network.connect.timeout", &connect_ms, error)))
                return r;
        pushes->core = (struct push_core_config){.per_worker = (int)MAX(per_worker, (int64_t)1),
                                                 .total = (int)MAX(total, (int64_t)1),
                                                 .max_tries = (int)MAX(tries, (int64_t)0),
                                                 .body = BODY,
                                                 .timeout = ms_to_ns(push_ms)};
        pushes->connect_timeout = ms_to_ns(connect_ms);
        reader->tries = (int)MAX(reads, (int64_t)1);
        reader->pause = ms_to_ns(pause_ms);
        *fetch_timeout = ms_to_ns(fetch_ms);
        return 0;
}

int celeborn_shuffle_new(const struct celeborn_shuffle_options *options, struct remote_shuffle **remote,
                         struct fst_error *error)
{
        struct push_client_options pushes = {.app_id = options->app_id, .ask = options->ask, .owner = options->owner};
        struct celeborn_reader reader = {0};
        struct push_client *client;
        int64_t fetch_timeout;
        int r = celeborn_shuffle_configure(options->conf, &pushes, &reader, &fetch_timeout, error);
        if (r == 0)
                r = push_client_new(&pushes, &client, error);
        if (r)
                return r;
        struct celeborn_shuffle *c = new0(struct celeborn_shuffle);
        c->remote.class = &celeborn_shuffle_class;
        c->app_id = mem_strdup(options->app_id);
        c->pushes = client;
        c->reader = reader;
        c->reader.app_id = c->app_id;
        celeborn_files_init(&c->reader.files, options->ask, options->owner);
        fetch_connections_init(&c->reader.connections, 2 * options->cores, pushes.connect_timeout, fetch_timeout);
        pthread_mutex_init(&c->lock, NULL);
        *remote = &c->remote;
        return 0;
}
