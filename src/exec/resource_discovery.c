/* See resource_discovery.h. */
#include "exec/resource_discovery.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "text/json.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define AMOUNT ".amount"
#define MAX_OUTPUT ((size_t)1 << 20) /* bytes of a script's output */

const Firesteel__Resource *resource_find(const struct executor_resources *resources, const char *name)
{
        for (size_t i = 0; i < resources->n; i++)
                if (strcmp(resources->list[i]->name, name) == 0)
                        return resources->list[i];
        return NULL;
}

int64_t resource_amount(const struct fst_conf *conf, const char *prefix, const char *name, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("%s%s" AMOUNT, prefix, name);
        const char *text = conf_get_raw(conf, key);
        char *end = NULL;
        if (!text)
                return 0;
        long value = strtol(text, &end, 10);
        if (end == text || *end || value < 0 || value > 64)
                return error_set(error, -EINVAL, "%s is '%s', but must be a whole number from 0 to 64", key, text);
        return value;
}

/* Runs a script and returns its output. A shell reads a script without "#!", as it does for Java's ProcessBuilder. */
static int run_script(const char *script, struct buf *out, struct fst_error *error)
{
        char block[4096];
        int to_us[2], status;
        if (access(script, X_OK))
                return error_set(error, -EINVAL, "Discovery script: %s doesn't exist, or may not be executed", script);
        if (pipe2(to_us, O_CLOEXEC))
                return error_errno(error, "making a pipe");
        pid_t pid = fork();
        if (pid == 0) {
                dup2(to_us[1], STDOUT_FILENO);
                execl(script, script, (char *)NULL);
                if (errno == ENOEXEC)
                        execl("/bin/sh", "sh", script, (char *)NULL);
                _exit(127);
        }
        close(to_us[1]);
        ssize_t n = 0;
        while (pid > 0 && out->len < MAX_OUTPUT && (n = read(to_us[0], block, sizeof(block))) > 0)
                buf_append(out, block, (size_t)n);
        close(to_us[0]);
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return error_errno(error, "running the resource discovery script %s", script);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return error_set(error, -EINVAL, "the resource discovery script %s ended with status %d", script,
                                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        return 0;
}

int resource_discovery_read(const char *script, const char *name, const struct buf *out, Firesteel__Resource **resource,
                            struct fst_error *error)
{
        static const char example[] = "{\"name\": \"gpu\", \"addresses\": [\"0\", \"1\"]}";
        json_error_t at;
        json_t *root = json_loadb(buf_text(out), out->len, 0, &at);
        const json_t *addresses = json_object_get(root, "addresses");
        const char *found = json_text_at(root, "name");
        int r = 0;
        for (size_t i = 0; i < json_array_size(addresses); i++)
                if (!json_is_string(json_array_get(addresses, i)))
                        found = NULL;
        if (!found || !json_is_array(addresses))
                r = error_set(error, -EINVAL,
                              "Error parsing JSON into ResourceInformation: the discovery script %s printed '%.200s', "
                              "expected is %s",
                              script, buf_text(out), example);
        else if (strcmp(found, name) != 0)
                r = error_set(error, -EINVAL,
                              "Error running the resource discovery script %s: script returned resource name %s and we "
                              "were expecting %s",
                              script, found, name);
        else
                *resource = executor_resource_new(name, addresses);
        json_decref(root);
        return r;
}

static int discover_one(const struct fst_conf *conf, const char *prefix, const char *name,
                        struct executor_resources *resources, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        _cleanup_free_ char *key = mem_printf("%s%s.discoveryScript", prefix, name);
        const char *script = conf_get_raw(conf, key);
        Firesteel__Resource *resource = NULL;
        if (!script || !*script)
                return error_set(error, -EINVAL, "no addresses are known for %s%s: set %s, or give a resources file",
                                 prefix, name, key);
        int r = run_script(script, &out, error);
        if (r == 0)
                r = resource_discovery_read(script, name, &out, &resource, error);
        if (r)
                return r;
        resources->list = mem_grow(resources->list, (resources->n + 1) * sizeof(*resources->list));
        resources->list[resources->n++] = resource;
        return 0;
}

static int check_amount(const struct executor_resources *resources, const char *name, int64_t amount,
                        struct fst_error *error)
{
        const Firesteel__Resource *r = resource_find(resources, name);
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        for (size_t i = 0; r && i < r->n_addresses; i++)
                buf_printf(&list, "%s%s", i ? "," : "", r->addresses[i]);
        if (r && (int64_t)r->n_addresses >= amount)
                return 0;
        return error_set(error, -EINVAL, "Resource: %s, with addresses: %s is less than what the user requested: %lld)",
                         name, buf_text(&list), (long long)amount);
}

int resource_discover(const struct fst_conf *conf, const char *prefix, struct executor_resources *resources,
                      struct fst_error *error)
{
        size_t length = strlen(prefix);
        int r = 0;
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&conf->set, e));) {
                size_t n = strlen(e->key);
                if (n <= length + strlen(AMOUNT) || strncmp(e->key, prefix, length) != 0 ||
                    strcmp(e->key + n - strlen(AMOUNT), AMOUNT) != 0)
                        continue;
                _cleanup_free_ char *name = mem_strndup(e->key + length, n - length - strlen(AMOUNT));
                int64_t amount = resource_amount(conf, prefix, name, error);
                if (amount < 0)
                        r = (int)amount;
                else if (amount > 0 && !resource_find(resources, name))
                        r = discover_one(conf, prefix, name, resources, error);
                if (r == 0 && amount > 0)
                        r = check_amount(resources, name, amount, error);
        }
        return r;
}
