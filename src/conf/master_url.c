/* Master URLs; see master_url.h. The forms are those of Spark's SparkMasterRegex. */
#include "conf/master_url.h"

#include "base/error.h"
#include "base/mem.h"

#include <limits.h>
#include <stdbool.h>

static void master_url_skip_blanks(const char **p)
{
        *p += strspn(*p, " \t");
}

/* Parses a number of digits that fits an int, with blanks around it. */
static bool master_url_take_number(const char **p, int *out)
{
        master_url_skip_blanks(p);
        size_t n = strspn(*p, "0123456789");
        long long value = 0;
        for (size_t i = 0; i < n && value <= INT_MAX; i++)
                value = value * 10 + (*p)[i] - '0';
        if (n == 0 || value > INT_MAX)
                return false;
        *p += n;
        master_url_skip_blanks(p);
        *out = (int)value;
        return true;
}

static bool master_url_take(const char **p, char c)
{
        if (**p != c)
                return false;
        ++*p;
        return true;
}

/* Parses "[N]", "[*]", "[N,F]" or "[*,F]" up to the end. */
static bool master_url_parse_local(const char *p, int processors, struct master_url *url)
{
        url->max_failures = 1;
        if (!master_url_take(&p, '['))
                return false;
        master_url_skip_blanks(&p);
        if (master_url_take(&p, '*')) {
                url->threads = processors;
                master_url_skip_blanks(&p);
        } else if (!master_url_take_number(&p, &url->threads)) {
                return false;
        }
        if (master_url_take(&p, ',') && !master_url_take_number(&p, &url->max_failures))
                return false;
        return master_url_take(&p, ']') && !*p;
}

static bool master_url_parse_local_cluster(const char *p, struct master_url *url)
{
        return master_url_take(&p, '[') && master_url_take_number(&p, &url->executors) && master_url_take(&p, ',') &&
               master_url_take_number(&p, &url->cores) && master_url_take(&p, ',') &&
               master_url_take_number(&p, &url->memory_mib) && master_url_take(&p, ']') && !*p;
}

static int master_url_refuse_malformed(const char *text, struct fst_error *error)
{
        return error_set(
                error, -EINVAL,
                "Could not parse Master URL: '%s' (as in local, local[2], local[*,3], local-cluster[2,1,1024])", text);
}

int local_master_parse(const char *text, int processors, struct master_url *out, struct fst_error *error)
{
        struct master_url url = {.threads = 1, .max_failures = 1};
        if (strncmp(text, "local", 5) != 0 || (text[5] && !master_url_parse_local(text + 5, processors, &url)))
                return master_url_refuse_malformed(text, error);
        if (url.threads < 1)
                return error_set(error, -EINVAL,
                                 "Asked to run locally with %d threads (master '%s'): at least 1 is needed",
                                 url.threads, text);
        if (url.max_failures < 1)
                return error_set(error, -EINVAL, "master '%s': a task must be allowed at least 1 failure, not %d", text,
                                 url.max_failures);
        *out = url;
        return 0;
}

int local_cluster_master_parse(const char *text, int processors, struct master_url *out, struct fst_error *error)
{
        struct master_url url = {0};
        if (strncmp(text, "local-cluster", 13) != 0 || !master_url_parse_local_cluster(text + 13, &url))
                return master_url_refuse_malformed(text, error);
        if (url.executors < 1 || url.cores < 1 || url.memory_mib < 1)
                return error_set(error, -EINVAL, "master '%s': executors, cores and MiB must each be at least 1", text);
        *out = url;
        return 0;
}
