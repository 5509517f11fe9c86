/*
 * Posts each object of a file (one JSON object a line) to the server of KUBECONFIG, as many at once as the connection
 * allows, and measures the time.   raw_posts FILE [patch]
 *
 * With "patch" it uses server-side apply. A line {"patch": PATH, "body": {…}} is a merge patch. Prints
 * {"objects":4000,"failed":0,"seconds":9.81,"cpu":0.61}.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "kubernetes/api/kube_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static size_t pending, failed;

static void on_done(void *owner, struct kube_call *call, int r, const struct kube_response *answer)
{
        pending--;
        if (r != 0 && failed++ == 0)
                fprintf(stderr, "%s\n", error_message(answer->error));
}

static double seconds(clockid_t clock)
{
        struct timespec t;
        clock_gettime(clock, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
        struct fst_error error = FST_ERROR_INIT;
        struct kube_config config = KUBE_CONFIG_INIT;
        struct kube_client *client;
        struct fst_conf conf;
        uv_loop_t loop;
        VEC(json_t *) objects = {0};
        FILE *file = argc > 1 ? fopen(argv[1], "re") : NULL;
        bool patch = argc > 2;
        char *line = NULL;
        size_t room = 0;
        if (!file) {
                perror("raw_posts FILE");
                return 2;
        }
        while (getline(&line, &room, file) > 0)
                vec_push(&objects, json_loads(line, 0, NULL));
        free(line);
        fclose(file);
        conf_init(&conf);
        /* The requests of one second may wait for a minute in a busy server. */
        conf_set(&conf, "spark.kubernetes.submission.requestTimeout", "600000");
        uv_loop_init(&loop);
        if (kube_config_from_conf(&conf, KUBE_SUBMISSION, NULL, &config, &error) < 0 ||
            kube_client_new(&loop, &config, "raw_posts", &client, &error) < 0) {
                fprintf(stderr, "%s\n", error_message(&error));
                return 1;
        }
        double begun = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (size_t i = 0; i < objects.len; i++) {
                const char *merge = json_string_value(json_object_get(objects.data[i], "patch"));
                _cleanup_free_ char *path =
                        merge ? mem_strdup(merge) : kube_object_path(objects.data[i], config.namespace, patch);
                struct kube_request q = {.timeout_ms = 300000,
                                         .method = patch || merge ? "PATCH" : "POST",
                                         .path = path,
                                         .body = merge ? json_object_get(objects.data[i], "body") : objects.data[i]};
                if (merge)
                        q.content_type = "application/merge-patch+json";
                else if (patch)
                        q.query = "fieldManager=raw&force=true", q.content_type = "application/apply-patch+yaml";
                pending++;
                kube_send(client, &q, on_done, NULL);
                json_decref(objects.data[i]);
        }
        while (pending > 0)
                uv_run(&loop, UV_RUN_ONCE);
        printf("{\"objects\":%zu,\"failed\":%zu,\"seconds\":%.3f,\"cpu\":%.3f}\n", objects.len, failed,
               seconds(CLOCK_MONOTONIC) - begun, seconds(CLOCK_PROCESS_CPUTIME_ID) - used);
        kube_client_free(client);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        kube_config_deinit(&config);
        conf_deinit(&conf);
        vec_deinit(&objects);
        return failed ? 1 : 0;
}
