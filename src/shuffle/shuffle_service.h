/*
 * The external shuffle service: serves the map outputs of executors, also after they are gone, and of all applications
 * on a host (spark.shuffle.service.enabled, spark.shuffle.service.port).
 *
 * It lives in a standalone worker, or in a process of its own (firesteel shuffle-service). Executors write their map
 * outputs as files (shuffle/shuffle_files.h) and register their directories here; reduce tasks fetch from here, with
 * the same protocol as from an executor (rpc/transfer/transfer.proto), and go on when the executor has ended. What is registered
 * is written to a file, so that a service that starts again serves as before.
 *
 * With spark.authenticate, every connection must prove the cluster's secret (net/security.h). Encrypted files are
 * passed on as they are: only the application's processes have their key. Directories are not believed: what is served
 * are files of the names and the form of map outputs, regular ones, under a directory that the executor registered.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What connections to a service are bound to (security_for), of the application "". */
#define SHUFFLE_SERVICE_PURPOSE "shuffle-service"

struct fst_conf;
struct fst_error;
struct shuffle_service;

struct shuffle_service_options {
        const struct fst_conf *conf; /* spark.shuffle.service.*, spark.shuffle.io.*, spark.authenticate.*; borrowed */
        const char *host;            /* to bind to; NULL: all addresses */
        int port;                    /* 0: any; negative: spark.shuffle.service.port */
        /*
         * Where registrations are kept, in registeredExecutors.fst; NULL, or spark.shuffle.service.db.enabled false:
         * nowhere.
         */
        const char *state_dir;
};

/* Listen and serve, on threads of its own. 0, or negative with @error: the port is taken, the secret is missing. */
int shuffle_service_new(const struct shuffle_service_options *options, struct shuffle_service **service,
                        struct fst_error *error);

int shuffle_service_port(const struct shuffle_service *service);

/*
 * The application has ended: forget its executors and, if @remove_files, remove their directories. Any thread; removing
 * takes as long as the disk does.
 */
void shuffle_service_end_application(struct shuffle_service *service, const char *app_id, bool remove_files);

struct shuffle_service_counters {
        uint64_t requests, registrations;
        uint64_t not_registered; /* requests for outputs of executors that are not known */
        uint64_t connections, bytes_sent;
        size_t applications, executors; /* registered now */
        size_t cached, cached_bytes;    /* map outputs whose index is in memory */
};

struct shuffle_service_counters shuffle_service_counters(struct shuffle_service *service);

/* Close everything. What is registered stays for the next one with the same state_dir. NULL is allowed. */
void shuffle_service_free(struct shuffle_service *service);
