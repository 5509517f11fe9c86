/*
 * The requests for containers of one profile that YARN has not granted yet, and the rows of the ResourceManager's table
 * that follow from them (what Hadoop's AMRMClient keeps).
 *
 * A request names hosts and their racks, or any place. The ResourceManager keeps one number for each host, each rack
 * and "*"; a request counts once in each place that it names and once in "*". When the ResourceManager grants a
 * container, it lowers the numbers by itself: `asked` follows that, so that only real changes are sent.
 */
#pragma once

#include "base/hash_table.h"
#include "base/string_list.h"
#include "yarn/allocator/allocator_actions.h"

#include <stdbool.h>

#define YARN_ANY_HOST "*"

/* `count` equal requests. Without hosts: anywhere. */
struct request_group {
        struct string_list hosts, racks;
        int count;
};

/* A row of the ResourceManager's table. */
struct request_row {
        char *location;
        int asked;  /* what the ResourceManager has */
        int wanted; /* scratch of container_requests_emit */
};

struct container_requests {
        VEC(struct request_group) groups; /* oldest first */
        VEC(struct request_row *) rows;   /* in the order in which they were asked for */
        struct object_table by_location;
        int total; /* requests */
};

void container_requests_deinit(struct container_requests *q);

/* Adds @count requests for any of the @n hosts, or for any place with n 0. Racks may hold NULL; doubles are dropped. */
void container_requests_add(struct container_requests *q, const char *const *hosts, const char *const *racks, size_t n,
                            int count);

/* Takes up to @count requests out of the group at @index; an empty group goes. Returns how many. */
int container_requests_cancel(struct container_requests *q, size_t index, int count);

/* Takes out one request that names @location (a host or a rack), or any with YARN_ANY_HOST. False: there is none. */
bool container_requests_match(struct container_requests *q, const char *location);

/* The ResourceManager has granted a container on @host in @rack (or NULL): follows its table. */
void container_requests_granted(struct container_requests *q, const char *host, const char *rack);

/* Requests that name @host. */
int container_requests_count_host(const struct container_requests *q, const char *host);

/* Emits YARN_ACTION_ASK of @profile for each row that differs from what the ResourceManager has. */
void container_requests_emit(struct container_requests *q, int32_t profile, struct yarn_actions *actions);

/* A ResourceManager that has forgotten the application has no row. */
void container_requests_forget_asked(struct container_requests *q);
