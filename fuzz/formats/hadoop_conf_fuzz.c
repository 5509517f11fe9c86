/* Any text is a configuration or an error with a message, and every value can be read. */
#include "io/fs/hadoop_conf.h"

#include "base/error.h"
#include "base/mem.h"

static const char *get_test_env(const char *name)
{
        return strcmp(name, "X") == 0 ? "${env.X}" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf;
        hadoop_conf_init(&conf, get_test_env);
        if (hadoop_conf_parse(&conf, (const char *)data, size, "fuzz.xml", &error) < 0 && !error.message)
                abort();
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf.values, e));) {
                _cleanup_free_ char *value = hadoop_conf_get(&conf, e->key);
                if (!value)
                        abort();
                hadoop_conf_flag(&conf, e->key, false);
        }
        return 0;
}
