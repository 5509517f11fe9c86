/* The root of a site is the beginning of its URL, ids are parts of its path, and the root has no id. */
#include "cmd/api_site.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"

#include <stdlib.h>
#include <string.h>

static void check_site(const struct api_site *site, const char *url, const struct api_site *again)
{
        if (!text_starts_with(url, site->root) || strpbrk(strstr(site->root, "://") + 3, "?#"))
                abort();
        if (site->id && (!*site->id || strchr(site->id, '/') || !strstr(url, site->id)))
                abort();
        if (site->attempt &&
            (!site->id || !*site->attempt || strchr(site->attempt, '/') || !strstr(url, site->attempt)))
                abort();
        if (again->id || again->attempt || !text_starts_with(site->root, again->root))
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *url = mem_strndup((const char *)data, size);
        struct api_site site = {0}, again = {0};
        struct fst_error error = FST_ERROR_INIT;
        if (!api_site_is_url(url))
                return 0;
        if (api_site_parse(&site, url, NULL, &error) == 0) {
                if (api_site_parse(&again, site.root, NULL, NULL) < 0)
                        abort();
                check_site(&site, url, &again);
        } else if (!strstr(error_message(&error), "host") && !strstr(error_message(&error), "application id")) {
                abort();
        }
        api_site_deinit(&site);
        api_site_deinit(&again);
        error_deinit(&error);
        return 0;
}
