/* See yarn_messages.h. */
#include "yarn/protocol/yarn_messages.h"

#include "base/mem.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_client.h"

void yarn_token_read(const Firesteel__Yarn__Token *message, struct hadoop_token *out)
{
        *out = (struct hadoop_token){
                .alias = mem_strdup(""), .kind = mem_strdup(message->kind), .service = mem_strdup(message->service)};
        buf_append(&out->identifier, message->identifier.data, message->identifier.len);
        buf_append(&out->password, message->password.data, message->password.len);
}

struct yarn_container_id yarn_container_id_read(const Firesteel__Yarn__ContainerId *m)
{
        const Firesteel__Yarn__ApplicationAttemptId *attempt = m ? m->attempt_id : NULL;
        const Firesteel__Yarn__ApplicationId *app = attempt ? attempt->application_id : NULL;
        return (struct yarn_container_id){
                .application = {.cluster_timestamp = app ? app->cluster_timestamp : 0, .id = app ? app->id : 0},
                .attempt = attempt ? attempt->attempt_id : 0,
                .id = m ? m->id : 0};
}

Firesteel__Yarn__ContainerId *yarn_container_id_message(struct yarn_container_id id)
{
        Firesteel__Yarn__ApplicationId app = FIRESTEEL__YARN__APPLICATION_ID__INIT;
        Firesteel__Yarn__ApplicationAttemptId attempt = FIRESTEEL__YARN__APPLICATION_ATTEMPT_ID__INIT;
        Firesteel__Yarn__ContainerId m = FIRESTEEL__YARN__CONTAINER_ID__INIT;
        app.has_id = app.has_cluster_timestamp = attempt.has_attempt_id = m.has_id = true;
        app.id = id.application.id;
        app.cluster_timestamp = id.application.cluster_timestamp;
        attempt.application_id = &app;
        attempt.attempt_id = id.attempt;
        m.attempt_id = &attempt;
        m.id = id.id;
        return (Firesteel__Yarn__ContainerId *)hadoop_message_copy(&m.base);
}
