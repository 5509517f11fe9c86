/* See node_managers.h. */
#include "yarn/backend/node_managers.h"

#include "base/error.h"
#include "base/mem.h"
#include "hadoop/credentials.h"
#include "hadoop/rpc_client.h"
#include "net/socket.h"
#include "yarn/protocol/yarn_messages.h"

#define CONTAINER_PROTOCOL "org.apache.hadoop.yarn.api.ContainerManagementProtocolPB"
#define NODE_MAX_WAIT_MS (3 * 60 * 1000) /* yarn.client.nodemanager-connect.max-wait-ms */
#define NODE_RETRY_MS 10000              /* yarn.client.nodemanager-connect.retry-interval-ms */

struct node_manager {
        char *address; /* "host:port" */
        struct hadoop_token token;
        struct hadoop_rpc_client *client; /* NULL: not used yet */
};

/* A container that is being started. */
struct node_start {
        struct node_start *prev, *next;
        struct node_managers *nodes;
        Firesteel__Yarn__ContainerId *container;
};

static char *node_address(const Firesteel__Yarn__NodeId *id)
{
        char text[300];
        return mem_strdup(host_port_text(id->host, id->port, text, sizeof(text)));
}

static struct node_manager *nodes_find(struct node_managers *nodes, const Firesteel__Yarn__NodeId *id)
{
        _cleanup_free_ char *address = node_address(id);
        for (size_t i = 0; i < nodes->nodes.len; i++)
                if (strcmp(nodes->nodes.data[i]->address, address) == 0)
                        return nodes->nodes.data[i];
        struct node_manager *node = new0(struct node_manager);
        node->address = steal(address);
        vec_push(&nodes->nodes, node);
        return node;
}

void node_managers_init(struct node_managers *nodes, uv_loop_t *loop, node_start_done done, void *owner)
{
        *nodes = (struct node_managers){.loop = loop, .done = done, .owner = owner};
}

static void node_start_free(struct node_start *start)
{
        firesteel__yarn__container_id__free_unpacked(start->container, NULL);
        free(start);
}

void node_managers_deinit(struct node_managers *nodes)
{
        for (struct node_start *start; (start = list_pop(&nodes->starts));)
                node_start_free(start);
        for (size_t i = 0; i < nodes->nodes.len; i++) {
                struct node_manager *node = nodes->nodes.data[i];
                hadoop_rpc_client_free(node->client);
                hadoop_token_deinit(&node->token);
                free(node->address);
                free(node);
        }
        vec_deinit(&nodes->nodes);
}

void node_managers_set_token(struct node_managers *nodes, const Firesteel__Yarn__NodeToken *token)
{
        if (!token->node || !token->node->host || !token->token)
                return;
        struct node_manager *node = nodes_find(nodes, token->node);
        hadoop_token_deinit(&node->token);
        yarn_token_read(token->token, &node->token);
        if (node->client)
                hadoop_rpc_client_set_token(node->client, &node->token);
}

static int node_connect(struct node_managers *nodes, struct node_manager *node, struct fst_error *error)
{
        const char *addresses[] = {node->address};
        if (node->client)
                return 0;
        if (!node->token.kind)
                return error_set(error, -EACCES, "the ResourceManager sent no token for the NodeManager at %s",
                                 node->address);
        const struct hadoop_rpc_client_options options = {
                .session = {.protocol = CONTAINER_PROTOCOL, .auth = HADOOP_RPC_TOKEN, .token = &node->token},
                .addresses = addresses,
                .n_addresses = 1,
                .service = "NodeManager",
                .retry_ms = NODE_RETRY_MS,
                .max_wait_ms = NODE_MAX_WAIT_MS};
        return hadoop_rpc_client_new(nodes->loop, &options, &node->client, error);
}

static void on_node_started(void *owner, struct hadoop_rpc_result *result)
{
        struct node_start *start = owner;
        _cleanup_free_ char *problem = NULL;
        Firesteel__Yarn__StartContainersResponse *answer = (Firesteel__Yarn__StartContainersResponse *)result->answer;
        if (result->status < 0) {
                problem = mem_printf("%s%s%s", result->exception, result->exception[0] ? ": " : "", result->message);
        } else if (answer->n_failed) {
                const Firesteel__Yarn__SerializedException *e = answer->failed[0]->exception;
                problem = mem_strdup(e && e->message ? e->message : "the NodeManager gave no reason");
        } else if (answer->n_succeeded == 0) {
                problem = mem_strdup("the NodeManager started no container");
        }
        protobuf_c_message_free_unpacked(result->answer, NULL);
        list_remove(&start->nodes->starts, start);
        start->nodes->done(start->nodes->owner, start->container, problem);
        node_start_free(start);
}

int node_managers_start(struct node_managers *nodes, const Firesteel__Yarn__Container *container,
                        const Firesteel__Yarn__ContainerLaunchContext *context, struct fst_error *error)
{
        struct node_manager *node = nodes_find(nodes, container->node);
        const int r = node_connect(nodes, node, error);
        if (r < 0)
                return r;
        struct node_start *start = new0(struct node_start);
        start->nodes = nodes;
        start->container = (Firesteel__Yarn__ContainerId *)hadoop_message_copy(&container->id->base);
        list_append(&nodes->starts, start);
        Firesteel__Yarn__StartContainerRequest one = FIRESTEEL__YARN__START_CONTAINER_REQUEST__INIT, *all[] = {&one};
        Firesteel__Yarn__StartContainersRequest request = FIRESTEEL__YARN__START_CONTAINERS_REQUEST__INIT;
        one.launch_context = (Firesteel__Yarn__ContainerLaunchContext *)context;
        one.container_token = container->container_token;
        request.n_requests = 1;
        request.requests = all;
        const struct hadoop_rpc_call call = {.method = "startContainers",
                                             .answer = &firesteel__yarn__start_containers_response__descriptor,
                                             .done = on_node_started,
                                             .owner = start};
        hadoop_rpc_client_call(node->client, &call, &request.base);
        return 0;
}
