/*
 * How fast one process submits applications to YARN, with the configuration in HADOOP_CONF_DIR:
 *
 *      yarn_submit_bench rpc N CONNECTIONS       bare RPC: getNewApplication, then submitApplication of a fixed
 * context, on connections with a thread each yarn_submit_bench submit N WORD …         fst_submit_*, with the words of
 * a spark-submit command line
 *
 * Prints "N applications in SECONDS s". Ends with 1 if one is not accepted.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "hadoop/rpc_client.h"
#include "yarn/conf/yarn_conf.h"
#include "yarn/protocol/resource_manager.h"

#include <firesteel/submit.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rpc_thread {
        pthread_t thread;
        int n, status;
};

static int rpc_submit_one(struct hadoop_rpc_client *rm, struct fst_error *error)
{
        Firesteel__Yarn__GetNewApplicationResponse *created;
        int r = yarn_rm_new_application(rm, &created, error);
        if (r < 0)
                return r;
        Firesteel__Yarn__ApplicationSubmissionContext context = FIRESTEEL__YARN__APPLICATION_SUBMISSION_CONTEXT__INIT;
        Firesteel__Yarn__ContainerLaunchContext launch = FIRESTEEL__YARN__CONTAINER_LAUNCH_CONTEXT__INIT;
        Firesteel__Yarn__Resource resource = FIRESTEEL__YARN__RESOURCE__INIT;
        char *command = (char *)"exec sleep 1";
        launch.n_command = 1;
        launch.command = &command;
        resource.has_memory = resource.has_virtual_cores = true;
        resource.memory = 64;
        resource.virtual_cores = 1;
        context.application_id = created->application_id;
        context.application_name = (char *)"raw";
        context.queue = (char *)"default";
        context.am_container_spec = &launch;
        context.has_max_app_attempts = true;
        context.max_app_attempts = 1;
        context.resource = &resource;
        context.application_type = (char *)"SPARK";
        r = yarn_rm_submit(rm, &context, error);
        protobuf_c_message_free_unpacked(&created->base, NULL);
        return r;
}

static void *rpc_thread_main(void *argument)
{
        struct rpc_thread *t = argument;
        struct yarn_conf conf = {0};
        struct hadoop_rpc_client *rm = NULL;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        uv_loop_t loop;
        uv_loop_init(&loop);
        t->status = yarn_conf_load(&conf, NULL, (const char *(*)(const char *))getenv, &error);
        if (t->status == 0)
                t->status = yarn_conf_client(&conf, YARN_RM_CLIENT, NULL, NULL, &loop, &rm, &error);
        for (int i = 0; i < t->n && t->status == 0; i++)
                t->status = rpc_submit_one(rm, &error);
        if (t->status < 0)
                fprintf(stderr, "%s\n", error_message(&error));
        hadoop_rpc_client_free(rm);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        yarn_conf_deinit(&conf);
        return NULL;
}

static int bench_rpc(int n, int connections)
{
        struct rpc_thread *threads = new_array(struct rpc_thread, (size_t)connections);
        int status = 0;
        for (int i = 0; i < connections; i++) {
                threads[i].n = n / connections + (i < n % connections);
                pthread_create(&threads[i].thread, NULL, rpc_thread_main, &threads[i]);
        }
        for (int i = 0; i < connections; i++) {
                pthread_join(threads[i].thread, NULL);
                status = threads[i].status < 0 ? 1 : status;
        }
        free(threads);
        return status;
}

static int bench_submit(int n, char **words, size_t n_words)
{
        fst_submitter *s;
        fst_submission **apps = new_array(fst_submission *, (size_t)n);
        int status = fst_submit_open(&s) < 0, left = n;
        for (int i = 0; i < n && status == 0; i++) {
                status = fst_submit_parse(s, n_words, (const char *const *)words, &apps[i]) < 0;
                fst_submit_set_watch(apps[i], 0);
                status = status || fst_submit_start(apps[i]) < 0;
        }
        while (left > 0 && status == 0) {
                fst_submit_dispatch(s, 5);
                left = 0;
                for (int i = 0; i < n; i++) {
                        const int state = fst_submit_state(apps[i]);
                        left += state < FST_SUBMIT_SUBMITTED;
                        status = status || (fst_submit_is_final(state) && state != FST_SUBMIT_FINISHED);
                }
        }
        for (int i = 0; i < n && status; i++) {
                char text[1000];
                if (apps[i] && fst_submit_error(apps[i], text, sizeof(text)) > 0) {
                        fprintf(stderr, "%s\n", text);
                        break;
                }
        }
        fst_submit_close(s);
        free(apps);
        return status;
}

int main(int argc, char **argv)
{
        const int n = argc > 3 ? atoi(argv[2]) : 0;
        const int64_t start = now_ns();
        int status = 2;
        if (n > 0 && strcmp(argv[1], "rpc") == 0 && atoi(argv[3]) > 0)
                status = bench_rpc(n, atoi(argv[3]));
        else if (n > 0 && strcmp(argv[1], "submit") == 0)
                status = bench_submit(n, argv + 3, (size_t)argc - 3);
        else
                fprintf(stderr, "usage: yarn_submit_bench rpc N CONNECTIONS | submit N WORD ...\n");
        if (status == 0)
                printf("%d applications in %.3f s\n", n, (double)(now_ns() - start) / 1e9);
        return status;
}
