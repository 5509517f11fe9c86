/* Call sites; see call_site.h. */
#include "pyspark_driver/call_site.h"

#include "base/hash_table.h"
#include "base/mem.h"

#include <pthread.h>

struct stored_site {
        char *text; /* as it was set */
        char *parts;
        fst_site site;
};

static pthread_mutex_t sites_lock = PTHREAD_MUTEX_INITIALIZER;
static struct object_table sites;
static _Thread_local const struct stored_site *thread_site;

bool call_site_parse(char *text, fst_site *site)
{
        char *at = strstr(text, " at "), *colon = strrchr(text, ':');
        if (!at || !colon || colon < at + 4)
                return false;
        char *end;
        long line = strtol(colon + 1, &end, 10);
        if (end == colon + 1 || *end || line < 0 || line > INT32_MAX)
                return false;
        *at = *colon = 0;
        *site = (fst_site){text, at + 4, (int)line};
        return true;
}

static bool stored_site_has_text(const void *object, const void *key)
{
        return strcmp(((const struct stored_site *)object)->text, key) == 0;
}

void call_site_set(const char *text)
{
        thread_site = NULL;
        if (!text)
                return;
        uint64_t hash = object_hash_text(text);
        pthread_mutex_lock(&sites_lock);
        struct stored_site *stored = object_table_find(&sites, hash, stored_site_has_text, text);
        if (!stored) {
                stored = new0(struct stored_site);
                stored->text = mem_strdup(text);
                stored->parts = mem_strdup(text);
                if (!call_site_parse(stored->parts, &stored->site))
                        stored->site = (fst_site){stored->text, "<python>", 0};
                object_table_put(&sites, hash, stored);
        }
        pthread_mutex_unlock(&sites_lock);
        thread_site = stored;
}

fst_site call_site(const char *operation)
{
        return thread_site ? thread_site->site : (fst_site){operation, "<python>", 0};
}
