/* Replies of a registry and its token server: a push ends with a result, or a message without the password. */
#include "base/error.h"
#include "base/log.h"
#include "fuzz/canned_http.h"
#include "image/registry.h"

#define PASSWORD "a-password-of-some-length"

static bool said; /* the registry's own text may contain it, so a message may too */

static void check_error(int r, struct fst_error *error)
{
        if (r < 0 && (!*error_message(error) || (!said && strstr(error_message(error), PASSWORD))))
                abort();
        error_deinit(error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char digest[] = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        struct fst_error error = FST_ERROR_INIT;
        struct registry *registry;
        log_set_level(LOG_OFF);
        http_ops_replace(&canned_ops);
        if (size == 0)
                return 0;
        const struct registry_options options = {.host = data[0] & 1 ? "docker.io" : "reg.example:5000",
                                                 .repository = "team/app",
                                                 .login = data[0] & 2 ? "me:" PASSWORD : NULL};
        if (registry_open(&options, &registry, &error) < 0)
                abort();
        said = memmem(data, size, PASSWORD, strlen(PASSWORD)) != NULL;
        canned_begin(data + 1, size - 1);
        check_error(registry_has_blob(registry, digest, &error), &error);
        check_error(registry_put_blob(registry, digest, "", 0, &error), &error);
        check_error(
                registry_put_manifest(registry, "1.0", "application/vnd.oci.image.manifest.v1+json", "{}", 2, &error),
                &error);
        registry_close(registry);
        return 0;
}
