/* Reads members of jansson trees by path. See json.h. */
#include "text/json.h"

#include <string.h>

json_t *json_at(const json_t *tree, const char *path)
{
        for (const char *dot; (dot = strchr(path, '.')); path = dot + 1)
                tree = json_object_getn(tree, path, (size_t)(dot - path));
        return json_object_get(tree, path);
}

const char *json_text_at(const json_t *tree, const char *path)
{
        return json_string_value(json_at(tree, path));
}

const char *json_text_or_empty(const json_t *tree, const char *path)
{
        const char *text = json_text_at(tree, path);
        return text ? text : "";
}

json_int_t json_int_at(const json_t *tree, const char *path)
{
        return json_integer_value(json_at(tree, path));
}

json_t *json_find(const json_t *list, const char *key, const char *value)
{
        size_t i;
        json_t *item;
        json_array_foreach(list, i, item) {
                const char *text = json_text_at(item, key);
                if (value && text && strcmp(text, value) == 0)
                        return item;
        }
        return NULL;
}
