/* Conversions of YARN's messages that several rooms need. */
#pragma once

#include "yarn/protocol/yarn.pb-c.h"

struct hadoop_token;

/* Makes a token of its message; the alias is "". The caller owns *@out, whose former content is not released. */
void yarn_token_read(const Firesteel__Yarn__Token *message, struct hadoop_token *out);
