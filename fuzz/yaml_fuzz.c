/* Any bytes are YAML or an error. A parsed document can be written and read again unchanged. */
#include "base/error.h"
#include "base/mem.h"
#include "text/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        json_t *tree = NULL, *again = NULL;
        int r = yaml_parse_all((const char *)data, size, &tree, &error);
        if (r == -ENOENT || r == -ELIBBAD)
                abort();
        if (r < 0)
                return 0;
        _cleanup_free_ char *text = yaml_write(tree);
        r = yaml_parse(text, strlen(text), &again, &error);
        /* The array of documents adds one level and one value, and short flow style may become many lines. */
        if (r < 0 && r != -EFBIG)
                abort();
        if (r == 0 && !json_equal(tree, again))
                abort();
        json_decref(tree);
        json_decref(again);
        return 0;
}
