/* Any bytes are a kubeconfig file or an error that says something; how it is described gives no secret away. */
#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/api/kube_config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool contains(const char *text, const char *part)
{
        return text && strstr(text, part);
}

/* Short ones may be part of any word, and a file may say one as its server, too. */
static void absent(const struct kube_config *config, const char *secret)
{
        _cleanup_free_ char *text = kube_config_describe(config);
        if (secret && strlen(secret) > 24 && contains(text, secret) && !contains(config->server, secret) &&
            !contains(config->context, secret))
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
                /* Without the module for YAML nothing is tried. */
                if (r == -ENOENT || r == -ELIBBAD || (r < 0 && !*error_message(&error)))
                        abort();
                if (r == 0) {
                        absent(&config, config.token);
                        absent(&config, config.password);
                        absent(&config, config.key_data);
                }
                kube_config_deinit(&config);
        }
        return 0;
}
