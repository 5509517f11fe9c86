/* See executor_data.h. */
#include "mesos/tasks/executor_data.h"

#include "base/buf.h"
#include "base/error.h"
#include "conf/conf.h"
#include "exec/executor.h"

#include <string.h>

#define DRIVER_URL "driver-url"

static void executor_data_put(struct buf *out, const char *key, const char *value)
{
        buf_append(out, key, strlen(key) + 1);
        buf_append(out, value, strlen(value) + 1);
}

void executor_data_write(struct buf *out, const char *driver_url, const struct fst_conf *conf)
{
        executor_data_put(out, DRIVER_URL, driver_url);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));)
                if (executor_startup_key(e->key) && strcmp(e->key, "spark.authenticate.secret") != 0)
                        executor_data_put(out, e->key, e->value);
}

int executor_data_read(const uint8_t *data, size_t len, const char **driver_url, struct fst_conf *conf,
                       struct fst_error *error)
{
        const char *at = (const char *)data, *end = at + len, *url = NULL;

        if (len > EXECUTOR_DATA_MAX || (len > 0 && end[-1] != '\0'))
                return error_set(error, -EBADMSG, "the data of the executor are not from a driver of Firesteel");
        while (at < end) {
                const char *key = at, *value = key + strlen(key) + 1;
                if (value >= end)
                        return error_set(error, -EBADMSG, "the data of the executor end in the middle of a setting");
                if (strcmp(key, DRIVER_URL) == 0)
                        url = value;
                at = value + strlen(value) + 1;
        }
        if (!url || !*url)
                return error_set(error, -EBADMSG, "the data of the executor lack the driver's address");
        for (at = (const char *)data; at < end;) {
                const char *key = at, *value = key + strlen(key) + 1;
                if (strcmp(key, DRIVER_URL) != 0)
                        conf_set(conf, key, value);
                at = value + strlen(value) + 1;
        }
        *driver_url = url;
        return 0;
}
