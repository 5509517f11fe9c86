/* Where the ResourceManager's pages link an application that has ended: spark.yarn.historyServer.address. */
#pragma once

#include <stdint.h>

struct fst_conf;
struct yarn_conf;

/*
 * "ADDRESS/history/APPLICATION/ATTEMPT" with the values of ${hadoopconf-KEY} in the address, or "" if there is no
 * address. A variable without a value stays, with all that follow it. The caller owns it.
 */
char *history_address(const struct fst_conf *conf, const struct yarn_conf *yarn, const char *app_id, int32_t attempt);
