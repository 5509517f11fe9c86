/* Command lines of spark-submit: words separated by line breaks. Also parses the text as a make rule and a master URL.
 */
#include "base/error.h"
#include "base/mem.h"
#include "conf/master_url.h"
#include "driver/backend/cluster_manager.h"
#include "submit/options/arguments.h"
#include "exec/app/app_compiler.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *no_environment(const char *name)
{
        return NULL;
}

static int ignore_file(void *context, const char *path)
{
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        const struct cluster_manager_class *manager;
        struct master_url url;
        cluster_manager_read(text, COMPAT_3_5, 4, &manager, &url, NULL);
        app_compiler_dependencies(text, ignore_file, NULL);
        char *words[64], *rest = text;
        int n = 0;
        for (char *word; n < 64 && (word = strsep(&rest, "\n"));)
                words[n++] = word;
        struct submit_arguments a;
        struct fst_error error = FST_ERROR_INIT;
        submit_arguments_init(&a);
        int r = submit_arguments_parse(&a, n, words, &error);
        if (r == 0) {
                /* Skips options that name files, which would be opened. */
                free(a.value[SUBMIT_PROPERTIES_FILE]);
                a.value[SUBMIT_PROPERTIES_FILE] = NULL;
                for (size_t i = 0; i < a.extra_properties_files.len; i++)
                        free(a.extra_properties_files.data[i]);
                a.extra_properties_files.len = 0;
                r = submit_arguments_complete(&a, NULL, no_environment, &error);
        }
        if (r == 0) {
                free(submit_arguments_report(&a));
                r = submit_arguments_validate(&a, no_environment, &error);
        }
        /* Every failure has a message. A submission has an application, and its keys are Spark's. */
        if ((r < 0) != (error.message != NULL))
                abort();
        if (r == 0 && a.action == SUBMIT_ACTION_SUBMIT && (!a.application || !a.primary_resource))
                abort();
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&a.properties, e));) {
                if (strncmp(e->key, "spark.", 6) != 0)
                        abort();
        }
        error_deinit(&error);
        submit_arguments_deinit(&a);
        return 0;
}
