/* The messages that an application sends to its masters. See app_client.h. */
#include "standalone/client/app_client_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "rpc/rpc.h"

#define LOG APP_CLIENT_LOG

void app_requests_introduce(struct app_client *c, int master)
{
        Firesteel__Standalone__RegisterApplication more = FIRESTEEL__STANDALONE__REGISTER_APPLICATION__INIT;
        more.app_id = c->app_id;
        standalone_send_joined(c->links[master].ref, FIRESTEEL__STANDALONE__STANDALONE_TYPE__REGISTER_APPLICATION,
                               c->introduction, c->introduction_size, &more.base);
}

static void request_answered(void *owner, struct rpc_answer *answer)
{
        struct app_client *c = owner;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(answer->len);
        const Firesteel__Standalone__Truth *known =
                answer->status ? NULL
                               : standalone_decode(answer->body, answer->len, &firesteel__standalone__truth__descriptor,
                                                   &memory, &error);
        c->asked--;
        if (!known || !known->value) /* the next leader gets them */
                log_warn(LOG, "The master refused the request for executors of %s: %s", c->app_id,
                         known            ? "it does not know the application"
                         : answer->status ? answer->message
                                          : error_message(&error));
        error_deinit(&error);
}

void app_requests_executors(struct app_client *c)
{
        _cleanup_(buf_deinit) struct buf joined = BUF_INIT;
        _cleanup_free_ void *rest = NULL;
        Firesteel__Standalone__RequestExecutors more = FIRESTEEL__STANDALONE__REQUEST_EXECUTORS__INIT;
        size_t rest_size;
        more.app_id = c->app_id;
        buf_append(&joined, c->targets.data, c->targets.len);
        rest = standalone_pack(&more.base, &rest_size);
        buf_append(&joined, rest, rest_size);
        if (rpc_ask(c->links[registration_leader(c->registration)].ref,
                    FIRESTEEL__STANDALONE__STANDALONE_TYPE__REQUEST_EXECUTORS, joined.data, joined.len, NULL, 0,
                    request_answered, c) == 0)
                c->asked++;
}

/* The executor has ended, so no request is needed. */
void app_requests_forget_kill(struct app_client *c, int executor)
{
        for (size_t i = 0; i < c->kills.len; i++)
                if (c->kills.data[i]->executor == executor)
                        c->kills.data[i]->done = true;
}

static void kill_answered(void *owner, struct rpc_answer *answer)
{
        struct kill *k = owner;
        struct app_client *c = k->client;
        if (k->done || c->dead)
                return;
        if (answer->status) {
                log_warn(LOG, "Cannot reach the master to kill executor %s/%d: %s", c->app_id, k->executor,
                         answer->message);
                return;
        }
        k->done = true;
        c->ops->executor_killed(c->owner, k->executor);
}

void app_requests_kill(struct app_client *c, struct kill *k)
{
        Firesteel__Standalone__KillExecutorsOfApp kill = FIRESTEEL__STANDALONE__KILL_EXECUTORS_OF_APP__INIT;
        int32_t executor = k->executor;
        kill.app_id = c->app_id;
        kill.n_executors = 1;
        kill.executors = &executor;
        rpc_ask_packed(c->links[registration_leader(c->registration)].ref,
                       FIRESTEEL__STANDALONE__STANDALONE_TYPE__KILL_EXECUTORS_OF_APP, &kill.base, NULL, 0,
                       kill_answered, k);
}

/* Sends the leader all requests made while there was none. */
void app_requests_tell_state(struct app_client *c)
{
        Firesteel__Standalone__ApplicationState more = FIRESTEEL__STANDALONE__APPLICATION_STATE__INIT;
        more.app_id = c->app_id;
        more.next_executor = c->next_executor;
        standalone_send_joined(c->links[registration_leader(c->registration)].ref,
                               FIRESTEEL__STANDALONE__STANDALONE_TYPE__APPLICATION_STATE, c->targets.data,
                               c->targets.len, &more.base);
        for (size_t i = 0; i < c->kills.len; i++)
                if (!c->kills.data[i]->done)
                        app_requests_kill(c, c->kills.data[i]);
}
