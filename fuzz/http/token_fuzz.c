/* The value of "Authorization:" for pages with signed tokens: no token without the key is accepted. */
#include "conf/conf.h"
#include "web/filters.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define KEY "c29tZSBrZXkgdGhhdCBub2JvZHkgaGFzIGd1ZXNzZWQgc28gZmFyLCBub3QgZXZlbiB0aGUgZnV6emVyIG9mIGZpcmVzdGVlbCE"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *get_header(const void *context, const char *name)
{
        return context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct filters *filters;
        if (!filters) {
                struct fst_conf conf;
                conf_init(&conf);
                conf_set(&conf, "spark.ui.filters", "org.apache.spark.ui.JWSFilter");
                conf_set(&conf, "spark.org.apache.spark.ui.JWSFilter.param.secretKey", KEY);
                if (filters_new(&conf, "spark.ui.filters", &filters, NULL) < 0)
                        abort();
                conf_deinit(&conf);
        }
        char *text = malloc(size + 1), *user = NULL;
        const char *refusal = NULL;
        memcpy(text, data, size);
        text[size] = '\0';
        struct filter_request request = {.header = get_header, .context = text, .peer = "10.0.0.1:1", .now_s = 1000};
        if (filters_pass(filters, &request, &user, &refusal) != 403 || user || !refusal)
                abort();
        free(text);
        return 0;
}
