/* State of a worker for its pages and JSON: read it on the loop's thread, never change it. worker_server.c owns it.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "standalone/core/master_core.h"

struct Firesteel__Standalone__Resource;
struct Firesteel__Standalone__WorkerState;

struct worker_executor_state {
        char *app_id, *app_name, *app_user;
        int app_max_cores; /* 0: unlimited */
        int id, profile, cores;
        int64_t memory; /* MiB */
        enum executor_state state;
        char *directory; /* with its stdout and stderr */
        char *command;   /* as Spark shows it: "Command(class,List(arguments),Map(),List(),List(),List())" */
        struct resource_addresses *resources; /* owned, deeply */
        int n_resources;
};

struct worker_driver_state {
        char *id, *main_class, *exception; /* exception: NULL if there is none */
        int cores;
        int64_t memory;
        bool supervise;
        enum driver_state state;
        char *directory;
        struct resource_addresses *resources;
        int n_resources;
};

/* Releases its content, not itself. */
void worker_executor_state_deinit(struct worker_executor_state *state);
void worker_driver_state_deinit(struct worker_driver_state *state);

/* Deep copies of @n resources in a message, and their release. */
struct resource_addresses *worker_resources_copy(struct Firesteel__Standalone__Resource *const *resources, size_t n);
void worker_resources_deinit(struct resource_addresses *resources, int n);

/*
 * Write the resources of a child process for its --resourcesFile or spark.driver.resourcesFile into @directory.
 * @component: "spark.executor" or "spark.driver". *@path is the caller's; NULL if there are none. Negative with @error.
 */
int worker_resources_write(const struct resource_addresses *resources, int n, const char *component,
                           const char *directory, char **path, struct fst_error *error);

struct worker_view {
        const char *id, *host, *work_dir;
        int port;
        const char *master_url, *master_web_ui; /* "" before the first registration */
        bool connected, decommissioned;
        int cores, cores_used;
        int64_t memory, memory_used;
        const struct resource_addresses *resources; /* all of its resources */
        int n_resources;
        VEC(struct worker_executor_state *) executors, finished_executors;
        VEC(struct worker_driver_state *) drivers, finished_drivers;
};

/* The same as messages, in the arena. Strings are borrowed. */
struct Firesteel__Standalone__Resource **worker_resources_message(const struct resource_addresses *resources, int n,
                                                                  struct arena *arena);
struct Firesteel__Standalone__WorkerState *worker_state_message(const struct worker_view *v, const char *id,
                                                                struct arena *arena);
