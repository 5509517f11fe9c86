/* See driver_environment.h. */
#include "driver/driver_environment.h"

#include "base/mem.h"
#include "driver/context.h"
#include "events/events.h"
#include "exec/app/app_compiler.h"
#include "io/fs/hadoop_conf.h"
#include "metrics/metrics_conf.h"

#include <sys/utsname.h>
#include <unistd.h>

#define ADDED_BY_USER "Added By User"

static void driver_environment_read_system(struct strmap *system, const struct fst_context *sc)
{
        struct utsname u;
        const char *home = getenv("HOME");
        _cleanup_free_ char *here = getcwd(NULL, 0);
        if (uname(&u) == 0) {
                strmap_set(system, "os.name", u.sysname);
                strmap_set(system, "os.version", u.release);
                strmap_set(system, "os.arch", strcmp(u.machine, "x86_64") == 0 ? "amd64" : u.machine); /* as Java */
        }
        strmap_set(system, "user.name", sc->user);
        strmap_set(system, "user.home", home ? home : "");
        strmap_set(system, "user.dir", here ? here : "");
        strmap_set(system, "file.separator", "/");
        strmap_set(system, "path.separator", ":");
        strmap_set(system, "line.separator", "\n");
}

/* Adds the files of the comma-separated list at @key. */
static void driver_environment_add_files(struct strmap *classpath, const struct fst_context *sc, const char *key)
{
        const char *list = conf_get_value(sc->conf, key);
        _cleanup_free_ char *copy = mem_strdup(list ? list : "");
        for (char *rest, *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest))
                strmap_set(classpath, conf_trim(one), ADDED_BY_USER);
}

static void driver_environment_read_hadoop(struct strmap *hadoop, const struct fst_context *sc)
{
        _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf = {0};
        hadoop_conf_init(&conf, conf_environment);
        if (hadoop_conf_load(&conf, &sc->conf->set, NULL) == 0)
                strmap_merge(hadoop, &conf.values);
}

void driver_environment_init(struct driver_environment *self, const struct fst_context *sc)
{
        static const char *const lists[] = {"spark.jars", "spark.files", "spark.archives"};
        const char *home = app_compiler_home();
        *self = (struct driver_environment){0};
        strmap_set(&self->runtime, "Java Version", "none: Firesteel " FIRESTEEL_VERSION " runs without a JVM");
        strmap_set(&self->runtime, "Java Home", home ? home : "");
        strmap_set(&self->runtime, "Scala Version", "none");
        strmap_merge(&self->spark, &sc->conf->set);
        strmap_set_if_missing(&self->spark, "spark.scheduler.mode", "FIFO");
        driver_environment_read_hadoop(&self->hadoop, sc);
        driver_environment_read_system(&self->system, sc);
        metrics_conf_read_lines(&self->metrics, sc->conf, getenv("SPARK_CONF_DIR"));
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
                driver_environment_add_files(&self->classpath, sc, lists[i]);
}

void driver_environment_deinit(struct driver_environment *self)
{
        strmap_deinit(&self->runtime);
        strmap_deinit(&self->spark);
        strmap_deinit(&self->hadoop);
        strmap_deinit(&self->system);
        strmap_deinit(&self->metrics);
        strmap_deinit(&self->classpath);
}

void driver_environment_post(const struct driver_environment *self, const struct fst_context *sc)
{
        listener_bus_post_environment_update(sc->bus,
                                             &(struct environment_update){.runtime = &self->runtime,
                                                                          .spark_properties = &self->spark,
                                                                          .hadoop_properties = &self->hadoop,
                                                                          .system_properties = &self->system,
                                                                          .metrics_properties = &self->metrics,
                                                                          .classpath_entries = &self->classpath});
}
