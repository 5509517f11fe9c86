/*
 * See shuffle_manager.h.
 *
 * Differs from Spark, which loads any other name as a class and reports a ClassNotFoundException: the message lists the
 * names. "hash" and its class ended with Spark 2.0 there, too.
 */
#include "shuffle/shuffle_manager.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <stdlib.h>
#include <strings.h>

#define KEY "spark.shuffle.manager"
#define STORE_KEY "spark.firesteel.shuffle.store"
#define NAMES "sort, celeborn, tungsten-sort or org.apache.spark.shuffle.sort.SortShuffleManager"

static const char *const short_names[] = {"sort", "tungsten-sort"};
static const char *const sort_classes[] = {"org.apache.spark.shuffle.sort.SortShuffleManager"};
static const char *const celeborn_classes[] = {"org.apache.spark.shuffle.celeborn.SparkShuffleManager",
                                               "org.apache.spark.shuffle.celeborn.RssShuffleManager"};

static bool shuffle_manager_is_listed(const char *name, const char *const *list, size_t n,
                                      int (*compare)(const char *, const char *))
{
        for (size_t i = 0; i < n; i++)
                if (compare(name, list[i]) == 0)
                        return true;
        return false;
}

int shuffle_manager_read(const struct fst_conf *conf, enum shuffle_manager *manager, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        int r = conf_get_string(conf, KEY, &name, error);
        if (r)
                return r;
        bool celeborn = strcasecmp(name, "celeborn") == 0 ||
                        shuffle_manager_is_listed(name, celeborn_classes, ARRAY_SIZE(celeborn_classes), strcmp);
        if (!celeborn && !shuffle_manager_is_listed(name, short_names, ARRAY_SIZE(short_names), strcasecmp) &&
            !shuffle_manager_is_listed(name, sort_classes, ARRAY_SIZE(sort_classes), strcmp))
                return error_set(error, -EINVAL, KEY " is \"%s\", which does not exist: set it to " NAMES, name);
        if (manager)
                *manager = celeborn ? SHUFFLE_MANAGER_CELEBORN : SHUFFLE_MANAGER_SORT;
        return 0;
}

void shuffle_manager_warn_local(const struct fst_conf *conf, enum shuffle_manager manager)
{
        if (manager == SHUFFLE_MANAGER_CELEBORN)
                log_warn("SparkContext",
                         KEY " has no effect with a local master: map outputs stay in this process, not in Celeborn");
        if (conf_get_raw(conf, STORE_KEY))
                log_warn("SparkContext",
                         STORE_KEY " has no effect with a local master: map outputs stay in this process");
}
