/* firesteel operator crds: prints objects as YAML or JSON. */
#include "cmd/operator_objects.h"

#include "base/mem.h"
#include "operator/resources/crd.h"
#include "text/yaml_writer.h"

#include <stdio.h>

static int operator_objects_usage(const char *word, const char *problem, const char *argument)
{
        fprintf(stderr, "Error: %s %s; see firesteel operator --help for %s\n", problem, argument, word);
        return 2;
}

/* Prints the elements of @list as documents of YAML, or as one JSON List for kubectl. Returns the exit status. */
static int operator_print_objects(const json_t *list, bool as_json)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        json_t *object;
        size_t i;
        if (as_json) {
                json_t *whole = json_pack("{s:s,s:s,s:O}", "apiVersion", "v1", "kind", "List", "items", list);
                _cleanup_free_ char *text = json_dumps(whole, JSON_INDENT(2));
                buf_printf(&out, "%s\n", text ? text : "");
                json_decref(whole);
        } else {
                json_array_foreach((json_t *)list, i, object) {
                        buf_puts(&out, i > 0 ? "---\n" : "");
                        yaml_write(&out, object);
                }
        }
        return fputs(buf_text(&out), stdout) < 0 || fflush(stdout) != 0;
}

int operator_crds(int argc, char **argv)
{
        bool as_json = false;
        for (int i = 1; i < argc; i++) {
                if (strcmp(argv[i], "--output") != 0 || i + 1 == argc)
                        return operator_objects_usage(argv[0], "unknown or incomplete option", argv[i]);
                i++;
                as_json = strcmp(argv[i], "json") == 0;
                if (!as_json && strcmp(argv[i], "yaml") != 0)
                        return operator_objects_usage(argv[0], "--output needs yaml or json, not", argv[i]);
        }
        json_t *list = crd_list();
        int status = operator_print_objects(list, as_json);
        json_decref(list);
        return status;
}
