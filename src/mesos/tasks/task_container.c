/* See task_container.h. Follows Spark's MesosSchedulerBackendUtil. */
#include "mesos/tasks/task_container.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "conf/conf_list.h"
#include "mesos/tasks/task_labels.h"
#include "mesos/tasks/task_parts.h"

#include <firesteel/text.h>

#define LOG "MesosSchedulerBackendUtil"
#define DOCKER "spark.mesos.executor.docker."

typedef Firesteel__Mesos__ContainerInfo__DockerInfo docker_info;
typedef Firesteel__Mesos__ContainerInfo__DockerInfo__PortMapping docker_port;

/*
 * Splits @text at @separator into at most @max parts in @arena, without empty ones at the end, as Java does. Returns
 * their number, or 0 if there are more.
 */
static size_t spec_split(struct arena *arena, const char *text, char separator, char **parts, size_t max)
{
        size_t n = 0;
        for (char *at = task_text(arena, text); at;) {
                char *next = strchr(at, separator);
                if (n == max)
                        return 0;
                if (next)
                        *next++ = 0;
                parts[n++] = at;
                at = next;
        }
        while (n > 0 && !*parts[n - 1])
                n--;
        return n;
}

/* ---------------------------------------------------------------------------------------------------------- volumes */

/* "[host:]container[:ro|:rw]", or NULL. */
static Firesteel__Mesos__Volume *volume_parse(struct arena *arena, const char *spec)
{
        char *parts[3];
        size_t n = spec_split(arena, spec, ':', parts, 3);
        Firesteel__Mesos__Volume *v =
                mesos_message_new(arena, Firesteel__Mesos__Volume, firesteel__mesos__volume__init);
        const bool has_mode = n > 1 && (strcmp(parts[n - 1], "ro") == 0 || strcmp(parts[n - 1], "rw") == 0);
        v->mode = has_mode && parts[n - 1][1] == 'o' ? FIRESTEEL__MESOS__VOLUME__MODE__RO
                                                     : FIRESTEEL__MESOS__VOLUME__MODE__RW;
        n -= has_mode;
        if (n != 1 && n != 2)
                return NULL;
        v->container_path = parts[n - 1];
        v->host_path = n == 2 ? parts[0] : NULL;
        return v;
}

static int container_read_volumes(struct arena *arena, const struct fst_conf *conf,
                                  Firesteel__Mesos__ContainerInfo *container, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list specs = {0};
        const int r = conf_list_read(conf, DOCKER "volumes", &specs, error);
        for (size_t i = 0; r == 0 && i < specs.len; i++) {
                Firesteel__Mesos__Volume *v = volume_parse(arena, specs.data[i]);
                if (v)
                        task_container_add_volumes(arena, container, &v, 1);
                else
                        log_warn(LOG,
                                 "Unable to parse volume specs: %s. Expected form: "
                                 "\"[host-dir:]container-dir[:rw|:ro](, ...)\"",
                                 specs.data[i]);
        }
        return r;
}

void task_container_add_volumes(struct arena *arena, Firesteel__Mesos__ContainerInfo *container,
                                Firesteel__Mesos__Volume *const *volumes, size_t n)
{
        const size_t old = container->n_volumes;
        Firesteel__Mesos__Volume **all = arena_alloc(arena, (old + n) * sizeof(Firesteel__Mesos__Volume *));
        for (size_t i = 0; i < old + n; i++)
                all[i] = i < old ? container->volumes[i] : volumes[i - old];
        container->volumes = all;
        container->n_volumes = old + n;
}

/* ----------------------------------------------------------------------------------------------------------- Docker */

static bool port_parse(const char *text, uint32_t *out)
{
        int64_t port;
        if (!fst_parse_i64(fst_bytes_of(text), &port) || port < 0 || port > 65535)
                return false;
        *out = (uint32_t)port;
        return true;
}

/* "host:container[:protocol]", or NULL. */
static docker_port *port_mapping_parse(struct arena *arena, const char *spec)
{
        char *parts[3];
        const size_t n = spec_split(arena, spec, ':', parts, 3);
        docker_port *p = mesos_message_new(arena, docker_port,
                                           firesteel__mesos__container_info__docker_info__port_mapping__init);
        if (n < 2 || !port_parse(parts[0], &p->host_port) || !port_parse(parts[1], &p->container_port))
                return NULL;
        p->protocol = n == 3 ? parts[2] : (char *)"tcp";
        return p;
}

static int docker_read_ports(struct arena *arena, const struct fst_conf *conf, docker_info *docker,
                             struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list specs = {0};
        const int r = conf_list_read(conf, DOCKER "portmaps", &specs, error);
        docker->port_mappings = arena_alloc(arena, specs.len * sizeof(docker_port *));
        for (size_t i = 0; r == 0 && i < specs.len; i++) {
                docker_port *p = port_mapping_parse(arena, specs.data[i]);
                if (p)
                        docker->port_mappings[docker->n_port_mappings++] = p;
                else
                        log_warn(LOG,
                                 "Unable to parse port mapping specs: %s. Expected form: "
                                 "\"host_port:container_port[:udp|:tcp](, ...)\"",
                                 specs.data[i]);
        }
        return r;
}

static Firesteel__Mesos__Parameter *parameter_new(struct arena *arena, const char *key, const char *value)
{
        Firesteel__Mesos__Parameter *p =
                mesos_message_new(arena, Firesteel__Mesos__Parameter, firesteel__mesos__parameter__init);
        p->key = task_text(arena, key);
        p->value = task_text(arena, value);
        return p;
}

static int docker_read_parameters(struct arena *arena, const struct fst_conf *conf, docker_info *docker,
                                  const char *network, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list specs = {0};
        const int r = conf_list_read(conf, DOCKER "parameters", &specs, error);
        docker->parameters = arena_alloc(arena, (specs.len + 1) * sizeof(Firesteel__Mesos__Parameter *));
        for (size_t i = 0; r == 0 && i < specs.len; i++) {
                char *equals = strchr(specs.data[i], '=');
                if (!equals) {
                        log_warn(LOG, "Unable to parse arbitrary parameters: %s. Expected form: \"key=value(, ...)\"",
                                 specs.data[i]);
                        continue;
                }
                *equals = 0;
                docker->parameters[docker->n_parameters++] = parameter_new(arena, specs.data[i], equals + 1);
        }
        if (network) {
                docker->has_network = true;
                docker->network = FIRESTEEL__MESOS__CONTAINER_INFO__DOCKER_INFO__NETWORK__USER;
                docker->parameters[docker->n_parameters++] = parameter_new(arena, "net", network);
        }
        return r;
}

static int container_read_docker(struct arena *arena, const struct fst_conf *conf, const char *image, bool force_pull,
                                 const char *network, Firesteel__Mesos__ContainerInfo *container,
                                 struct fst_error *error)
{
        docker_info *docker =
                mesos_message_new(arena, docker_info, firesteel__mesos__container_info__docker_info__init);
        docker->image = task_text(arena, image);
        docker->has_force_pull_image = true;
        docker->force_pull_image = force_pull;
        container->docker = docker;
        const int r = docker_read_ports(arena, conf, docker, error);
        return r == 0 ? docker_read_parameters(arena, conf, docker, network, error) : r;
}

/* An image that Mesos' own containerizer runs. */
static void container_set_image(struct arena *arena, const char *name, bool force_pull,
                                Firesteel__Mesos__ContainerInfo *container)
{
        Firesteel__Mesos__Image *image =
                mesos_message_new(arena, Firesteel__Mesos__Image, firesteel__mesos__image__init);
        image->type = FIRESTEEL__MESOS__IMAGE__TYPE__DOCKER;
        image->docker =
                mesos_message_new(arena, Firesteel__Mesos__Image__Docker, firesteel__mesos__image__docker__init);
        image->docker->name = task_text(arena, name);
        image->has_cached = true;
        image->cached = !force_pull;
        container->mesos = mesos_message_new(arena, Firesteel__Mesos__ContainerInfo__MesosInfo,
                                             firesteel__mesos__container_info__mesos_info__init);
        container->mesos->image = image;
}

/* -------------------------------------------------------------------------------------------------------- container */

static int container_read_image(struct arena *arena, const struct fst_conf *conf, const char *image,
                                const char *network, Firesteel__Mesos__ContainerInfo *container,
                                struct fst_error *error)
{
        _cleanup_free_ char *containerizer = NULL;
        bool force_pull = false;
        int r = conf_get_string(conf, "spark.mesos.containerizer", &containerizer, error);
        if (r == 0 && strcmp(containerizer, "docker") != 0 && strcmp(containerizer, "mesos") != 0)
                r = error_set(error, -EINVAL,
                              "The value of spark.mesos.containerizer should be one of docker, mesos, but was %s",
                              containerizer);
        if (r == 0 && conf_contains(conf, DOCKER "forcePullImage"))
                r = conf_get_bool(conf, DOCKER "forcePullImage", &force_pull, error);
        if (r < 0)
                return r;
        if (strcmp(containerizer, "docker") == 0) {
                container->type = FIRESTEEL__MESOS__CONTAINER_INFO__TYPE__DOCKER;
                r = container_read_docker(arena, conf, image, force_pull, network, container, error);
        } else {
                container_set_image(arena, image, force_pull, container);
        }
        return r == 0 ? container_read_volumes(arena, conf, container, error) : r;
}

static int container_read_network(struct arena *arena, const struct fst_conf *conf, const char *name,
                                  Firesteel__Mesos__ContainerInfo *container, struct fst_error *error)
{
        _cleanup_free_ char *labels = NULL;
        Firesteel__Mesos__NetworkInfo *network =
                mesos_message_new(arena, Firesteel__Mesos__NetworkInfo, firesteel__mesos__network_info__init);
        int r = conf_get_string(conf, "spark.mesos.network.labels", &labels, error);
        if (r == 0)
                r = task_labels_parse(arena, labels, &network->labels, error);
        if (r < 0)
                return error_wrap(error, r, "spark.mesos.network.labels");
        network->name = task_text(arena, name);
        container->network_infos = arena_alloc(arena, sizeof(Firesteel__Mesos__NetworkInfo *));
        container->network_infos[0] = network;
        container->n_network_infos = 1;
        return 0;
}

int task_container_read(struct arena *arena, const struct fst_conf *conf, Firesteel__Mesos__ContainerInfo **out,
                        struct fst_error *error)
{
        _cleanup_free_ char *image = NULL;
        _cleanup_free_ char *network = NULL;
        Firesteel__Mesos__ContainerInfo *container =
                mesos_message_new(arena, Firesteel__Mesos__ContainerInfo, firesteel__mesos__container_info__init);
        container->type = FIRESTEEL__MESOS__CONTAINER_INFO__TYPE__MESOS;
        int r = conf_get_string(conf, DOCKER "image", &image, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.mesos.network.name", &network, error);
        if (r == 0 && image)
                r = container_read_image(arena, conf, image, network, container, error);
        if (r == 0 && network)
                r = container_read_network(arena, conf, network, container, error);
        if (r == 0)
                *out = container;
        return r;
}
