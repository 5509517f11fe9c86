/*
 * Makes pods for tests/spark/check_pods. Reads one request per line and writes one reply per line, both JSON objects
 * (tests/spark/kubernetes/lines.md). The only argument is the directory of the world.
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "submit/kubernetes/client_arguments.h"
#include "kubernetes/pods/conf_files.h"
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/driver/driver_objects.h"
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/api/kube_names.h"
#include "io/fs/uri.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define UUID "01234567-89ab-4def-8123-456789abcdef"
#define SECRET "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const char *world;
static struct strmap environment;

static const char *variable(const char *name)
{
        return strmap_get(&environment, name);
}

static const char *text_of(const json_t *object, const char *name)
{
        return json_string_value(json_object_get(object, name));
}

/* The same with the world's name in the place of {w}. */
static char *in_world(const char *text)
{
        return kube_replace(text, "{w}", world);
}

static void read_map(const json_t *object, struct strmap *out)
{
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)object, key, value) {
                _cleanup_free_ char *name = in_world(key);
                _cleanup_free_ char *text = in_world(json_string_value(value));
                strmap_set(out, name, text);
        }
}

static unsigned digit(char c)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *at = c ? strchr(digits, c) : NULL;
        return at ? (unsigned)(at - digits) : 0;
}

static void put_decoded(struct buf *out, const char *text)
{
        for (; strlen(text) >= 4; text += 4) {
                unsigned three = digit(text[0]) << 18 | digit(text[1]) << 12 | digit(text[2]) << 6 | digit(text[3]);
                for (int k = 0; k < 3 && text[k + 1] != '='; k++)
                        buf_putc(out, (char)(three >> (16 - 8 * k)));
        }
}

static void write_file(const char *name, const json_t *value)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", world, name);
        _cleanup_free_ char *folder = mem_strdup(path);
        _cleanup_(buf_deinit) struct buf content = BUF_INIT;
        if (json_is_true(json_object_get(value, "directory"))) {
                make_dirs(path, 0755);
                return;
        }
        *strrchr(folder, '/') = '\0';
        make_dirs(folder, 0755);
        if (json_is_string(value)) {
                _cleanup_free_ char *text = in_world(json_string_value(value));
                buf_puts(&content, text);
        } else {
                put_decoded(&content, text_of(value, "base64"));
        }
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0 || write_all(fd, buf_text(&content), content.len) < 0)
                perror(path);
        close(fd);
}

static void each_file(const json_t *files, bool write)
{
        const char *name;
        json_t *value;
        json_object_foreach((json_t *)files, name, value) {
                _cleanup_free_ char *path = mem_printf("%s/%s", world, name);
                if (write)
                        write_file(name, value);
                else
                        remove_tree(path);
        }
}

/* Nothing is sent, but errors of sending are reported. */
static int upload(void *owner, const char *uri, const char *target, struct fst_error *error)
{
        _cleanup_free_ char *path = uri_local_path(uri);
        (void)owner;
        (void)target;
        return path && access(path, R_OK) == 0 ? 0 : error_errno(error, "%s", path ? path : uri);
}

static void put_properties(json_t *answer, const struct strmap *properties)
{
        json_t *all = json_object();
        kube_put_all(all, properties);
        json_object_set_new(answer, "properties", all);
}

static int answer_driver(const struct kube_conf *c, json_t *answer, struct fst_error *error)
{
        _cleanup_(driver_spec_deinit) struct driver_pod_spec spec = {0};
        json_t *pod = NULL, *map = NULL;
        int r = driver_spec_build(c, &spec, error);
        if (r == 0)
                r = driver_spec_finish(c, &spec, &pod, &map, error);
        if (r < 0)
                return r;
        json_decref(pod);
        json_object_set(answer, "pod", spec.pod.pod);
        json_object_set(answer, "container", spec.pod.container);
        json_object_set(answer, "pre", spec.pre_resources);
        json_object_set(answer, "resources", spec.resources);
        put_properties(answer, &spec.properties);
        json_object_set_new(answer, "configMap", map);
        return 0;
}

static int answer_executor(const struct kube_conf *c, json_t *answer, struct fst_error *error)
{
        _cleanup_(executor_spec_deinit) struct executor_pod_spec spec = {0};
        json_t *map = NULL;
        int r = executor_spec_build(c, &spec, error);
        if (r == 0)
                r = executor_config_map(c, &map, error);
        if (r < 0)
                return r;
        json_object_set(answer, "pod", spec.pod.pod);
        json_object_set(answer, "container", spec.pod.container);
        json_object_set(answer, "resources", spec.resources);
        if (map)
                json_object_set_new(answer, "configMap", map);
        return 0;
}

static int answer_submit(const struct kube_conf *c, json_t *answer, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        json_t *objects = NULL;
        int r = conf_get_raw(c->conf, "spark.master") ? kube_driver_pod_name(c, &name, error)
                                                      : error_set(error, -EINVAL, "spark.master");
        if (r < 0)
                return r;
        _cleanup_free_ char *uid = mem_printf("uid-of-pod-%s", name);
        r = driver_objects_sent(c, uid, &objects, error);
        if (r == 0)
                json_object_set_new(answer, "objects", objects);
        return r;
}

static int read_profile(const json_t *profile, struct kube_profile *out, struct kube_amount *amounts)
{
        const char *name;
        json_t *amount;
        *out = (struct kube_profile){.id = (int)json_integer_value(json_object_get(profile, "id")), .amounts = amounts};
        json_object_foreach(json_object_get(profile, "executor"), name, amount) {
                const char *vendor = text_of(amount, "vendor");
                amounts[out->n++] = (struct kube_amount){name, json_integer_value(json_object_get(amount, "amount")),
                                                         vendor ? vendor : ""};
        }
        return 0;
}

/* The secret that the driver generates with a local or k8s master. Other masters must have one. */
static int find_secret(const struct fst_conf *conf, const char **secret, struct fst_error *error)
{
        const char *on = conf_get_raw(conf, "spark.authenticate"), *master = conf_get_raw(conf, "spark.master");
        bool makes = !master || strncmp(master, "k8s", 3) == 0 || strcmp(master, "local") == 0;
        if (!on || strcasecmp(on, "true") != 0)
                return 0;
        *secret = makes ? SECRET : conf_get_raw(conf, "spark.authenticate.secret");
        return *secret ? 0
                       : error_set(error, -EINVAL,
                                   "requirement failed: A secret key must be specified via the "
                                   "spark.authenticate.secret config.");
}

/* The words of the application as SparkSubmit hands them to the client. */
static void read_words(const json_t *line, struct string_list *words)
{
        const json_t *given = json_object_get(line, "words"), *resource = json_object_get(line, "resource");
        const char *type = text_of(resource, "type"), *path = text_of(resource, "path");
        json_t *word;
        size_t i;
        json_array_foreach((json_t *)given, i, word)
                string_list_take(words, in_world(json_string_value(word)));
        if (given)
                return;
        if (path) {
                string_list_add(words, strcmp(type, "python") == 0 ? "--primary-py-file"
                                     : strcmp(type, "r") == 0    ? "--primary-r-file"
                                                                 : "--primary-java-resource");
                string_list_take(words, in_world(path));
        }
        if (text_of(line, "mainClass")) {
                string_list_add(words, "--main-class");
                string_list_take(words, in_world(text_of(line, "mainClass")));
        }
        json_array_foreach(json_object_get(line, "args"), i, word) {
                string_list_add(words, "--arg");
                string_list_take(words, in_world(json_string_value(word)));
        }
        if (text_of(line, "proxyUser")) {
                string_list_add(words, "--proxy-user");
                string_list_take(words, in_world(text_of(line, "proxyUser")));
        }
}

static void put_arguments(const struct client_arguments *a, json_t *answer)
{
        static const char *const types[] = {[KUBE_JAVA] = "java", [KUBE_PYTHON] = "python", [KUBE_R] = "r"};
        json_t *arguments = json_array();
        for (size_t i = 0; i < a->n_arguments; i++)
                json_array_append_new(arguments, kube_text(a->arguments[i]));
        json_object_set_new(answer, "resource",
                            json_pack("{s:s,s:s?}", "type", types[a->language], "path", a->resource));
        json_object_set_new(answer, "mainClass", json_string(a->main_class));
        json_object_set_new(answer, "args", arguments);
        json_object_set_new(answer, "proxyUser", json_pack("s?", a->proxy_user));
}

static int answer_pod(const json_t *line, const struct fst_conf *conf, const char *kind, json_t *answer,
                      struct fst_error *error)
{
        struct kube_amount amounts[32];
        struct kube_profile profile;
        _cleanup_(string_list_deinit) struct string_list words = {0};
        _cleanup_(client_arguments_deinit) struct client_arguments arguments = {0};
        const json_t *driver = json_object_get(line, "driverPod");
        json_t *driver_pod = json_is_object(driver)
                                     ? json_pack("{s:s,s:s,s:O}", "apiVersion", "v1", "kind", "Pod", "metadata", driver)
                                     : NULL;
        bool executor = strcmp(kind, "executor") == 0;
        struct kube_conf c = {
                .role = executor ? KUBE_EXECUTOR : KUBE_DRIVER,
                .conf = conf,
                .env = variable,
                .app_id = text_of(line, "appId"),
                .unique = text_of(line, "unique"),
                .uuid = UUID,
                .user = variable("SPARK_USER"),
                .files = {.upload = upload},
                .executor_id = text_of(line, "executorId"),
                .driver_pod = driver_pod,
        };
        int r = executor ? find_secret(conf, &c.secret, error) : 0;
        if (json_is_object(json_object_get(line, "profile"))) {
                read_profile(json_object_get(line, "profile"), &profile, amounts);
                c.profile = &profile;
        }
        read_words(line, &words);
        if (r == 0 && !executor)
                r = client_arguments_parse((const char *const *)string_list_argv(&words), words.len, &arguments, error);
        if (r == 0)
                client_arguments_put(&arguments, &c);
        if (r == 0)
                r = kube_conf_complete(&c, error);
        if (r == 0)
                r = executor                      ? answer_executor(&c, answer, error)
                    : strcmp(kind, "driver") == 0 ? answer_driver(&c, answer, error)
                                                  : answer_submit(&c, answer, error);
        kube_conf_deinit(&c);
        json_decref(driver_pod);
        return r;
}

static int answer_arguments(const json_t *line, json_t *answer, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list words = {0};
        _cleanup_(client_arguments_deinit) struct client_arguments arguments = {0};
        read_words(line, &words);
        int r = client_arguments_parse((const char *const *)string_list_argv(&words), words.len, &arguments, error);
        if (r == 0)
                put_arguments(&arguments, answer);
        return r;
}

static void answer_line(const json_t *line)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *kind = text_of(line, "kind");
        json_t *answer = json_object();
        struct fst_conf conf;
        conf_init(&conf);
        environment = STRMAP_INIT;
        read_map(json_object_get(line, "conf"), &conf.set);
        read_map(json_object_get(line, "environment"), &environment);
        each_file(json_object_get(line, "files"), true);
        int r = strcmp(kind, "arguments") == 0 ? answer_arguments(line, answer, &error)
                                               : answer_pod(line, &conf, kind, answer, &error);
        each_file(json_object_get(line, "files"), false);
        if (r < 0) {
                json_object_clear(answer);
                json_object_set_new(answer, "error", kube_text(error_message(&error)));
        }
        json_object_set(answer, "id", json_object_get(line, "id"));
        char *text = json_dumps(answer, JSON_COMPACT);
        puts(text);
        fflush(stdout);
        free(text);
        json_decref(answer);
        strmap_deinit(&environment);
        conf_deinit(&conf);
}

int main(int argc, char **argv)
{
        char *line = NULL;
        size_t size = 0;
        json_error_t at;
        if (argc != 2)
                return 2;
        world = argv[1];
        while (getline(&line, &size, stdin) > 0) {
                json_t *object = json_loads(line, 0, &at);
                if (!object) {
                        fprintf(stderr, "%s\n", at.text);
                        return 1;
                }
                answer_line(object);
                json_decref(object);
        }
        free(line);
        return 0;
}
