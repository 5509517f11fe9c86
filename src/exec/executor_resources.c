/* See executor_resources.h. */
#include "exec/executor_resources.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "text/json.h"

#include <fcntl.h>
#include <stdbool.h>
#include <unistd.h>

#include <jansson.h>

Firesteel__Resource *executor_resource_new(const char *name, const struct json_t *addresses)
{
        Firesteel__Resource *r = mem_alloc(sizeof(*r));
        firesteel__resource__init(r);
        r->name = mem_strdup(name);
        r->n_addresses = json_array_size(addresses);
        r->addresses = new_array(char *, r->n_addresses);
        for (size_t i = 0; i < r->n_addresses; i++)
                r->addresses[i] = mem_strdup(json_string_value(json_array_get(addresses, i)));
        return r;
}

static bool are_all_strings(const json_t *array)
{
        for (size_t i = 0; i < json_array_size(array); i++)
                if (!json_is_string(json_array_get(array, i)))
                        return false;
        return json_is_array(array);
}

static int executor_resources_read_all(const json_t *root, const char *path, struct executor_resources *out,
                                       struct fst_error *error)
{
        if (!json_is_array(root))
                return error_set(error, -EINVAL, "resources file %s is not a JSON array", path);
        out->list = new_array(Firesteel__Resource *, json_array_size(root));
        for (size_t i = 0; i < json_array_size(root); i++) {
                const json_t *one = json_array_get(root, i), *addresses = json_object_get(one, "addresses");
                const char *name = json_text_at(one, "id.resourceName");
                if (!name || !are_all_strings(addresses))
                        return error_set(error, -EINVAL,
                                         "resources file %s: entry %zu needs \"id\": {\"resourceName\": …} and "
                                         "\"addresses\": an array of strings",
                                         path, i);
                out->list[out->n++] = executor_resource_new(name, addresses);
        }
        return 0;
}

int executor_resources_read(const char *path, struct executor_resources *out, struct fst_error *error)
{
        json_error_t at;
        *out = (struct executor_resources){0};
        if (!path)
                return 0;
        json_t *root = json_load_file(path, 0, &at);
        if (!root)
                return error_set(error, -EINVAL, "resources file %s, line %d: %s", path, at.line, at.text);
        int r = executor_resources_read_all(root, path, out, error);
        json_decref(root);
        if (r)
                executor_resources_deinit(out);
        return r;
}

int executor_resources_write(const struct executor_resources *resources, const char *component, const char *path,
                             struct fst_error *error)
{
        json_t *root = json_array();
        for (size_t i = 0; i < resources->n; i++) {
                const Firesteel__Resource *r = resources->list[i];
                json_t *addresses = json_array();
                for (size_t a = 0; a < r->n_addresses; a++)
                        json_array_append_new(addresses, json_string(r->addresses[a]));
                json_array_append_new(root, json_pack("{s:{s:s,s:s},s:o}", "id", "componentName", component,
                                                      "resourceName", r->name, "addresses", addresses));
        }
        char *text = json_dumps(root, JSON_COMPACT);
        json_decref(root);
        if (!text)
                return error_set(error, -EINVAL, "the resources for %s cannot be written: a name is not UTF-8", path);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        int r = fd < 0 ? -errno : write_all(fd, text, strlen(text));
        if (fd >= 0 && close(fd) < 0 && r == 0)
                r = -errno;
        free(text);
        return r ? error_set(error, r, "writing %s: %s", path, strerror(-r)) : 0;
}

void executor_resources_deinit(struct executor_resources *resources)
{
        for (size_t i = 0; i < resources->n; i++) {
                Firesteel__Resource *r = resources->list[i];
                for (size_t a = 0; a < r->n_addresses; a++)
                        free(r->addresses[a]);
                free(r->addresses);
                free(r->name);
                free(r);
        }
        free(resources->list);
        *resources = (struct executor_resources){0};
}
