/*
 * Measures a shuffle between two processes over loopback: one serves map outputs from memory, the other reads and
 * verifies them into its own pages, as a reduce task does. Prints the bytes per CPU second of both processes together,
 * also with TLS by a pre-shared key.
 *
 *      shuffle_transfer_bench [seconds [disk]]
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "bench.h"
#include "conf/conf.h"
#include "net/security.h"
#include "rpc/transfer/transfer.h"
#include "rpc/transfer/transfer_services.h"
#include "shuffle/shuffle_reader.h"
#include "shuffle/shuffle_server.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"
#include "store/spill.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAPS = 64, PAGES = 8 };

#define TYPE FST_PAIR(I64, I64)

struct setting {
        struct disk_dirs *dirs;
        struct memory_manager *memory;
        struct spill_space space;
        struct security *security;
};

static void die(const char *what, struct fst_error *error)
{
        fprintf(stderr, "%s: %s\n", what, error_message(error));
        exit(1);
}

static void setting_init(struct setting *s, bool tls)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_conf *conf = fst_conf_new();
        if (disk_dirs_new("/tmp", 1, &s->dirs, &error))
                die("/tmp", &error);
        s->memory = memory_manager_new((size_t)1 << 30, 0.5);
        s->space = (struct spill_space){.dirs = s->dirs};
        fst_conf_set(conf, "spark.authenticate", "true");
        fst_conf_set(conf, "spark.authenticate.secret", "0123456789abcdef0123456789abcdef");
        if (tls && security_new(conf, "bench", SECURITY_EXECUTOR, &s->security, &error))
                die("TLS", &error);
        fst_conf_free(conf);
}

static double cpu_seconds(int who)
{
        struct rusage u;
        getrusage(who, &u);
        return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
               (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* ------------------------------------------------------------------------------------------ the server */

static int fetch_shuffle(void *owner, const struct Firesteel__FetchShuffle *request, struct transfer_stream **stream,
                         struct fst_error *error)
{
        return shuffle_server_open(owner, request, stream, error);
}

static struct shuffle_output *output_new(struct setting *s, bool disk)
{
        struct shuffle_output *o = shuffle_output_new(1, TYPE, s->memory);
        int64_t keys[FST_BATCH_ROWS], values[FST_BATCH_ROWS];
        uint64_t state = 1;
        size_t freed = 0;
        for (int p = 0; p < PAGES; p++) {
                struct page *page;
                fst_batch b = {.rows = FST_BATCH_ROWS, .type = TYPE, .key.i64 = keys, .value.i64 = values};
                if (page_new(NULL, TYPE, 16, &page))
                        abort();
                do
                        for (int i = 0; i < FST_BATCH_ROWS; i++)
                                keys[i] = (int64_t)bench_random(&state), values[i] = i;
                while (page_append(page, &b, 0) == FST_BATCH_ROWS);
                shuffle_output_add(o, 0, page);
        }
        if (disk && (shuffle_output_to_disk(o, &s->space, &freed, NULL) || shuffle_output_finish(o, NULL)))
                abort();
        return o;
}

/* Serves until a byte arrives. Then writes back its CPU time. */
static void serve(int in, int out, bool tls, bool disk)
{
        struct setting s = {0};
        struct fst_error error = FST_ERROR_INIT;
        setting_init(&s, tls);
        struct shuffle_store *store = shuffle_store_new(&s.space);
        for (int m = 0; m < MAPS; m++)
                shuffle_store_put(store, 1, m, m, output_new(&s, disk));
        struct transfer_services services = {.owner = store, .fetch_shuffle = fetch_shuffle};
        struct transfer_server_options options = {.host = "127.0.0.1", .threads = 1, .security = s.security};
        struct transfer_server *server;
        if (transfer_server_new(&options, &transfer_services_handler, &services, &server, &error))
                die("serving", &error);
        int port = transfer_server_port(server);
        if (write(out, &port, sizeof(port)) != sizeof(port))
                exit(1);
        for (char c; read(in, &c, 1) == 1;) {
                double used = cpu_seconds(RUSAGE_SELF);
                if (write(out, &used, sizeof(used)) != sizeof(used))
                        break;
        }
        transfer_server_free(server);
        shuffle_store_free(store);
        disk_dirs_free(s.dirs);
        _exit(0);
}

/* ------------------------------------------------------------------------------------------ the reader */

static double served_seconds(int in, int out)
{
        double used = 0;
        if (write(out, "?", 1) != 1 || read(in, &used, sizeof(used)) != sizeof(used))
                exit(1);
        return used;
}

static uint64_t read_once(struct shuffle_reader_env *env, struct task_run *run)
{
        struct shuffle_input *input;
        const struct page *page;
        uint64_t bytes = 0;
        task_run_begin(run, &(struct fst_task_info){0}, 1);
        if (shuffle_reader_source.open(env, run, 1, 0, TYPE, &input))
                die("reading", &run->error);
        while (shuffle_reader_source.next(input, &page) == 0 && page)
                bytes += page->used;
        shuffle_reader_source.close(input);
        if (run->status)
                die("reading", &run->error);
        task_run_end(run);
        return bytes;
}

static void read_for(double seconds, int in, int out, int port, bool tls, const char *name)
{
        struct setting s = {0};
        setting_init(&s, tls);
        struct shuffle_map maps[MAPS];
        struct shuffle_inputs inputs = {.shuffle_id = 1, .n = MAPS, .maps = maps};
        struct shuffle_location location = {.executor_id = (char *)"1", .host = (char *)"127.0.0.1", .port = port};
        for (int m = 0; m < MAPS; m++)
                maps[m] = (struct shuffle_map){.task_id = m};
        struct transfer_client *client = transfer_client_new(&(struct transfer_client_options){.security = s.security});
        struct shuffle_reader_env env = {.inputs = &inputs,
                                         .n_inputs = 1,
                                         .locations = &location,
                                         .n_locations = 1,
                                         .here = -1,
                                         .space = &s.space,
                                         .client = client};
        struct task_run run;
        task_run_init(&run, s.memory, &s.space);
        read_once(&env, &run);
        double mine = cpu_seconds(RUSAGE_SELF), theirs = served_seconds(in, out);
        struct timespec begin, now;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        double wall = 0;
        uint64_t bytes = 0;
        while (wall < seconds) {
                bytes += read_once(&env, &run);
                clock_gettime(CLOCK_MONOTONIC, &now);
                wall = (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9;
        }
        mine = cpu_seconds(RUSAGE_SELF) - mine;
        theirs = served_seconds(in, out) - theirs;
        printf("%-12s %6.2f GB/s per core-second of both ends (server %.2f s, reader %.2f s, %.2f s of wall: %.2f GB/s)\n",
               name, (double)bytes * 1e-9 / (mine + theirs), theirs, mine, wall, (double)bytes * 1e-9 / wall);
        task_run_deinit(&run);
        transfer_client_free(client);
        security_free(s.security);
        memory_manager_free(s.memory);
        disk_dirs_free(s.dirs);
}

static void measure(double seconds, bool tls, bool disk, const char *name)
{
        int to[2], from[2], port;
        if (pipe(to) || pipe(from))
                abort();
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                close(to[1]);
                serve(to[0], from[1], tls, disk);
        }
        close(to[0]);
        close(from[1]);
        if (read(from[0], &port, sizeof(port)) != sizeof(port))
                exit(1);
        /* Measures in a child process, so that measurements do not influence each other. */
        pid_t reader = fork();
        if (reader == 0) {
                read_for(seconds, from[0], to[1], port, tls, name);
                fflush(stdout);
                _exit(0);
        }
        close(from[0]);
        close(to[1]);
        waitpid(reader, NULL, 0);
        waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
        double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
        log_set_level(LOG_ERROR);
        measure(seconds, false, false, "plain");
        measure(seconds, false, true, "plain, disk");
        measure(seconds, true, false, "TLS");
        return 0;
}
