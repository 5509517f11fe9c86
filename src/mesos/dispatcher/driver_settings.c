/* See driver_settings.h. */
#include "mesos/dispatcher/driver_settings.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/keys.h"
#include "mesos/dispatcher/driver_command.h"
#include "mesos/offers/offers_conf.h"
#include "mesos/tasks/task_parts.h"
#include "rest/rest_request.h"

#define DEFAULT_PREFIX "spark.mesos.dispatcher.driverDefault."
#define DRIVER_CORES "spark.driver.cores"

void driver_settings_merge(const struct driver_command *c, struct strmap *out)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&c->conf->set, e));)
                if (text_starts_with(e->key, DEFAULT_PREFIX))
                        strmap_set(out, e->key + strlen(DEFAULT_PREFIX), e->value);
        strmap_merge(out, &c->request->properties);
}

/* Whether the value of a key of the table is of its type. */
static int driver_settings_check_type(const struct fst_conf *conf, const char *name, struct fst_error *error)
{
        struct key row;
        int64_t number;
        double fraction;
        bool yes;
        if (!key_find(name, &row) || row.status != KEY_USED)
                return 0;
        switch (row.type) {
        case KEY_BOOL:
                return conf_get_bool(conf, name, &yes, error);
        case KEY_INT:
        case KEY_LONG:
                return conf_get_int(conf, name, &number, error);
        case KEY_DOUBLE:
                return conf_get_double(conf, name, &fraction, error);
        case KEY_BYTES:
                return conf_get_bytes(conf, name, &number, error);
        case KEY_TIME:
                return conf_get_ms(conf, name, &number, error);
        default:
                return 0;
        }
}

/* The agent has other variables than the dispatcher. */
static const char *driver_settings_no_environment(const char *name)
{
        return NULL;
}

static int driver_settings_check_mode(const struct fst_conf *conf, struct fst_error *error)
{
        struct coarse_offers_config coarse;
        struct fine_offers_config fine;
        struct task_parts parts;
        bool is_coarse = true;
        int r = conf_get_bool(conf, "spark.mesos.coarse", &is_coarse, error);
        if (r == 0)
                r = is_coarse ? coarse_offers_config_read(&coarse, conf, error)
                              : fine_offers_config_read(&fine, conf, error);
        if (r < 0)
                return r;
        mesos_constraints_deinit(is_coarse ? &coarse.constraints : &fine.constraints);
        r = task_parts_read(&parts, conf, is_coarse ? TASK_OF_EXECUTOR : TASK_OF_FINE_EXECUTOR,
                            driver_settings_no_environment, error);
        if (r == 0)
                task_parts_deinit(&parts);
        return r;
}

int driver_settings_check(const struct driver_command *c, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap all = STRMAP_INIT, settings = STRMAP_INIT;
        int r = 0;
        driver_settings_merge(c, &all);
        strmap_remove(&all, DRIVER_CORES); /* may be a fraction: driver_description_spec has checked it */
        for (struct strmap_entry *e = NULL; (e = strmap_next(&all, e));)
                if (!strstr(e->value, "${"))
                        strmap_set(&settings, e->key, e->value);
        const struct fst_conf conf = {.set = settings}; /* borrowed */
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&settings, e));)
                r = driver_settings_check_type(&conf, e->key, error);
        return r < 0 ? r : driver_settings_check_mode(&conf, error);
}
