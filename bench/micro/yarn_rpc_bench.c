/*
 * How fast bare RPC submits applications to YARN, with the configuration in HADOOP_CONF_DIR:
 *
 *      yarn_rpc_bench N CONNECTIONS BYTES
 *
 * Each connection has a thread, which calls getNewApplication and submitApplication for its part of the N applications.
 * The submitted context is built once. It has what that of a native application in cluster mode has: two files, three
 * variables, the words of the command, access lists, and credentials of BYTES. Then each thread asks for a report of
 * each of its applications until the ResourceManager has accepted it. Prints "N submitted in SECONDS s" and "N accepted
 * in SECONDS s", both from the start. Ends with 1 if a call fails or an application is not accepted.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "hadoop/rpc_client.h"
#include "yarn/application/application_acl.h"
#include "yarn/application/container_launch.h"
#include "yarn/application/local_resource.h"
#include "yarn/conf/yarn_conf.h"
#include "yarn/protocol/resource_manager.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rpc_thread {
        pthread_t thread;
        int n, status;
        size_t bytes;
        int64_t submitted_ns;
        struct yarn_application_id *ids;
};

/* The container of all applications of a thread. */
struct rpc_container {
        struct container_launch launch;
        struct local_resources resources;
        struct buf tokens;
        struct arena arena;
        Firesteel__Yarn__ContainerLaunchContext message;
};

static void rpc_container_add_file(struct rpc_container *c, const char *path, const char *link)
{
        vec_push(&c->resources.list, (struct local_resource){.path = mem_strdup(path),
                                                             .link = mem_strdup(link),
                                                             .size = 4000000,
                                                             .modified_ms = 1700000000000,
                                                             .is_public = true});
}

static void rpc_container_init(struct rpc_container *c, size_t bytes)
{
        static const char digest[] = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        _cleanup_free_ char *program = mem_printf("hdfs://127.0.0.1:8020/user/root/.firesteel/%s.tar.gz", digest);
        _cleanup_free_ char *file =
                mem_printf("hdfs://127.0.0.1:8020/user/root/.firesteel/files-root/%s-pi.so", digest);
        *c = (struct rpc_container){.arena = ARENA_INIT};
        rpc_container_add_file(c, program, "__firesteel__");
        rpc_container_add_file(c, file, "pi.so");
        strmap_set(&c->launch.environment, "HADOOP_CONF_DIR", "{{PWD}}/__spark_conf__/__hadoop_conf__");
        strmap_set(&c->launch.environment, "SASL_PATH", "{{PWD}}/__firesteel__/lib/sasl2");
        strmap_set(&c->launch.environment, "SPARK_USER", "root");
        container_launch_begin_firesteel(&c->launch, NULL, "yarn-am");
        container_launch_add_option(&c->launch, "--jar", "pi.so");
        container_launch_add_option(&c->launch, "--arg", "1");
        container_launch_add_option(&c->launch, "--properties-file",
                                    "{{PWD}}/__spark_conf__/__spark_conf__.properties");
        container_launch_add_option(&c->launch, "--dist-cache-conf",
                                    "{{PWD}}/__spark_conf__/__spark_dist_cache__.properties");
        container_launch_add_logs(&c->launch);
        for (size_t i = 0; i < bytes; i++)
                buf_putc(&c->tokens, 'x');
        container_launch_message(&c->launch, &c->resources, &c->tokens, &c->arena, &c->message);
        application_acl_attach((char *)"root ", (char *)"root ", &c->arena, &c->message);
}

static void rpc_container_deinit(struct rpc_container *c)
{
        container_launch_deinit(&c->launch);
        local_resources_deinit(&c->resources);
        buf_deinit(&c->tokens);
        arena_deinit(&c->arena);
}

static int rpc_submit_one(struct hadoop_rpc_client *rm, struct rpc_container *container, struct yarn_application_id *id,
                          struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *created;
        int r = yarn_rm_new_application(rm, &created, error);
        if (r < 0)
                return r;
        Firesteel__Yarn__ApplicationSubmissionContext context = FIRESTEEL__YARN__APPLICATION_SUBMISSION_CONTEXT__INIT;
        Firesteel__Yarn__Resource resource = FIRESTEEL__YARN__RESOURCE__INIT;
        resource.has_memory = resource.has_virtual_cores = true;
        resource.memory = 64;
        resource.virtual_cores = 1;
        context.application_id = created->application_id;
        context.application_name = (char *)"raw";
        context.queue = (char *)"default";
        context.am_container_spec = &container->message;
        context.has_max_app_attempts = true;
        context.max_app_attempts = 1;
        context.resource = &resource;
        context.application_type = (char *)"SPARK";
        r = yarn_rm_submit(rm, &context, error);
        *id = (struct yarn_application_id){.cluster_timestamp = created->application_id->cluster_timestamp,
                                           .id = created->application_id->id};
        protobuf_c_message_free_unpacked(&created->base, NULL);
        return r;
}

/* 1 once it is accepted, 0 before that, or negative. */
static int rpc_is_accepted(struct hadoop_rpc_client *rm, struct yarn_application_id id, struct fst_error *error)
{
        Firesteel__Yarn__GetApplicationReportResponse *answer;
        int r = yarn_rm_report(rm, id, &answer, error);
        if (r < 0)
                return r;
        const int state = answer->report->state;
        if (state == YARN_FAILED || state == YARN_KILLED)
                r = error_set(error, -ECANCELED, "an application failed: %s", answer->report->diagnostics);
        else
                r = state != YARN_NEW && state != YARN_NEW_SAVING && state != YARN_SUBMITTED;
        protobuf_c_message_free_unpacked(&answer->base, NULL);
        return r;
}

static void *rpc_thread_main(void *argument)
{
        struct rpc_thread *t = argument;
        struct yarn_conf conf = {0};
        struct hadoop_rpc_client *rm = NULL;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct rpc_container container;
        uv_loop_t loop;
        uv_loop_init(&loop);
        rpc_container_init(&container, t->bytes);
        t->status = yarn_conf_load(&conf, NULL, (const char *(*)(const char *))getenv, &error);
        if (t->status == 0)
                t->status = yarn_conf_client(&conf, YARN_RM_CLIENT, NULL, NULL, &loop, &rm, &error);
        for (int i = 0; i < t->n && t->status == 0; i++)
                t->status = rpc_submit_one(rm, &container, &t->ids[i], &error);
        t->submitted_ns = now_ns();
        for (int i = 0; i < t->n && t->status >= 0;) {
                t->status = rpc_is_accepted(rm, t->ids[i], &error);
                if (t->status == 0)
                        usleep(2000);
                else
                        i++;
        }
        if (t->status < 0)
                fprintf(stderr, "%s\n", error_message(&error));
        hadoop_rpc_client_free(rm);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        rpc_container_deinit(&container);
        yarn_conf_deinit(&conf);
        return NULL;
}

int main(int argc, char **argv)
{
        const int n = argc == 4 ? atoi(argv[1]) : 0, connections = n > 0 ? atoi(argv[2]) : 0;
        const int64_t start = now_ns();
        int64_t submitted = start;
        int status = 0;
        if (connections <= 0) {
                fprintf(stderr, "usage: yarn_rpc_bench N CONNECTIONS BYTES\n");
                return 2;
        }
        struct rpc_thread *threads = new_array(struct rpc_thread, (size_t)connections);
        for (int i = 0; i < connections; i++) {
                struct rpc_thread *t = &threads[i];
                *t = (struct rpc_thread){.n = n / connections + (i < n % connections), .bytes = (size_t)atol(argv[3])};
                t->ids = new_array(struct yarn_application_id, (size_t)t->n + 1);
                pthread_create(&t->thread, NULL, rpc_thread_main, t);
        }
        for (int i = 0; i < connections; i++) {
                pthread_join(threads[i].thread, NULL);
                submitted = MAX(submitted, threads[i].submitted_ns);
                status = threads[i].status < 0 ? 1 : status;
                free(threads[i].ids);
        }
        free(threads);
        if (status == 0)
                printf("%d submitted in %.3f s\n%d accepted in %.3f s\n", n, (double)(submitted - start) / 1e9, n,
                       (double)(now_ns() - start) / 1e9);
        return status;
}
