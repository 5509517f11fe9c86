/*
 * The REST interfaces of ResourceManager and NodeManagers, for an application's containers and their logs.
 *
 *      r = yarn_web_init(&web, &yarn_conf, error);
 *      r = yarn_web_application(&web, id, &application, error);
 *      r = yarn_web_containers(&web, id, &places, error);
 *      r = yarn_web_read_logs(&web, &places.data[0], &ops, NULL, owner, error);
 *
 * Calls block. With two ResourceManagers, the standby one redirects to the active one.
 */
#pragma once

#include "base/string_list.h"
#include "base/vec.h"
#include "yarn/application/aggregated_logs.h"
#include "yarn/conf/yarn_conf.h"

struct http_client;

#define YARN_WEB_E_NOT_FOUND 1

struct yarn_web {
        const struct yarn_conf *conf;
        struct http_client *http;
        struct string_list masters; /* "host:port" */
        char *user;
        bool secure;
};

struct web_application {
        char *user;
        bool is_over;
};

struct container_place {
        char *container;
        char *node; /* "http://host:port" */
};

struct container_places {
        struct container_place *data;
        size_t len, cap;
};

int yarn_web_init(struct yarn_web *web, const struct yarn_conf *conf, struct fst_error *error);
void yarn_web_deinit(struct yarn_web *web);

/* Returns YARN_WEB_E_NOT_FOUND for an application that the ResourceManager does not know. */
int yarn_web_application(struct yarn_web *web, const char *id, struct web_application *out, struct fst_error *error);
void web_application_deinit(struct web_application *application);

/* Adds the containers that @places does not have yet: the ApplicationMasters', and those that run. */
int yarn_web_containers(struct yarn_web *web, const char *id, struct container_places *places, struct fst_error *error);

/* The address below which the logs of the latest ApplicationMaster are, or NULL before it has a container. Owned. */
int yarn_web_master_logs(struct yarn_web *web, const char *id, char **out, struct fst_error *error);
void container_places_deinit(struct container_places *places);

/*
 * The logs of one container. `begin` is called with the offset 0 and returns whether to read a log; `seen` (may be
 * NULL) then returns how many bytes of it are known already. Returns YARN_WEB_E_NOT_FOUND when the NodeManager does not
 * have the container any more.
 */
int yarn_web_read_logs(struct yarn_web *web, const struct container_place *place, const struct aggregated_logs_ops *ops,
                       uint64_t (*seen)(void *owner, const struct aggregated_log *log), void *owner,
                       struct fst_error *error);
