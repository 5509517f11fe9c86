/*
 * Measures messages and bulk data over loopback. Both ends are threads of this process.
 *
 *      rpc_bench [SECONDS]
 *
 * Prints, for connections with and without a secret: GB/s of a channel, by wall time and by the CPU seconds of both
 * ends; frames/s of several sizes, with the CPU time of sender and receiver per frame; and the time from an ask to its
 * reply.
 */
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "net/channel.h"
#include "net/security.h"
#include "net/socket.h"
#include "rpc/rpc.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <uv.h>

#define PIECE (256 << 10) /* a page */

static double seconds = 1;
static struct security *secured;

static double clock_of(clockid_t id)
{
        struct timespec t;
        clock_gettime(id, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void check(int r, const struct fst_error *error)
{
        if (r >= 0)
                return;
        fprintf(stderr, "%s\n", error_message(error));
        exit(1);
}

/* ---------------------------------------------------------------------------------------------------- channels */

static void *read_all(void *arg)
{
        struct channel *ch = arg;
        struct fst_error error = FST_ERROR_INIT;
        char *buf = mem_alloc(PIECE);
        while (channel_read_some(ch, buf, PIECE, -1, NULL, &error) > 0)
                ;
        free(buf);
        error_deinit(&error);
        return NULL;
}

static void connect_pair(const struct security *s, struct channel **a, struct channel **b)
{
        struct fst_error error = FST_ERROR_INIT;
        struct listen_options o = {.service = "bench", .host = "127.0.0.1"};
        int port, listener = socket_listen(&o, &port, &error);
        check(listener, &error);
        int client = socket_connect("127.0.0.1", port, -1, NULL, &error);
        check(client, &error);
        check(channel_new(client, s, CHANNEL_CLIENT, a, &error), &error);
        check(channel_new(socket_accept(listener), s, CHANNEL_SERVER, b, &error), &error);
        close(listener);
}

static void bench_channel(const char *name, const struct security *s)
{
        struct channel *a, *b;
        struct fst_error error = FST_ERROR_INIT;
        pthread_t reader;
        connect_pair(s, &a, &b);
        pthread_create(&reader, NULL, read_all, b);
        check(channel_handshake(a, -1, NULL, &error), &error);
        char *data = mem_zero(PIECE);
        double wall = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID), bytes = 0;
        while (clock_of(CLOCK_MONOTONIC) - wall < seconds) {
                for (int i = 0; i < 16; i++) {
                        struct iovec iov = {data, PIECE};
                        check(channel_writev_all(a, &iov, 1, -1, NULL, &error), &error);
                        bytes += PIECE;
                }
        }
        channel_free(a);
        pthread_join(reader, NULL);
        wall = clock_of(CLOCK_MONOTONIC) - wall;
        cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        channel_free(b);
        free(data);
        printf("%-6s channel          %6.2f GB/s   %6.2f GB/s per core-second of both ends\n", name,
               bytes / wall * 1e-9, bytes / cpu * 1e-9);
}

/* ------------------------------------------------------------------------------------------------------ frames */

struct server {
        pthread_t thread;
        uv_loop_t loop;
        uv_async_t stop;
        struct rpc_env *env;
        double cpu;
};

static void receive(void *owner, struct rpc_message *m)
{
        if (m->ask)
                rpc_reply(m, m->type, m->body, m->len, NULL);
}

static const struct rpc_endpoint_class cls = {.receive = receive};

static void on_stop(uv_async_t *async)
{
        struct server *s = async->data;
        rpc_env_close(s->env, 0, NULL, NULL);
        uv_close((uv_handle_t *)async, NULL);
}

static void *serve(void *arg)
{
        struct server *s = arg;
        uv_run(&s->loop, UV_RUN_DEFAULT);
        s->cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
        return NULL;
}

static void server_start(struct server *s, const struct security *security)
{
        struct rpc_options o;
        struct fst_error error = FST_ERROR_INIT;
        rpc_options_init(&o);
        o.security = security;
        uv_loop_init(&s->loop);
        uv_async_init(&s->loop, &s->stop, on_stop);
        s->stop.data = s;
        check(rpc_env_new(&s->loop, &o, &s->env, &error), &error);
        check(rpc_env_register(s->env, "Bench", &cls, s, &error), &error);
        check(rpc_env_listen(s->env, "127.0.0.1", NULL, 0, 0, &error), &error);
        pthread_create(&s->thread, NULL, serve, s);
}

struct asker {
        struct rpc_ref *ref;
        long answers, most;
        double begun, *took;
};

static void answered(void *owner, struct rpc_answer *answer)
{
        struct asker *a = owner;
        double now = clock_of(CLOCK_MONOTONIC);
        if (answer->status)
                fprintf(stderr, "%s\n", answer->message), exit(1);
        a->took[a->answers++] = now - a->begun;
        a->begun = now;
        if (a->answers < a->most)
                rpc_ask(a->ref, 2, "0123456789abcdef", 16, NULL, 0, answered, a);
}

static int by_value(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

static void ask(struct asker *a, uv_loop_t *loop, long most)
{
        a->answers = 0;
        a->most = most;
        a->begun = clock_of(CLOCK_MONOTONIC);
        rpc_ask(a->ref, 2, "0123456789abcdef", 16, NULL, 0, answered, a);
        while (a->answers < most)
                uv_run(loop, UV_RUN_ONCE);
}

static void bench_frames(const char *name, const struct security *security, size_t size)
{
        struct server s = {0};
        struct asker a = {.took = new_array(double, 1)};
        struct rpc_options o;
        struct rpc_env *env;
        uv_loop_t loop;
        struct fst_error error = FST_ERROR_INIT;
        server_start(&s, security);
        rpc_options_init(&o);
        o.security = security;
        uv_loop_init(&loop);
        check(rpc_env_new(&loop, &o, &env, &error), &error);
        _cleanup_free_ char *url = mem_printf("spark://Bench@%s", rpc_env_address(s.env));
        check(rpc_env_ref(env, url, &a.ref, &error), &error);
        ask(&a, &loop, 1);
        char *body = mem_zero(size);
        double wall = clock_of(CLOCK_MONOTONIC), own = clock_of(CLOCK_THREAD_CPUTIME_ID), put = 0;
        long frames = 0;
        while (clock_of(CLOCK_MONOTONIC) - wall < seconds) {
                double before = clock_of(CLOCK_THREAD_CPUTIME_ID);
                for (int i = 0; i < 16; i++)
                        check(rpc_send(a.ref, 1, body, size, NULL), NULL);
                put += clock_of(CLOCK_THREAD_CPUTIME_ID) - before;
                frames += 16;
                do
                        uv_run(&loop, rpc_peer_queued(rpc_ref_peer(a.ref)) > (4 << 20) ? UV_RUN_ONCE : UV_RUN_NOWAIT);
                while (rpc_peer_queued(rpc_ref_peer(a.ref)) > (4 << 20));
        }
        ask(&a, &loop, 1);
        wall = clock_of(CLOCK_MONOTONIC) - wall;
        own = clock_of(CLOCK_THREAD_CPUTIME_ID) - own;
        rpc_ref_unref(a.ref);
        rpc_env_close(env, 0, NULL, NULL);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        uv_async_send(&s.stop);
        pthread_join(s.thread, NULL);
        uv_loop_close(&s.loop);
        printf("%-6s frames of %5zu  %8.0f /s   sender %5.2f us (rpc_send alone %4.2f)   receiver %5.2f us of CPU\n",
               name, size, (double)frames / wall, own / (double)frames * 1e6, put / (double)frames * 1e6,
               s.cpu / (double)frames * 1e6);
        free(a.took);
        free(body);
}

static void bench_ask(const char *name, const struct security *security)
{
        struct server s = {0};
        long count = (long)(seconds * 20000);
        struct asker a = {.took = new_array(double, (size_t)count)};
        struct rpc_options o;
        struct rpc_env *env;
        uv_loop_t loop;
        struct fst_error error = FST_ERROR_INIT;
        server_start(&s, security);
        rpc_options_init(&o);
        o.security = security;
        uv_loop_init(&loop);
        check(rpc_env_new(&loop, &o, &env, &error), &error);
        _cleanup_free_ char *url = mem_printf("spark://Bench@%s", rpc_env_address(s.env));
        check(rpc_env_ref(env, url, &a.ref, &error), &error);
        double begin = clock_of(CLOCK_MONOTONIC);
        ask(&a, &loop, 1);
        double first = clock_of(CLOCK_MONOTONIC) - begin;
        ask(&a, &loop, count);
        qsort(a.took, (size_t)count, sizeof(double), by_value);
        printf("%-6s ask of 16 bytes  median %5.1f us   p99 %5.1f us   first, with connection and greeting %6.0f us\n",
               name, a.took[count / 2] * 1e6, a.took[count * 99 / 100] * 1e6, first * 1e6);
        rpc_ref_unref(a.ref);
        rpc_env_close(env, 0, NULL, NULL);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        uv_async_send(&s.stop);
        pthread_join(s.thread, NULL);
        uv_loop_close(&s.loop);
        free(a.took);
}

int main(int argc, char **argv)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        static const size_t sizes[] = {100, 5000, 20000};
        if (argc > 1)
                seconds = atof(argv[1]);
        conf_init(&conf);
        conf_set(&conf, "spark.authenticate", "true");
        conf_set(&conf, "spark.authenticate.secret",
                 "d1c2b3a4958677685940312213041526d1c2b3a4958677685940312213041526");
        check(security_new(&conf, "bench", SECURITY_DRIVER, &secured, &error), &error);
        conf_deinit(&conf);
        for (int i = 0; i < 2; i++) {
                const struct security *s = i ? secured : NULL;
                const char *name = i ? "secret" : "plain";
                bench_channel(name, s);
                for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
                        bench_frames(name, s, sizes[k]);
                bench_ask(name, s);
        }
        security_free(secured);
        return 0;
}
