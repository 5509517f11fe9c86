/*
 * The files of a submission: where they are, and what must be here before the driver starts.
 *
 * A driver in this process needs the application, its jars and its Python files on this machine; YARN needs what its
 * file systems cannot fetch; the driver's pod of Kubernetes needs all of it in its working directory.
 */
#include "deploy/submit/preparation.h"

#include "base/error.h"
#include "base/mem.h"
#include "deploy/submit/jar_manifest.h"
#include "deploy/submit/option_table.h"
#include "deploy/submit/python_path.h"
#include "io/uri.h"

#include <unistd.h>

static bool is_local_uri(const char *uri)
{
        return strncmp(uri, "local:", 6) == 0;
}

/* Kerberos is for YARN, Kubernetes and local masters: the keytab must be there (local: is a path in the cluster). */
static int check_keytab(struct preparation *p, struct fst_error *error)
{
        const char *keytab = p->a->value[SUBMIT_KEYTAB];
        if (p->s->manager == MANAGER_STANDALONE || p->mesos_cluster || !p->a->value[SUBMIT_PRINCIPAL] || !keytab)
                return 0;
        if (!p->s->cluster_mode && is_local_uri(keytab)) {
                const char *path = keytab + strlen("local:");
                path += strncmp(path, "///", 3) == 0 ? 2 : 0;
                preparation_set(p, SUBMIT_KEYTAB, mem_strdup(path));
                keytab = p->a->value[SUBMIT_KEYTAB];
        }
        if (is_local_uri(keytab) || access(keytab, F_OK) == 0)
                return 0;
        return error_set(error, -ENOENT, "requirement failed: Keytab file: %s does not exist", keytab);
}

static void resolve_globs(struct preparation *p)
{
        static const enum submit_field lists[] = {SUBMIT_JARS, SUBMIT_FILES, SUBMIT_PY_FILES, SUBMIT_ARCHIVES};
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                const char *list = p->a->value[lists[i]];
                if (!list)
                        continue;
                _cleanup_free_ char *names = file_list_merge(list, NULL);
                preparation_set(p, lists[i], submit_resolve_uris(names ? names : ""));
        }
}

static char *copy(const char *text)
{
        return text ? mem_strdup(text) : NULL;
}

int preparation_resolve_files(struct preparation *p, struct fst_error *error)
{
        int r = check_keytab(p, error);
        if (r < 0)
                return r;
        resolve_globs(p);
        if (!p->s->cluster_mode) {
                p->local_primary = copy(p->a->primary_resource);
                p->local_jars = copy(p->a->value[SUBMIT_JARS]);
                p->local_py_files = copy(p->a->value[SUBMIT_PY_FILES]);
        }
        return 0;
}

/* The path of a file: URI, or of what has no scheme, owned by the caller; NULL for what is elsewhere. */
static char *local_path(const char *name)
{
        struct uri uri;
        if (!uri_parse(name, &uri))
                return mem_strdup(name);
        if (uri.opaque || (uri.scheme.text && !uri_has_scheme(&uri, "file")))
                return NULL;
        return uri_decode(uri.path);
}

/* Main-Class of the jar's manifest into the arguments, NULL if it says none. */
static int read_main_class(struct preparation *p, const char *jar, struct fst_error *error)
{
        _cleanup_free_ char *path = local_path(jar);
        char *main_class = NULL;
        int r = path ? jar_manifest_attribute(path, "Main-Class", true, &main_class, error)
                     : error_set(error, -EPROTONOSUPPORT, "%s is not on this machine", jar);
        if (r < 0) {
                _cleanup_free_ char *why = mem_strdup(error_message(error));
                return error_set(error, -EINVAL,
                                 "Failed to get main class in JAR with error '%s'.  Please specify one with --class.",
                                 why);
        }
        preparation_set(p, SUBMIT_CLASS, main_class);
        return 0;
}

int preparation_choose_class(struct preparation *p, struct fst_error *error)
{
        const char *where = p->local_primary ? p->local_primary : p->a->primary_resource;
        if (p->a->value[SUBMIT_CLASS] || p->language != LANGUAGE_JVM)
                return 0;
        if (submit_is_native(where)) {
                preparation_set(p, SUBMIT_CLASS, mem_strdup("main"));
                return 0;
        }
        int r = read_main_class(p, where, error);
        if (r == 0 && !p->a->value[SUBMIT_CLASS])
                return error_set(error, -EINVAL, "No main class set in JAR; please specify one with --class.");
        return r;
}

int preparation_format_py_files(const char *list, char **out, struct fst_error *error)
{
        return python_paths_format(list, out, error);
}
