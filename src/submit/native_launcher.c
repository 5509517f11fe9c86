/*
 * The native launcher; see native_launcher.h.
 *
 * Order: first everything that can be wrong without touching the application (its master, its kind), then the
 * configuration, then the application. Crash reports and signals are set up right before foreign code can run:
 * loading a module runs its constructors.
 */
#include "submit/native_launcher.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "conf/master_url.h"
#include "submit/options/arguments.h"
#include "launch/native_program.h"
#include "submit/prepare/submission.h"
#include "driver/backend/cluster_manager.h"
#include "io/fs/uri.h"

#include <stdio.h>
#include <unistd.h>

static int check_master(const struct submit_arguments *a, struct fst_error *error)
{
        const struct cluster_manager_class *manager;
        struct master_url url;
        if (a->value[SUBMIT_REMOTE])
                return error_set(error, -ENOTSUP,
                                 "--remote '%s' is not supported by this version of Firesteel: it has no "
                                 "Spark Connect client",
                                 a->value[SUBMIT_REMOTE]);
        return cluster_manager_read(submit_arguments_master(a), a->compat, (int)sysconf(_SC_NPROCESSORS_ONLN), &manager,
                                    &url, error);
}

/* Where @uri is on this machine, "local:" naming what is on all machines; NULL: elsewhere. The caller owns it. */
static char *path_here(const char *uri)
{
        struct uri parts;
        if (uri_parse(uri, &parts) && uri_has_scheme(&parts, "local") && !parts.opaque)
                return uri_decode(parts.path);
        return uri_local_path(uri);
}

/* Where the application lies: as it was given, or where preparing has put it, which is first in the class path but for
 * the working directory of a driver's pod. NULL: elsewhere. The caller owns it. */
static char *application_path(const struct submit_arguments *a, const struct submission *s)
{
        char *given = path_here(a->application);
        size_t i = s->classpath.len > 0 && strcmp(s->classpath.data[0], ".") == 0;
        return given || i >= s->classpath.len ? given : path_here(s->classpath.data[i]);
}

bool native_application_is_at(const char *resource)
{
        static const char elf[4] = {0x7f, 'E', 'L', 'F'};
        char start[sizeof(elf)];
        _cleanup_free_ char *path = path_here(resource);
        FILE *file = path ? fopen(path, "re") : NULL;
        bool is = file && fread(start, 1, sizeof(start), file) == sizeof(start) && memcmp(start, elf, sizeof(elf)) == 0;
        if (file)
                fclose(file);
        return is;
}

int submit_launch(const struct submit_arguments *a, const struct submission *s, int *status, struct fst_error *error)
{
        static struct fst_conf conf; /* for the whole life of the process */
        _cleanup_free_ char *path = application_path(a, s);
        int r = check_master(a, error);
        if (r < 0)
                return r;
        if (!path)
                return error_set(error, -ENOTSUP, "application %s names no file on this machine", a->application);
        conf_init(&conf);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&s->conf, e));)
                conf_set(&conf, e->key, e->value);
        struct native_program program = {.path = path,
                                         .shown = a->application,
                                         .entry = s->main_class,
                                         .arguments = s->arguments.data,
                                         .n = s->arguments.len,
                                         .conf = &conf};
        r = native_program_prepare(&program, error);
        return r < 0 ? r : native_program_run(&program, status, error);
}
