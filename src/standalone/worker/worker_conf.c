/* Reads a worker's configuration, like WorkerArguments and Spark's Worker configuration. */
#include "standalone/worker/worker_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/units.h"
#include "standalone/wire/daemon_conf.h"
#include "store/disk_dirs.h"
#include "standalone/wire/master_addresses.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Values from the command line, NULL if not given. */
struct worker_options {
        const char *host, *port, *web_ui_port, *cores, *memory, *work_dir, *properties_file, *masters;
};

static int worker_conf_read_words(struct worker_options *w, int argc, char *const *argv, struct fst_error *error)
{
        const struct daemon_option options[] = {
                {"--host", "-h", &w->host},         {"--ip", "-i", &w->host},
                {"--port", "-p", &w->port},         {"--webui-port", NULL, &w->web_ui_port},
                {"--cores", "-c", &w->cores},       {"--memory", "-m", &w->memory},
                {"--work-dir", "-d", &w->work_dir}, {"--properties-file", NULL, &w->properties_file},
        };
        int r = daemon_words_read(options, ARRAY_SIZE(options), argc, argv, &w->masters, "master",
                                  "spark://host:port,host:port", error);
        if (r == 0 && !w->masters)
                return error_set(error, WORKER_CONF_E_USAGE, "no master is given: write spark://host:port");
        return r;
}

/* Reads a number from the command line, where an invalid one is a usage error, or from the environment. The error
 * names the option or variable. *@out stays unchanged if neither is set.
 */
static int worker_conf_read_number(const char *option, const char *word, const char *variable, long least, long most,
                                   int *out, struct fst_error *error)
{
        const char *text = word ? word : daemon_variable(variable);
        char *end;
        if (!text)
                return 0;
        errno = 0;
        long value = strtol(text, &end, 10);
        if (end == text || *end || errno || value < least || value > most)
                return error_set(error, word ? WORKER_CONF_E_USAGE : -EINVAL,
                                 "%s: \"%s\" is not a number from %ld to %ld", word ? option : variable, text, least,
                                 most);
        *out = (int)value;
        return 0;
}

/* Returns the number of processors that this process may use. */
static int worker_conf_processors(void)
{
        cpu_set_t set;
        return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Returns the machine's memory less a gigabyte for the system, at least a gigabyte. */
static int64_t default_memory(void)
{
        struct sysinfo info;
        int64_t total = 2048;
        if (sysinfo(&info) == 0)
                total = (int64_t)(((uint64_t)info.totalram * info.mem_unit) >> 20);
        else
                printf("Failed to get total physical memory. Using %d MB\n", (int)total);
        return MAX(total - 1024, (int64_t)1024);
}

static int worker_conf_read_memory(struct worker_conf *c, const char *word, struct fst_error *error)
{
        const char *text = word ? word : daemon_variable("SPARK_WORKER_MEMORY");
        int64_t bytes = 0;
        c->memory = default_memory();
        if (!text)
                return 0;
        /* As in Spark, a number without a unit means bytes. */
        int r = units_parse_bytes(text, UNIT_B, UNIT_B, &bytes, error);
        if (r)
                return error_wrap(error, word ? WORKER_CONF_E_USAGE : r, word ? "--memory" : "SPARK_WORKER_MEMORY");
        c->memory = bytes >> 20;
        if (c->memory <= 0)
                return error_set(error, -EINVAL,
                                 "Memory is below 1MB, or missing a M/G at the end of the memory specification? "
                                 "%s is %s",
                                 word ? "--memory" : "SPARK_WORKER_MEMORY", text);
        return 0;
}

/* SPARK_HOME/work as an absolute path. */
static void read_work_dir(struct worker_conf *c, const char *word)
{
        const char *home = daemon_variable("SPARK_HOME"), *given = word ? word : daemon_variable("SPARK_WORKER_DIR");
        _cleanup_free_ char *path = given ? mem_strdup(given) : mem_printf("%s/work", home ? home : ".");
        _cleanup_free_ char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
        const char *rest = strncmp(path, "./", 2) == 0 ? path + 2 : path;
        c->work_dir = here ? mem_printf("%s/%s", here, rest) : mem_strdup(path);
        size_t n = strlen(c->work_dir);
        while (n > 1 && c->work_dir[n - 1] == '/')
                c->work_dir[--n] = '\0';
}

/* ------------------------------------------------------------------------------------------------------ keys */

int worker_conf_signal(const char *key, const char *name, int *out, struct fst_error *error)
{
        const char *bare = strncasecmp(name, "SIG", 3) == 0 ? name + 3 : name;
        for (int i = 1; i < SIGRTMIN; i++)
                if (sigabbrev_np(i) && strcasecmp(sigabbrev_np(i), bare) == 0 && i != SIGKILL && i != SIGSTOP) {
                        *out = i;
                        return 0;
                }
        return error_set(error, -EINVAL, "%s: \"%s\" is not a signal that can be handled (PWR, TERM, USR2, …)", key,
                         name);
}

static int worker_conf_read_numbers(struct worker_conf *c, struct fst_error *error)
{
        int64_t timeout = 0, interval = 0, after = 0, quick = 0, most = 0, executors = 0, drivers = 0, port = 0;
        const struct {
                const char *key;
                int64_t least, most, *value;
        } numbers[] = {
                {"spark.worker.timeout", 1, INT32_MAX, &timeout},
                {"spark.worker.cleanup.interval", 1, INT32_MAX, &interval},
                {"spark.worker.cleanup.appDataTtl", 0, INT32_MAX, &after},
                {"spark.worker.initialRegistrationRetries", 1, INT32_MAX, &quick},
                {"spark.worker.maxRegistrationRetries", 1, INT32_MAX, &most},
                {"spark.worker.ui.retainedExecutors", 0, INT32_MAX, &executors},
                {"spark.worker.ui.retainedDrivers", 0, INT32_MAX, &drivers},
                {"spark.worker.ui.port", 0, 65535, &port},
        };
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                if (!conf_get_value(&c->conf, numbers[i].key))
                        continue;
                int r = conf_get_int(&c->conf, numbers[i].key, numbers[i].value, error);
                if (r)
                        return r;
                if (*numbers[i].value < numbers[i].least || *numbers[i].value > numbers[i].most)
                        return error_set(error, -EINVAL, "%s is %lld: give a number from %lld to %lld", numbers[i].key,
                                         (long long)*numbers[i].value, (long long)numbers[i].least,
                                         (long long)numbers[i].most);
        }
        if (conf_contains(&c->conf, "spark.worker.ui.port"))
                c->web_ui_port = (int)port;
        c->heartbeat = timeout * 1000 / 4;
        c->cleanup_interval = interval * 1000;
        c->cleanup_after = after * 1000;
        c->retained_executors = (int)executors;
        c->retained_drivers = (int)drivers;
        c->registration.quick = (int)quick;
        c->registration.most = (int)most;
        return 0;
}

static int worker_conf_read_keys(struct worker_conf *c, struct fst_error *error)
{
        _cleanup_free_ char *local = NULL, *signal = NULL;
        uint16_t random = 0;
        int r;
        if ((r = worker_conf_read_numbers(c, error)) ||
            (r = conf_get_bool(&c->conf, "spark.worker.cleanup.enabled", &c->cleanup, error)) ||
            (r = conf_get_bool(&c->conf, "spark.decommission.enabled", &c->decommission, error)) ||
            (r = conf_get_bool(&c->conf, "spark.worker.preferConfiguredMasterAddress", &c->prefer_configured_master,
                               error)) ||
            (r = conf_get_ms(&c->conf, "spark.worker.driverTerminateTimeout", &c->driver_timeout, error)) ||
            (r = conf_get_string(&c->conf, "spark.worker.idPattern", &c->id_pattern, error)) ||
            (r = log_rolling_read(&c->conf, &c->rolling, error)) ||
            (r = conf_get_string(&c->conf, "spark.firesteel.worker.cgroup", &c->cgroup, error)) ||
            (r = conf_get_string(&c->conf, "spark.local.dir", &local, error)) ||
            (r = conf_get_string(&c->conf, "spark.worker.decommission.signal", &signal, error)) ||
            (r = worker_conf_signal("spark.worker.decommission.signal", signal, &c->decommission_signal, error)))
                return r;
        c->local_dirs = disk_dirs_configured(local);
        c->registration.masters = (int)c->masters.len;
        c->registration.short_pause = 10 * NS_PER_SECOND;
        c->registration.long_pause = 60 * NS_PER_SECOND;
        if (getrandom(&random, sizeof(random), 0) < 0)
                random = (uint16_t)getpid();
        c->registration.stretch = 0.5 + random / 65536.0;
        return 0;
}

/* Checks before the start, because only one shuffle service can run on a host. */
static int check_instances(const struct worker_conf *c, struct fst_error *error)
{
        const char *instances = daemon_variable("SPARK_WORKER_INSTANCES");
        bool service = false;
        int r = conf_get_bool(&c->conf, "spark.shuffle.service.enabled", &service, error);
        if (r == 0 && service && instances && atoi(instances) > 1)
                return error_set(error, -EINVAL,
                                 "Starting multiple workers on one host is failed because we may launch no more than "
                                 "one external shuffle service on each host, please set spark.shuffle.service.enabled "
                                 "to false or set SPARK_WORKER_INSTANCES to 1 to resolve the conflict.");
        return r;
}

int worker_conf_read(struct worker_conf *c, int argc, char *const *argv, struct fst_error *error)
{
        struct worker_options words = {0};
        *c = (struct worker_conf){.web_ui_port = 8081};
        conf_init(&c->conf);
        int r = worker_conf_read_words(&words, argc, argv, error);
        if (r || (r = daemon_environment(error)))
                return r;
        c->cores = worker_conf_processors();
        if ((r = worker_conf_read_number("--cores", words.cores, "SPARK_WORKER_CORES", 1, 65536, &c->cores, error)) ||
            (r = worker_conf_read_number("--port", words.port, "SPARK_WORKER_PORT", 0, 65535, &c->port, error)) ||
            (r = worker_conf_read_number("--webui-port", words.web_ui_port, "SPARK_WORKER_WEBUI_PORT", 0, 65535,
                                         &c->web_ui_port, error)) ||
            (r = worker_conf_read_memory(c, words.memory, error)) ||
            (r = daemon_host(words.host, &c->host, &c->public_host, error)) ||
            (r = master_addresses_parse(words.masters, &c->masters, error)))
                return r;
        read_work_dir(c, words.work_dir);
        if ((r = daemon_conf_load(&c->conf, "SPARK_WORKER_OPTS", words.properties_file, error)) ||
            (r = worker_conf_read_keys(c, error)))
                return r;
        return check_instances(c, error);
}

void worker_conf_deinit(struct worker_conf *c)
{
        conf_deinit(&c->conf);
        string_list_deinit(&c->masters);
        free(c->host);
        free(c->public_host);
        free(c->work_dir);
        free(c->id_pattern);
        free(c->local_dirs);
        free(c->cgroup);
}
