/*
 * A session of Hadoop's RPC: the first byte chooses the authentication (its lowest bit) and how the rest, the server's
 * bytes, is split. A broken session reports its error once and nothing after it. No session is ready before the server
 * has proved that it knows the token.
 */
#include "base/mem.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_session.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const size_t steps[] = {1, 3, 31, 4096};
        struct hadoop_token token = {.alias = "", .kind = "YARN_AM_RM_TOKEN", .service = ""};
        struct hadoop_rpc_options options = {.protocol = "org.example.ProtocolPB", .user = "alice"};
        struct hadoop_rpc_session *s;
        struct hadoop_rpc_event e;
        bool broken = false;
        if (size == 0)
                return 0;
        buf_puts(&token.identifier, "identifier");
        buf_puts(&token.password, "password");
        options.auth = data[0] & 1 ? HADOOP_RPC_TOKEN : HADOOP_RPC_SIMPLE;
        options.token = &token;
        const int r = hadoop_rpc_session_new(&options, &s, NULL);
        buf_deinit(&token.identifier);
        buf_deinit(&token.password);
        if (r < 0)
                return 0; /* Cyrus SASL is not installed */
        const size_t step = steps[data[0] >> 1 & 3];
        for (size_t at = 1; at < size; at += step) {
                hadoop_rpc_session_input(s, data + at, MIN(step, size - at));
                while (hadoop_rpc_session_next(s, &e)) {
                        if (broken || !e.exception || !e.message)
                                abort();
                        if (e.type == HADOOP_RPC_READY && options.auth == HADOOP_RPC_TOKEN)
                                abort(); /* no input knows the client's nonce */
                        broken = e.type == HADOOP_RPC_BROKEN;
                }
        }
        hadoop_rpc_session_free(s);
        return 0;
}
