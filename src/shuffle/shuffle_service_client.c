/* See shuffle_service_client.h. */
#include "shuffle/shuffle_service_client.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "net/security.h"
#include "rpc/transfer/transfer.pb-c.h"
#include "rpc/transfer/transfer_client.h"
#include "shuffle/shuffle_service.h"
#include "store/disk_dirs.h"

#define LOG "ExternalBlockStoreClient"

struct service_client {
        struct security *cluster, *security; /* the latter is bound to SHUFFLE_SERVICE_PURPOSE */
        struct transfer_client *transfers;
        const char *app_id;
        int attempts; /* attempts to register */
};

int service_client_new(const struct fst_conf *conf, const char *app_id, int connections, struct service_client **client,
                       struct fst_error *error)
{
        struct service_client *c = new0(struct service_client);
        int64_t retries, wait_ms, timeout_ms, register_ms, attempts;
        int r;
        if ((r = conf_get_int(conf, "spark.shuffle.io.maxRetries", &retries, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.io.retryWait", &wait_ms, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.io.connectionTimeout", &timeout_ms, error)) ||
            (r = conf_get_ms(conf, "spark.shuffle.registration.timeout", &register_ms, error)) ||
            (r = conf_get_int(conf, "spark.shuffle.registration.maxAttempts", &attempts, error)) ||
            (r = security_new(conf, "", SECURITY_EXECUTOR, &c->cluster, error)) ||
            (r = security_for(c->cluster, SHUFFLE_SERVICE_PURPOSE, &c->security, error))) {
                service_client_free(c);
                return r;
        }
        c->app_id = app_id;
        c->attempts = (int)MAX(attempts, (int64_t)1);
        c->transfers = transfer_client_new(&(struct transfer_client_options){
                .security = c->security,
                .app_id = app_id,
                .connections_per_peer = connections,
                .max_retries = (int)retries,
                .retry_wait_ns = wait_ms * 1000000,
                .connect_ns = MIN(register_ms, timeout_ms) * 1000000,
                .timeout_ns = timeout_ms * 1000000,
        });
        *client = c;
        return 0;
}

void service_client_free(struct service_client *c)
{
        if (!c)
                return;
        transfer_client_free(c->transfers);
        security_free(c->security);
        security_free(c->cluster);
        free(c);
}

struct transfer_client *service_client_transfers(const struct service_client *client)
{
        return client->transfers;
}

/* Sends a request and waits for the empty reply. */
static int service_client_send(struct service_client *c, const char *host, int port,
                               const Firesteel__TransferRequest *request, struct fst_error *error)
{
        struct transfer_input *input = NULL;
        unsigned char rest[64];
        _cleanup_free_ unsigned char *data = mem_alloc(firesteel__transfer_request__get_packed_size(request));
        size_t len = firesteel__transfer_request__pack(request, data);
        struct transfer_call once = {.retries_used = transfer_client_options(c->transfers)->max_retries};
        int r = transfer_open(c->transfers, host, port, data, len, &once, &input, error);
        ssize_t n = r ? r : transfer_read(input, rest, sizeof(rest), error);
        transfer_close(input);
        return n < 0 ? (int)n : 0;
}

int service_client_register(struct service_client *c, const char *host, int port, const char *executor_id,
                            const struct disk_dirs *dirs, int subdirectories, struct fst_error *error)
{
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        Firesteel__RegisterShuffle body = FIRESTEEL__REGISTER_SHUFFLE__INIT;
        size_t n = disk_dirs_count(dirs);
        _cleanup_free_ char **directories = new_array(char *, n);
        for (size_t i = 0; i < n; i++)
                directories[i] = (char *)disk_dirs_root(dirs, i);
        body.app_id = (char *)c->app_id;
        body.executor_id = (char *)executor_id;
        body.directories = directories;
        body.n_directories = n;
        body.subdirectories = subdirectories;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_REGISTER_SHUFFLE;
        request.register_shuffle = &body;
        int r = -EINVAL;
        for (int left = c->attempts; left > 0; left--) {
                error_deinit(error);
                r = service_client_send(c, host, port, &request, error);
                if (r == 0)
                        return 0;
                if (left > 1)
                        log_warn(LOG, "Failed to connect to external shuffle server, will retry %d more times: %s",
                                 left - 1, error_message(error));
        }
        return error_wrap(error, r,
                          "Unable to register with external shuffle server at %s:%d, which must be Firesteel's", host,
                          port);
}

int service_client_remove(struct service_client *c, const char *host, int port, const char *executor_id,
                          const struct released_output *outputs, size_t n, struct fst_error *error)
{
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        Firesteel__RemoveOutputs body = FIRESTEEL__REMOVE_OUTPUTS__INIT;
        _cleanup_free_ int32_t *shuffles = new_array(int32_t, n), *maps = new_array(int32_t, n);
        _cleanup_free_ int64_t *tasks = new_array(int64_t, n);
        for (size_t i = 0; i < n; i++) {
                shuffles[i] = outputs[i].shuffle;
                maps[i] = outputs[i].map_partition;
                tasks[i] = outputs[i].task_id;
        }
        body.app_id = (char *)c->app_id;
        body.executor_id = (char *)executor_id;
        body.shuffles = shuffles;
        body.map_partitions = maps;
        body.map_task_ids = tasks;
        body.n_shuffles = body.n_map_partitions = body.n_map_task_ids = n;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_REMOVE_OUTPUTS;
        request.remove_outputs = &body;
        return service_client_send(c, host, port, &request, error);
}

int service_client_heartbeat(struct service_client *c, const char *host, int port, int64_t timeout_ms,
                             struct fst_error *error)
{
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        Firesteel__DriverHeartbeat body = FIRESTEEL__DRIVER_HEARTBEAT__INIT;
        body.app_id = (char *)c->app_id;
        body.timeout_ms = timeout_ms;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_DRIVER_HEARTBEAT;
        request.driver_heartbeat = &body;
        return service_client_send(c, host, port, &request, error);
}

int service_client_end_application(struct service_client *c, const char *host, int port, struct fst_error *error)
{
        Firesteel__TransferRequest request = FIRESTEEL__TRANSFER_REQUEST__INIT;
        Firesteel__EndApplication body = FIRESTEEL__END_APPLICATION__INIT;
        body.app_id = (char *)c->app_id;
        request.what_case = FIRESTEEL__TRANSFER_REQUEST__WHAT_END_APPLICATION;
        request.end_application = &body;
        return service_client_send(c, host, port, &request, error);
}
