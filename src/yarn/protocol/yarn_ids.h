/*
 * YARN's identifiers as text: "application_1700000000000_0001", "appattempt_1700000000000_0001_000001",
 * "container_e02_1700000000000_0001_01_000003". A container's number holds the epoch of the ResourceManager in its
 * upper bits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define YARN_ID_TEXT 80 /* with the NUL */

struct yarn_application_id {
        int64_t cluster_timestamp;
        int32_t id;
};

struct yarn_container_id {
        struct yarn_application_id application;
        int32_t attempt;
        int64_t id; /* epoch << 40 | number */
};

/* They write @text and return it. */
const char *yarn_application_text(struct yarn_application_id id, char text[static YARN_ID_TEXT]);
const char *yarn_container_text(struct yarn_container_id id, char text[static YARN_ID_TEXT]);

/* Return 0, or -EINVAL with @error naming @text. */
int yarn_application_parse(const char *text, struct yarn_application_id *out, struct fst_error *error);
int yarn_container_parse(const char *text, struct yarn_container_id *out, struct fst_error *error);

/* Whether it is the ApplicationMaster's: the first of its attempt. */
bool yarn_container_is_master(struct yarn_container_id id);

bool yarn_container_ids_are_equal(struct yarn_container_id a, struct yarn_container_id b);

/* For tables of one application's containers. */
uint64_t yarn_container_hash(struct yarn_container_id id);
