/* The configuration that the tests of the lifecycle manager begin with. */
#pragma once

#include "celeborn/lifecycle/lifecycle.h"

#define MS INT64_C(1000000)

/* @masters stays in use. A test sets the other members. */
static inline struct celeborn_config lifecycle_fixture_config(const struct lifecycle_master *masters, int n_masters)
{
        return (struct celeborn_config){.app_id = "app",
                                        .hostname = "driver",
                                        .tenant = "default",
                                        .user = "default",
                                        .tags = "",
                                        .masters = masters,
                                        .n_masters = n_masters,
                                        .heartbeat = 10000 * MS,
                                        .master_timeout = 2000 * MS,
                                        .reserve_timeout = 2000 * MS,
                                        .commit_timeout = 2000 * MS,
                                        .master_wait = 100 * MS,
                                        .register_wait = 500 * MS,
                                        .commit_wait = 500 * MS,
                                        .reserve_retries = 3};
}
