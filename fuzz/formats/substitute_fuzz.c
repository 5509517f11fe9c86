/* The first line refers to the others, spark.a, spark.b and so on. The result is text of a bounded length. */
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/substitute.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size), *out = NULL;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        char key[] = "spark.a", *rest = text;
        conf_init(&conf);
        char *first = strsep(&rest, "\n");
        for (char *line; key[6] <= 'z' && (line = strsep(&rest, "\n")); key[6]++)
                conf_set(&conf, key, line);
        if (substitute(&conf, first, &out, &error) == 0 && strlen(out) > (1u << 20) + size)
                abort();
        conf_deinit(&conf);
        return 0;
}
