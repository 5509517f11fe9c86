/*
 * The external shuffle service: serves the map outputs of executors, also after their end, for all applications on a
 * host (spark.shuffle.service.enabled, spark.shuffle.service.port).
 *
 * It runs in a standalone worker or in its own process (firesteel shuffle-service). Executors write their map outputs
 * as files (shuffle/shuffle_files.h) and register their directories. Reduce tasks fetch from the service as from an
 * executor (rpc/transfer/transfer.proto), also after the executor has ended. Registrations are written to a file, so
 * that a restarted service continues.
 *
 * With spark.authenticate, every connection must prove the cluster's secret (net/security.h). Encrypted files are sent
 * unchanged: only the application's processes have their key. Directories are untrusted: the service only serves
 * regular files with the name and format of map outputs, under a directory that the executor registered.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The purpose that binds connections to a service (security_for), for the application "". */
#define SHUFFLE_SERVICE_PURPOSE "shuffle-service"

struct fst_conf;
struct fst_error;
struct shuffle_service;

struct shuffle_service_options {
        const struct fst_conf *conf; /* spark.shuffle.service.*, spark.shuffle.io.*, spark.authenticate.*; borrowed */
        const char *host;            /* listen address; NULL: all addresses */
        int port;                    /* 0: any; negative: spark.shuffle.service.port */
        /*
         * Directory of registeredExecutors.fst, the registrations; NULL or spark.shuffle.service.db.enabled=false: not
         * written.
         */
        const char *state_dir;
};

/*
 * Listens and serves on its own threads. Returns 0, or negative with @error: for example, the port is in use, or the
 * secret is missing.
 */
int shuffle_service_new(const struct shuffle_service_options *options, struct shuffle_service **service,
                        struct fst_error *error);

int shuffle_service_port(const struct shuffle_service *service);

/*
 * Removes the executors of an ended application and, if @remove_files, their directories. Any thread; takes as long as
 * the removal.
 */
void shuffle_service_end_application(struct shuffle_service *service, const char *app_id, bool remove_files);

struct shuffle_service_counters {
        uint64_t requests, registrations;
        uint64_t not_registered; /* requests for outputs of unregistered executors */
        uint64_t connections, refused, bytes_sent;
        int open_connections;           /* now */
        size_t applications, executors; /* registered now */
        size_t cached, cached_bytes;    /* map outputs with their index in memory */
};

struct shuffle_service_counters shuffle_service_counters(struct shuffle_service *service);

/* Closes everything. Registrations stay for the next service with the same state_dir. NULL is allowed. */
void shuffle_service_free(struct shuffle_service *service);
