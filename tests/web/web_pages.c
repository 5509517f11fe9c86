/*
 * Pages of a master and a worker that hold a little of everything, for `make check-web` (tests/web/check): prints
 * "MASTER_PORT WORKER_PORT", serves until standard input ends, and says on standard output what buttons asked for.
 *
 *      web_pages WORK_DIR [KEY=VALUE…]
 */
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "standalone/pages/master_pages.h"
#include "standalone/core/master_state.h"
#include "standalone/pages/worker_pages.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uv_loop_t loop;
static struct master *master;
static struct worker_view view;
static char worker_ui[64];
static int64_t wall_offset;

static int64_t now(void)
{
        return (int64_t)(uv_hrtime() / 1000000);
}

/* ------------------------------------------------------------------------------------------------------ content */

static const char *const gpu_addresses[] = {"0", "1"};
static const struct resource_addresses gpus = {"gpu", gpu_addresses, 2};

static void add_app(const char *name, const char *address, int cores)
{
        struct app_spec app = {.name = name,
                               .user = "ann",
                               .ui_url = "http://127.0.0.1:1",
                               .address = address,
                               .max_cores = cores,
                               .initial_executors = -1,
                               .profile = {.cores = 1, .memory = 512}};
        master_register_app(master, 9, &app, now());
}

static void fill_master(void)
{
        struct worker_spec w = {
                .port = 7078, .web_ui = worker_ui, .cores = 8, .memory = 16384, .resources = &gpus, .n_resources = 1};
        struct driver_spec driver = {.main_class = "main", .cores = 1, .memory = 1024};
        const char *const ids[] = {"worker-1", "worker-2", "worker-3"};
        const char *const hosts[] = {"10.0.0.1", "10.0.0.2", "10.0.0.3"};
        master_elected(master, NULL, 0, NULL, 0, NULL, 0, now());
        for (int i = 0; i < 3; i++) {
                w.id = ids[i];
                w.host = hosts[i];
                master_register_worker(master, (uint64_t)i + 1, &w, now());
        }
        master_decommission_worker(master, "worker-3", now());
        add_app("count words", "a:1", 6);
        add_app("<script>document.title='owned'</script>", "a:2", 4);
        add_app("waits", "a:3", 100);
        add_app("ended", "a:4", 1);
        for (int i = 0; i < 2; i++) {
                struct master_reply reply = master_submit_driver(master, &driver, now());
                master_reply_deinit(&reply);
        }
        master_schedule(master, now());
        master_unregister_app(master, master->apps.last->id, now());
        master_driver_changed(master, master->drivers.first->id, DRIVER_FAILED, "it \"fell\" <over>", now());
}

static struct worker_executor_state executor = {
        .app_id = "app-1",
        .app_name = "<script>document.title='owned'</script>",
        .app_user = "ann",
        .cores = 2,
        .memory = 512,
        .state = EXECUTOR_RUNNING,
        .command = "Command(x,List(),Map(),List(),List(),List())",
};
static struct worker_driver_state driver = {
        .id = "driver-1", .main_class = "main", .cores = 1, .memory = 64, .state = DRIVER_FINISHED};

static void fill_worker(const char *work_dir)
{
        view = (struct worker_view){.id = "worker-1",
                                    .host = "10.0.0.1",
                                    .port = 7078,
                                    .work_dir = work_dir,
                                    .master_url = "spark://10.0.0.9:7077",
                                    .master_web_ui = "",
                                    .connected = true,
                                    .cores = 8,
                                    .cores_used = 2,
                                    .memory = 16384,
                                    .memory_used = 512,
                                    .resources = &gpus,
                                    .n_resources = 1};
        vec_push(&view.executors, &executor);
        vec_push(&view.finished_drivers, &driver);
}

/* -------------------------------------------------------------------------------------------------------- pages */

static const struct master *page_state(const struct master_server *m)
{
        return master;
}

static bool kill_app(struct master_server *m, const char *id)
{
        printf("kill app %s\n", id);
        fflush(stdout);
        return master_kill_app(master, id, now());
}

static void kill_driver(struct master_server *m, const char *id, void (*replied)(void *, const struct master_reply *),
                        void *context)
{
        struct master_reply reply = master_kill_driver(master, id, now());
        for (const struct master_action *a; (a = master_next_action(master));)
                if (a->kind == MASTER_KILL_DRIVER)
                        printf("kill driver %s\n", a->text);
        fflush(stdout);
        replied(context, &reply);
        master_reply_deinit(&reply);
}

static int page_decommission(struct master_server *m, const char *const *hosts, int n)
{
        return master_decommission_hosts(master, hosts, n, now());
}

static const struct worker_view *worker(void *owner)
{
        return &view;
}

static const struct master_pages_ops ops = {page_state, now, kill_app, kill_driver, page_decommission};

static void on_input(uv_poll_t *poll, int status, int events)
{
        char piece[64];
        if (read(0, piece, sizeof(piece)) <= 0)
                uv_stop(&loop);
}

int main(int argc, char **argv)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        struct master_config config = MASTER_CONFIG_DEFAULT;
        struct master_pages *master_pages;
        struct worker_pages *worker_pages;
        struct timespec wall;
        uv_poll_t input;
        conf_init(&conf);
        for (int i = 2; i < argc; i++) {
                char *equals = strchr(argv[i], '=');
                if (!equals)
                        return 2;
                *equals = '\0';
                conf_set(&conf, argv[i], equals + 1);
        }
        uv_loop_init(&loop);
        clock_gettime(CLOCK_REALTIME, &wall);
        wall_offset = (int64_t)wall.tv_sec * 1000 - now();
        config.wall_offset = wall_offset;
        master = master_new(&config);
        fill_worker(argv[1]);
        struct worker_pages_options w = {
                .loop = &loop, .conf = &conf, .host = "127.0.0.1", .work_dir = argv[1], .view = worker};
        struct master_pages_options m = {
                .loop = &loop, .conf = &conf, .host = "127.0.0.1", .master_url = "spark://10.0.0.9:7077", .ops = &ops};
        if (worker_pages_new(&w, &worker_pages, &error) < 0 || master_pages_new(&m, &master_pages, &error) < 0) {
                fprintf(stderr, "%s\n", error_message(&error));
                return 1;
        }
        snprintf(worker_ui, sizeof(worker_ui), "http://127.0.0.1:%d", worker_pages_port(worker_pages));
        fill_master();
        uv_poll_init(&loop, &input, 0);
        uv_poll_start(&input, UV_READABLE, on_input);
        printf("%d %d\n", master_pages_port(master_pages), worker_pages_port(worker_pages));
        fflush(stdout);
        uv_run(&loop, UV_RUN_DEFAULT);
        master_pages_free(master_pages);
        worker_pages_free(worker_pages);
        uv_close((uv_handle_t *)&input, NULL);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        master_free(master);
        vec_deinit(&view.executors);
        vec_deinit(&view.finished_drivers);
        conf_deinit(&conf);
        return 0;
}
