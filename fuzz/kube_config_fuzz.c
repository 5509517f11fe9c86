/* Any bytes are a kubeconfig file or an error that says something; how it is described gives no secret away. */
#include "base/error.h"
#include "base/mem.h"
#include "deploy/kubernetes/kube_config.h"

#include <stdlib.h>
#include <string.h>

/* Short ones may be part of any word. */
static void absent(const char *text, const char *secret)
{
        if (secret && strlen(secret) > 24 && strstr(text, secret))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const contexts[] = {NULL, "", "one"};
        for (size_t i = 0; i < ARRAY_SIZE(contexts); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct kube_config config = KUBE_CONFIG_INIT;
                int r = kube_config_parse(size ? (const char *)data : "", size, "/nowhere", contexts[i], &config,
                                          &error);
                if (r < 0 && !*error_message(&error))
                        abort();
                if (r == 0) {
                        _cleanup_free_ char *text = kube_config_describe(&config);
                        absent(text, config.token);
                        absent(text, config.password);
                        absent(text, config.key_data);
                }
                kube_config_deinit(&config);
        }
        return 0;
}
