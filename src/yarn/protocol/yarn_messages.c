/* See yarn_messages.h. */
#include "yarn/protocol/yarn_messages.h"

#include "base/mem.h"
#include "hadoop/credentials.h"

void yarn_token_read(const Firesteel__Yarn__Token *message, struct hadoop_token *out)
{
        *out = (struct hadoop_token){
                .alias = mem_strdup(""), .kind = mem_strdup(message->kind), .service = mem_strdup(message->service)};
        buf_append(&out->identifier, message->identifier.data, message->identifier.len);
        buf_append(&out->password, message->password.data, message->password.len);
}
