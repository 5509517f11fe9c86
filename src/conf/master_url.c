/* Master URLs; see master_url.h. The forms are those of Spark's SparkMasterRegex. */
#include "conf/master_url.h"

#include "base/error.h"
#include "base/mem.h"

#include <limits.h>

static const char *const names[] = {
        [MASTER_LOCAL] = "local", [MASTER_LOCAL_CLUSTER] = "local-cluster",
        [MASTER_SPARK] = "spark", [MASTER_YARN] = "yarn",
        [MASTER_MESOS] = "mesos", [MASTER_K8S] = "k8s",
};

const char *master_kind_name(enum master_kind kind)
{
        return names[kind];
}

static void skip_blanks(const char **p)
{
        *p += strspn(*p, " \t");
}

/* A number of digits alone that fits an int, with blanks around it. */
static bool take_number(const char **p, int *out)
{
        skip_blanks(p);
        size_t n = strspn(*p, "0123456789");
        long long value = 0;
        for (size_t i = 0; i < n && value <= INT_MAX; i++)
                value = value * 10 + (*p)[i] - '0';
        if (n == 0 || value > INT_MAX)
                return false;
        *p += n;
        skip_blanks(p);
        *out = (int)value;
        return true;
}

static bool take(const char **p, char c)
{
        if (**p != c)
                return false;
        ++*p;
        return true;
}

/* "[N]", "[*]", "[N,F]", "[*,F]" up to the end. */
static bool parse_local(const char *p, int processors, struct master_url *url)
{
        url->max_failures = 1;
        if (!take(&p, '['))
                return false;
        skip_blanks(&p);
        if (take(&p, '*')) {
                url->threads = processors;
                skip_blanks(&p);
        } else if (!take_number(&p, &url->threads)) {
                return false;
        }
        if (take(&p, ',') && !take_number(&p, &url->max_failures))
                return false;
        return take(&p, ']') && !*p;
}

static bool parse_local_cluster(const char *p, struct master_url *url)
{
        return take(&p, '[') && take_number(&p, &url->executors) && take(&p, ',') && take_number(&p, &url->cores) &&
               take(&p, ',') && take_number(&p, &url->memory_mib) && take(&p, ']') && !*p;
}

static int check_numbers(const char *text, const struct master_url *url, struct fst_error *error)
{
        if (url->kind == MASTER_LOCAL && url->threads < 1)
                return error_set(error, -EINVAL,
                                 "Asked to run locally with %d threads (master '%s'): at least 1 is needed",
                                 url->threads, text);
        if (url->kind == MASTER_LOCAL && url->max_failures < 1)
                return error_set(error, -EINVAL, "master '%s': a task must be allowed at least 1 failure, not %d", text,
                                 url->max_failures);
        if (url->kind == MASTER_LOCAL_CLUSTER && (url->executors < 1 || url->cores < 1 || url->memory_mib < 1))
                return error_set(error, -EINVAL, "master '%s': executors, cores and MiB must each be at least 1", text);
        return 0;
}

int master_url_parse(const char *text, int processors, struct master_url *out, struct fst_error *error)
{
        struct master_url url = {0};
        bool good = true;
        if (strcmp(text, "local") == 0) {
                url = (struct master_url){.kind = MASTER_LOCAL, .threads = 1, .max_failures = 1};
        } else if (strncmp(text, "local-cluster", 13) == 0) {
                url.kind = MASTER_LOCAL_CLUSTER;
                good = parse_local_cluster(text + 13, &url);
        } else if (strncmp(text, "local", 5) == 0) {
                url.kind = MASTER_LOCAL;
                good = parse_local(text + 5, processors, &url);
        } else if (strncmp(text, "spark://", 8) == 0) {
                url.kind = MASTER_SPARK;
                good = text[8] != 0;
        } else if (strcmp(text, "yarn") == 0 || strcmp(text, "yarn-client") == 0 || strcmp(text, "yarn-cluster") == 0) {
                url.kind = MASTER_YARN;
        } else if (strncmp(text, "mesos://", 8) == 0) {
                url.kind = MASTER_MESOS;
                good = text[8] != 0;
        } else if (strncmp(text, "k8s://", 6) == 0) {
                url.kind = MASTER_K8S;
                good = text[6] != 0;
        } else {
                return error_set(error, -EINVAL,
                                 "Master must either be yarn or start with spark, k8s, mesos, or local (it is '%s')",
                                 text);
        }
        if (!good)
                return error_set(
                        error, -EINVAL,
                        "Could not parse Master URL: '%s' (as in local[2], local[*,3], local-cluster[2,1,1024], "
                        "spark://host:7077, yarn, k8s://https://host:6443)",
                        text);
        int r = check_numbers(text, &url, error);
        if (r == 0)
                *out = url;
        return r;
}
