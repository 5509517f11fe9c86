/* Checks the names of a driver's files, not the files, because maybe only workers can read them. */
#include "standalone/rest/driver_validation.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <strings.h>

#define JVM_KEY "spark.firesteel.standalone.jvm"

/* The last component of the path, without query and fragment, escaped for a log line. */
static char *driver_validation_file_name(const char *url)
{
        size_t n = strcspn(url, "?#");
        const char *slash = memrchr(url, '/', n);
        const char *name = slash ? slash + 1 : url;
        char *copy = mem_strndup(name, n - (size_t)(name - url));
        for (char *c = copy; *c; c++)
                if ((unsigned char)*c < ' ')
                        *c = '?';
        return copy;
}

static bool has_suffix(const char *name, const char *suffix)
{
        size_t n = strlen(name), m = strlen(suffix);
        return n > m && strcasecmp(name + n - m, suffix) == 0;
}

/* "app.so", "libapp.so.1.2" */
static bool is_shared_object(const char *name)
{
        for (const char *so = name; (so = strstr(so, ".so")); so++)
                if (strspn(so + 3, ".0123456789") == strlen(so + 3) && (so[3] == '\0' || so[3] == '.'))
                        return true;
        return false;
}

static int check_jvm(const char *name, const struct fst_conf *conf, enum driver_kind *kind, struct fst_error *error)
{
        _cleanup_free_ char *jvm = NULL;
        int r = conf_get_string(conf, JVM_KEY, &jvm, error);
        if (r < 0)
                return r;
        if (strcmp(jvm, "local") == 0) {
                *kind = DRIVER_JVM;
                return 0;
        }
        if (strcmp(jvm, "refuse") != 0)
                return error_set(error, -EINVAL, JVM_KEY ": \"%s\" is neither refuse nor local", jvm);
        return error_set(
                error, -ENOTSUP,
                "%s cannot run on this cluster: its master is Firesteel's, with which the driver of a JVM cannot "
                "register, because Spark's processes speak to each other in serialized Java objects. Submit a "
                "native application (--class main app.so); or let this cluster's administrator set " JVM_KEY
                "=local, which runs such a driver as java with master local[cores of the driver]",
                name);
}

int driver_check(const char *url, const struct fst_conf *conf, enum driver_kind *kind, struct fst_error *error)
{
        _cleanup_free_ char *name = driver_validation_file_name(url);
        if (has_suffix(name, ".jar"))
                return check_jvm(name, conf, kind, error);
        if (!is_shared_object(name))
                return error_set(
                        error, -ENOTSUP,
                        "%s cannot run on this cluster: a driver in cluster mode is a shared object (.so) that "
                        "was built with Firesteel's header, such as `firesteel compile` makes",
                        *name ? name : url);
        *kind = DRIVER_NATIVE;
        return 0;
}
