/*
 * See submission_pipeline.h.
 *
 * Ids that nobody takes cost the ResourceManager nothing, so MAX_AHEAD of them are asked for while as many submissions
 * wait. Calls that are made together travel in one packet, which spares both sides most of their system calls.
 */
#include "submit/yarn/submission_pipeline.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "hadoop/rpc_thread.h"
#include "yarn/conf/yarn_cluster.h"
#include "yarn/protocol/resource_manager.h"

#include <pthread.h>
#include <stdlib.h>

#define MAX_AHEAD 32
#define MAX_SENDING 256  /* submissions without an answer */
#define STOP_POLL_MS 100 /* between two looks at the flag `stopped` */

struct submission_pipeline {
        struct yarn_cluster *cluster;
        struct hadoop_rpc_thread *rm;
        int members; /* guarded by the list's lock */
        pthread_mutex_t lock;
        pthread_cond_t changed;
        VEC(Firesteel__Yarn__GetNewApplicationResponse *) ids; /* these are guarded by `lock` */
        size_t asked;                                          /* ids that were asked for and have not come */
        size_t sending;                                        /* submissions without an answer */
        uint64_t failures;                                     /* calls for an id that failed */
        int last_status;
        char *last_message;
};

/* Those of the process. */
static struct {
        pthread_mutex_t lock;
        VEC(struct submission_pipeline *) list;
} pipelines = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --------------------------------------------------------------------------------------------------------- lifetime */

static int submission_pipeline_connect(void *owner, uv_loop_t *loop, struct hadoop_rpc_client **out,
                                       struct fst_error *error)
{
        struct submission_pipeline *p = owner;
        return yarn_conf_client(yarn_cluster_conf(p->cluster), YARN_RM_CLIENT, NULL, NULL, loop, out, error);
}

static void submission_pipeline_free(struct submission_pipeline *p)
{
        hadoop_rpc_thread_free(p->rm);
        for (size_t i = 0; i < p->ids.len; i++)
                protobuf_c_message_free_unpacked(&p->ids.data[i]->base, NULL);
        vec_deinit(&p->ids);
        free(p->last_message);
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
        yarn_cluster_unref(p->cluster);
        free(p);
}

static int submission_pipeline_new(struct yarn_cluster *cluster, struct submission_pipeline **out,
                                   struct fst_error *error)
{
        struct submission_pipeline *p = new0(struct submission_pipeline);
        p->cluster = yarn_cluster_ref(cluster);
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->changed, NULL);
        const int r = hadoop_rpc_thread_new(submission_pipeline_connect, p, &p->rm, error);
        if (r < 0)
                submission_pipeline_free(p);
        else
                *out = p;
        return r;
}

int submission_pipeline_join(struct yarn_cluster *cluster, struct submission_pipeline **out, struct fst_error *error)
{
        struct submission_pipeline *p = NULL;
        int r = 0;
        pthread_mutex_lock(&pipelines.lock);
        for (size_t i = 0; i < pipelines.list.len && !p; i++)
                if (pipelines.list.data[i]->cluster == cluster)
                        p = pipelines.list.data[i];
        if (!p && (r = submission_pipeline_new(cluster, &p, error)) == 0)
                vec_push(&pipelines.list, p);
        if (r == 0) {
                p->members++;
                *out = p;
        }
        pthread_mutex_unlock(&pipelines.lock);
        return r;
}

void submission_pipeline_leave(struct submission_pipeline *p)
{
        if (!p)
                return;
        pthread_mutex_lock(&pipelines.lock);
        const bool last = --p->members == 0;
        for (size_t i = pipelines.list.len; last && i-- > 0;)
                if (pipelines.list.data[i] == p)
                        pipelines.list.data[i] = pipelines.list.data[--pipelines.list.len];
        if (pipelines.list.len == 0)
                vec_deinit(&pipelines.list);
        pthread_mutex_unlock(&pipelines.lock);
        if (last)
                submission_pipeline_free(p);
}

/* -------------------------------------------------------------------------------------------------------------- ids */

/* On the pipeline's thread. */
static void on_new_application(void *owner, struct hadoop_rpc_result *result)
{
        struct submission_pipeline *p = owner;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        Firesteel__Yarn__GetNewApplicationResponse *answer = (void *)result->answer;
        int status = hadoop_rpc_result_error(result, &error);
        if (status == 0)
                status = yarn_rm_check_new_application(answer, &error);
        pthread_mutex_lock(&p->lock);
        p->asked--;
        if (status == 0) {
                vec_push(&p->ids, answer);
        } else {
                p->failures++;
                p->last_status = status;
                free(p->last_message);
                p->last_message = mem_strdup(error_message(&error));
        }
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (status < 0 && answer)
                protobuf_c_message_free_unpacked(&answer->base, NULL);
}

/* Under the lock. */
static void submission_pipeline_ask(struct submission_pipeline *p, size_t wanted)
{
        const struct hadoop_rpc_call call = {.method = YARN_RM_NEW_APPLICATION,
                                             .answer = &firesteel__yarn__get_new_application_response__descriptor,
                                             .done = on_new_application,
                                             .owner = p};
        for (; p->ids.len + p->asked < wanted; p->asked++) {
                struct buf nothing = BUF_INIT;
                hadoop_rpc_thread_call(p->rm, &call, &nothing);
        }
}

int submission_pipeline_take_id(struct submission_pipeline *p, size_t others, const int *stopped,
                                Firesteel__Yarn__GetNewApplicationResponse **out, struct fst_error *error)
{
        const size_t ahead = MIN(others, (size_t)MAX_AHEAD);
        int r = 0;
        pthread_mutex_lock(&p->lock);
        const uint64_t failures = p->failures;
        if (p->ids.len + p->asked <= ahead / 2)
                submission_pipeline_ask(p, ahead + 1);
        while ((p->ids.len == 0 || p->sending >= MAX_SENDING) && r == 0) {
                const struct timespec until = timespec_of_ns(now_ns() + STOP_POLL_MS * NS_PER_MS);
                if (p->ids.len == 0 && p->failures != failures)
                        r = error_set(error, p->last_status, "%s", p->last_message);
                else if (stopped && __atomic_load_n(stopped, __ATOMIC_RELAXED))
                        r = error_set(error, -EINTR, "the submission was interrupted");
                else {
                        submission_pipeline_ask(p, 1); /* others may have taken those that were asked for */
                        pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &until);
                }
        }
        if (r == 0) {
                *out = p->ids.data[0];
                vec_drop(&p->ids, 1);
        }
        pthread_mutex_unlock(&p->lock);
        return r;
}

/* ---------------------------------------------------------------------------------------------------------- sending */

struct pipeline_sending {
        struct submission_pipeline *pipeline;
        hadoop_rpc_done done;
        void *owner;
};

static void on_pipeline_sent(void *owner, struct hadoop_rpc_result *result)
{
        const struct pipeline_sending sending = *(struct pipeline_sending *)owner;
        free(owner);
        pthread_mutex_lock(&sending.pipeline->lock);
        sending.pipeline->sending--;
        pthread_cond_broadcast(&sending.pipeline->changed);
        pthread_mutex_unlock(&sending.pipeline->lock);
        sending.done(sending.owner, result);
}

void submission_pipeline_send(struct submission_pipeline *p, struct buf *request, hadoop_rpc_done done, void *owner)
{
        struct pipeline_sending *sending = new0(struct pipeline_sending);
        *sending = (struct pipeline_sending){.pipeline = p, .done = done, .owner = owner};
        const struct hadoop_rpc_call call = {.method = YARN_RM_SUBMIT_APPLICATION,
                                             .answer = &firesteel__yarn__empty__descriptor,
                                             .done = on_pipeline_sent,
                                             .owner = sending};
        pthread_mutex_lock(&p->lock);
        p->sending++;
        pthread_mutex_unlock(&p->lock);
        hadoop_rpc_thread_call(p->rm, &call, request);
}
