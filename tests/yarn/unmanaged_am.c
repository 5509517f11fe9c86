/*
 * An ApplicationMaster for `make check-yarn` that YARN does not start: yarn/backend with the configuration in
 * HADOOP_CONF_DIR.
 *
 *      unmanaged_am MAX_FAILURES COMMAND
 *
 * With CHECK_PROXY_USER it acts for that user: a ResourceManager with Kerberos compares the application's user with the
 * caller's whole principal before it hands out the token of an unmanaged ApplicationMaster.
 *
 * It obeys lines on stdin and prints events on stdout. Each container runs COMMAND.
 *
 *      target N | kill EXECUTOR | finish | fail | leave      "leave" ends the process without unregistering
 *      application ID | registered MEMORY CORES | launch EXECUTOR HOST CONTAINER | exited EXECUTOR STATUS APP REASON |
 *      decommission EXECUTOR HOST | failed EXIT_CODE MESSAGE | finished
 */
#include "submit_unmanaged.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "hadoop/rpc_client.h"
#include "yarn/backend/yarn_executors.h"
#include "yarn/conf/yarn_conf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POLL_US 20000
#define AM_MEMORY_MB 64
#define EXECUTOR_MEMORY_MB 64
#define HEARTBEAT_MS 1000
#define INITIAL_MS 100
#define MAX_HEARTBEAT_FAILURES 5

struct am {
        uv_loop_t loop;
        struct yarn_conf conf;
        struct hadoop_token token;
        struct yarn_executors *executors;
        const char *command;
        uv_pipe_t input;
        char line[256];
        size_t len;
};

/* ----------------------------------------------------------------------------------------------------------- events */

static void on_am_registered(void *owner, int64_t memory_mb, int cores)
{
        printf("registered %" PRId64 " %d\n", memory_mb, cores);
}

static const Firesteel__Yarn__ContainerLaunchContext *on_am_launch(void *owner, const struct yarn_launch *launch)
{
        static Firesteel__Yarn__ContainerLaunchContext context;
        static char *command;
        const struct am *am = owner;
        char text[YARN_ID_TEXT];
        command = (char *)am->command;
        firesteel__yarn__container_launch_context__init(&context);
        context.n_command = 1;
        context.command = &command;
        printf("launch %d %s %s\n", launch->executor, launch->host, yarn_container_text(launch->container, text));
        return &context;
}

static void on_am_exited(void *owner, int32_t executor, int status, bool caused_by_app, const char *reason)
{
        printf("exited %d %d %s %.*s\n", executor, status, caused_by_app ? "app" : "other", (int)strcspn(reason, "\n"),
               reason);
}

static void on_am_decommission(void *owner, int32_t executor, const char *host)
{
        printf("decommission %d %s\n", executor, host);
}

static void on_am_failed(void *owner, int exit_code, const char *message)
{
        printf("failed %d %s\n", exit_code, message);
}

static void on_am_finished(void *owner)
{
        struct am *am = owner;
        printf("finished\n");
        yarn_executors_free(am->executors);
        uv_close((uv_handle_t *)&am->input, NULL);
}

static const struct yarn_executors_ops am_ops = {.registered = on_am_registered,
                                                 .launch_context = on_am_launch,
                                                 .exited = on_am_exited,
                                                 .decommission = on_am_decommission,
                                                 .failed = on_am_failed,
                                                 .finished = on_am_finished};

/* --------------------------------------------------------------------------------------------------------- commands */

static void am_obey(struct am *am, const char *line)
{
        int number = 0;
        if (sscanf(line, "target %d", &number) == 1) {
                const struct yarn_target target = {.total = number};
                yarn_executors_set_targets(am->executors, &target, 1);
        } else if (sscanf(line, "kill %d", &number) == 1) {
                yarn_executors_kill(am->executors, number);
        } else if (strcmp(line, "finish") == 0) {
                yarn_executors_finish(am->executors, YARN_FINAL_SUCCEEDED, "done");
        } else if (strcmp(line, "fail") == 0) {
                yarn_executors_finish(am->executors, YARN_FINAL_FAILED, "the check said so");
        } else if (strcmp(line, "leave") == 0) {
                exit(0);
        } else {
                printf("unknown %s\n", line);
        }
}

static void on_am_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
        struct am *am = handle->data;
        *out = uv_buf_init(am->line + am->len, (unsigned)(sizeof(am->line) - 1 - am->len));
}

static void on_am_input(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
        struct am *am = stream->data;
        if (n < 0)
                exit(3); /* the check has ended */
        am->len += (size_t)n;
        am->line[am->len] = '\0';
        for (char *end; (end = strchr(am->line, '\n'));) {
                *end = '\0';
                am_obey(am, am->line);
                am->len -= (size_t)(end + 1 - am->line);
                memmove(am->line, end + 1, am->len + 1);
        }
}

/* ------------------------------------------------------------------------------------------------------------ start */

static int am_wait_for_token(struct am *am, struct hadoop_rpc_client *rm, struct yarn_application_id id,
                             struct fst_error *error)
{
        for (;;) {
                Firesteel__Yarn__GetApplicationReportResponse *answer;
                const int r = yarn_rm_report(rm, id, &answer, error);
                if (r < 0)
                        return r;
                const Firesteel__Yarn__Token *m = answer->report->am_rm_token;
                if (m) {
                        am->token = (struct hadoop_token){.alias = mem_strdup(""),
                                                          .kind = mem_strdup(m->kind),
                                                          .service = mem_strdup(m->service)};
                        buf_append(&am->token.identifier, m->identifier.data, m->identifier.len);
                        buf_append(&am->token.password, m->password.data, m->password.len);
                }
                protobuf_c_message_free_unpacked(&answer->base, NULL);
                if (am->token.kind)
                        return 0;
                usleep(POLL_US);
        }
}

static int am_submit(struct am *am, struct fst_error *error)
{
        struct hadoop_rpc_client *rm;
        struct yarn_application_id id;
        char text[YARN_ID_TEXT];
        const struct unmanaged_application application = {
                .name = "unmanaged", .queue = "default", .memory_mb = AM_MEMORY_MB};
        int r = yarn_conf_client(&am->conf, YARN_RM_CLIENT, NULL, getenv("CHECK_PROXY_USER"), &am->loop, &rm, error);
        if (r < 0)
                return r;
        r = unmanaged_submit(rm, &application, &id, error);
        if (r == 0) {
                printf("application %s\n", yarn_application_text(id, text));
                r = am_wait_for_token(am, rm, id, error);
        }
        hadoop_rpc_client_free(rm);
        return r;
}

static int am_start(struct am *am, int max_failures, struct fst_error *error)
{
        int r = check_login(error);
        if (r == 0)
                r = yarn_conf_load(&am->conf, NULL, (const char *(*)(const char *))getenv, error);
        if (r == 0)
                r = am_submit(am, error);
        if (r < 0)
                return r;
        const struct yarn_executors_options options = {.conf = &am->conf,
                                                       .token = &am->token,
                                                       .host = "localhost",
                                                       .heartbeat_ms = HEARTBEAT_MS,
                                                       .initial_ms = INITIAL_MS,
                                                       .max_failures = MAX_HEARTBEAT_FAILURES,
                                                       .allocator = {.max_executor_failures = max_failures}};
        const struct yarn_profile profile = {.memory_mb = EXECUTOR_MEMORY_MB, .cores = 1, .tasks_per_executor = 1};
        r = yarn_executors_new(&am->loop, &options, &am_ops, am, &am->executors, error);
        if (r < 0)
                return r;
        yarn_executors_add_profile(am->executors, &profile, NULL, 0);
        yarn_executors_register(am->executors);
        uv_pipe_init(&am->loop, &am->input, 0);
        am->input.data = am;
        uv_pipe_open(&am->input, STDIN_FILENO);
        uv_read_start((uv_stream_t *)&am->input, on_am_alloc, on_am_input);
        return 0;
}

int main(int argc, char **argv)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct am am = {0};
        if (argc != 3) {
                fprintf(stderr, "usage: unmanaged_am MAX_FAILURES COMMAND\n");
                return 2;
        }
        setvbuf(stdout, NULL, _IOLBF, 0);
        log_threshold = LOG_INFO;
        am.command = argv[2];
        uv_loop_init(&am.loop);
        const int r = am_start(&am, atoi(argv[1]), &error);
        if (r < 0)
                fprintf(stderr, "%s\n", error_message(&error));
        else
                uv_run(&am.loop, UV_RUN_DEFAULT);
        hadoop_token_deinit(&am.token);
        yarn_conf_deinit(&am.conf);
        if (r == 0 && uv_loop_close(&am.loop) < 0) {
                fprintf(stderr, "the loop has handles left\n");
                return 1;
        }
        return r < 0;
}
