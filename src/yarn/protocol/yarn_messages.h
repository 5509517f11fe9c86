/* Conversions of YARN's messages that several rooms need. */
#pragma once

#include "yarn/protocol/yarn.pb-c.h"
#include "yarn/protocol/yarn_ids.h"

struct hadoop_token;

/* Makes a token of its message; the alias is "". The caller owns *@out, whose former content is not released. */
void yarn_token_read(const Firesteel__Yarn__Token *message, struct hadoop_token *out);

/* Missing parts, and a missing message, are 0. */
struct yarn_container_id yarn_container_id_read(const Firesteel__Yarn__ContainerId *m);

/* The caller frees it with container_id__free_unpacked. */
Firesteel__Yarn__ContainerId *yarn_container_id_message(struct yarn_container_id id);
