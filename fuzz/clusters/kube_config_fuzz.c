/* Any bytes are a kubeconfig file or an error with a message, and its description contains no secret. */
#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/api/kube_config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool text_contains(const char *text, const char *part)
{
        return text && strstr(text, part);
}

/* Skips short secrets, which may be part of any word, and those that equal the server's name. */
static void check_secret_is_absent(const struct kube_config *config, const char *secret)
{
        _cleanup_free_ char *text = kube_config_describe(config);
        if (secret && strlen(secret) > 24 && text_contains(text, secret) && !text_contains(config->server, secret) &&
            !text_contains(config->context, secret))
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
                /* Without the YAML module there is nothing to test. */
                if (r == -ENOENT || r == -ELIBBAD || (r < 0 && !*error_message(&error)))
                        abort();
                if (r == 0) {
                        check_secret_is_absent(&config, config.token);
                        check_secret_is_absent(&config, config.password);
                        check_secret_is_absent(&config, config.key_data);
                }
                kube_config_deinit(&config);
        }
        return 0;
}
