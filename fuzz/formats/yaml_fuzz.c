/* Any bytes are YAML or an error. */
#include "base/error.h"
#include "base/mem.h"
#include "text/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        json_t *tree = NULL;
        int r = yaml_parse_all((const char *)data, size, &tree, &error);
        if (r == -ENOENT || r == -ELIBBAD)
                abort();
        if (r < 0)
                return 0;
        json_decref(tree);
        return 0;
}
