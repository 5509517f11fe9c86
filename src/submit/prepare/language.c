/*
 * Python and R: the program that runs a file of that language in client mode, and what travels with it. The driver
 * gets the file where it was downloaded to; executors get Python files as files, and R its packages as archives.
 */
#include "submit/options/option_table.h"
#include "submit/prepare/preparation.h"
#include "submit/packages/r_packages.h"

#include "base/error.h"
#include "base/mem.h"
#include "launch/resolve_uri.h"

#include <unistd.h>

static char *copy(const char *text)
{
        return text ? mem_strdup(text) : NULL;
}

static void merge_into(struct preparation *p, enum submit_field field, const char *more)
{
        preparation_set(p, field, file_list_merge(p->a->value[field], more));
}

static void put_python(struct preparation *p)
{
        bool client = !p->s->cluster_mode, python = p->language == LANGUAGE_PYTHON;
        if (python && client && submit_is_shell(p->a->primary_resource)) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_PYTHON_SHELL));
        } else if (python && client) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_PYTHON_RUNNER));
                preparation_prepend(p, copy(p->local_primary), true, copy(p->local_py_files));
        }
        /* An application of another language may use Python too (since 3.1). YARN has a list of its own for it. */
        if (client && p->s->manager != MANAGER_YARN && (python || p->compat > COMPAT_2_4))
                merge_into(p, SUBMIT_FILES, p->a->value[SUBMIT_PY_FILES]);
        if (!p->local_py_files)
                return;
        _cleanup_free_ char *list = mem_strdup(p->local_py_files);
        for (size_t n = strlen(list); n > 0 && list[n - 1] == ',';)
                list[--n] = 0;
        strmap_set(&p->s->conf, "spark.submit.pyFiles", list);
}

/* @name is what the archive is called where it is unpacked. */
static void add_archive(struct preparation *p, const char *path, const char *name)
{
        _cleanup_free_ char *uri = submit_resolve_uri(path, p->compat);
        _cleanup_free_ char *named = mem_printf("%s#%s", uri, name);
        merge_into(p, SUBMIT_ARCHIVES, named);
}

/* SparkR itself, and the packages built from jars, travel as archives that YARN unpacks. */
static int add_r_archives(struct preparation *p, struct fst_error *error)
{
        const char *home = getenv("SPARK_HOME");
        if (!home)
                return error_set(error, -EINVAL, "SPARK_HOME does not exist for R application in YARN mode.");
        _cleanup_free_ char *path = mem_printf("%s/R/lib/" R_SPARKR_ARCHIVE, home);
        if (access(path, F_OK) < 0)
                return error_set(error, -ENOENT, R_SPARKR_ARCHIVE " does not exist for R application in YARN mode.");
        add_archive(p, path, "sparkr");
        if (!p->s->r_library)
                return 0;
        _cleanup_free_ char *packages = NULL;
        int r = r_packages_zip(p->s->r_library, R_PACKAGES_ARCHIVE, &packages, error);
        if (r < 0)
                return error_wrap(error, r, "Failed to zip all the built R packages");
        add_archive(p, packages, "rpkg");
        return 0;
}

static int put_r(struct preparation *p, struct fst_error *error)
{
        enum cluster_manager manager = p->s->manager;
        int r = manager == MANAGER_YARN ? add_r_archives(p, error) : 0;
        if (r < 0)
                return r;
        if (p->s->r_library && (manager == MANAGER_STANDALONE || manager == MANAGER_MESOS))
                return error_set(error, -ENOTSUP, "Distributing R packages with %s cluster is not supported.",
                                 manager == MANAGER_MESOS ? "mesos" : "standalone");
        if (!p->s->cluster_mode && submit_is_shell(p->a->primary_resource)) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_R_SHELL));
        } else if (!p->s->cluster_mode) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup(SUBMIT_CLASS_R_RUNNER));
                preparation_prepend(p, copy(p->local_primary), false, NULL);
                merge_into(p, SUBMIT_FILES, p->a->primary_resource);
        }
        if (p->yarn_cluster)
                merge_into(p, SUBMIT_FILES, p->a->primary_resource);
        return 0;
}

int preparation_put_language(struct preparation *p, struct fst_error *error)
{
        put_python(p);
        return p->language == LANGUAGE_R ? put_r(p, error) : 0;
}
