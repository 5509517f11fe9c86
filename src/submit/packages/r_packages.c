/*
 * See r_packages.h. R writes to the same descriptor as Firesteel, so our output is flushed before R starts. R's
 * environment is ours plus two variables, with which it finds SparkR and the packages built before. A signal that ends
 * Firesteel ends R and its children.
 */
#include "submit/packages/r_packages.h"

#include "process/command.h"
#include "base/error.h"
#include "base/mem.h"
#include "process/exit_cleanup.h"
#include "base/vec.h"
#include "submit/packages/r_sources.h"
#include "io/fs/uri.h"

#include <sys/wait.h>
#include <unistd.h>

#define LIBRARIES "SPARKR_PACKAGE_DIR"
#define PROFILE "R_PROFILE_USER"

extern char **environ;

static const char layout[] =
        "In order for Spark to build R packages that are parts of Spark Packages, there are a few\n"
        "requirements. The R source code must be shipped in a jar, with additional Java/Scala\n"
        "classes. The jar must be in the following format:\n"
        "  1- The Manifest (META-INF/MANIFEST.mf) must contain the key-value: Spark-HasRPackage: true\n"
        "  2- The standard R package layout must be preserved under R/pkg/ inside the jar. More\n"
        "  information on the standard R package layout can be found in:\n"
        "  http://cran.r-project.org/doc/contrib/Leisch-CreatingPackages.pdf\n"
        "  An example layout is given below. After running `jar tf $JAR_FILE | sort`:\n"
        "\n"
        "META-INF/MANIFEST.MF\n"
        "R/\n"
        "R/pkg/\n"
        "R/pkg/DESCRIPTION\n"
        "R/pkg/NAMESPACE\n"
        "R/pkg/R/\n"
        "R/pkg/R/myRcode.R\n"
        "org/\n"
        "org/apache/\n"
        "...\n";

static int r_packages_make_directory(char **out, struct fst_error *error)
{
        const char *tmp = getenv("TMPDIR");
        _cleanup_free_ char *root = realpath(tmp && *tmp ? tmp : "/tmp", NULL);
        if (!root)
                return error_errno(error, "%s", tmp && *tmp ? tmp : "/tmp");
        _cleanup_free_ char *prefix = mem_printf("%s/firesteel-r", root);
        return exit_cleanup_make_directory(prefix, out, error);
}

/* The path that java.io.File takes from the URI @name. Owned by the caller. */
static int r_packages_local_path(const char *name, char **out, struct fst_error *error)
{
        struct uri uri;
        if (!uri_parse(name, &uri) || !uri.scheme.text) {
                *out = mem_strdup(name);
                return 0;
        }
        const char *wrong = uri.opaque                      ? "URI is not hierarchical"
                            : !uri_has_scheme(&uri, "file") ? "URI scheme is not \"file\""
                            : uri.authority.len > 0         ? "URI has an authority component"
                            : uri.fragment.text             ? "URI has a fragment component"
                            : uri.query.text                ? "URI has a query component"
                            : uri.path.len == 0             ? "URI path component is empty"
                                                            : NULL;
        if (wrong)
                return error_set(error, -EINVAL, "%s", wrong);
        char *path = uri_decode(uri.path);
        size_t n = strlen(path);
        while (n > 1 && path[n - 1] == '/')
                path[--n] = 0;
        *out = path;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- R */

static bool r_packages_is_variable(const char *entry, const char *name)
{
        size_t n = strlen(name);
        return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* Runs @command with its output on @fd and the two @variables replaced. Returns its status, or -errno. */
static int r_packages_run(char *const *command, int fd, char *const *variables)
{
        VEC(char *) environment = {0};
        for (char **entry = environ; *entry; entry++)
                if (!r_packages_is_variable(*entry, LIBRARIES) && !r_packages_is_variable(*entry, PROFILE))
                        vec_push(&environment, *entry);
        vec_push(&environment, variables[0]);
        vec_push(&environment, variables[1]);
        vec_push(&environment, NULL);
        const struct command r_command = {
                .words = command, .environment = environment.data, .output = fd, .no_input = true, .own_group = true};
        int status, r = command_run(&r_command, &status);
        vec_deinit(&environment);
        if (r < 0)
                return r;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Whether R built the package below @sources. */
static bool r_packages_build_one(const char *sources, const char *sparkr, const char *library, bool verbose, FILE *out)
{
        _cleanup_free_ char *package = mem_printf("%s/R/pkg", sources);
        char *command[] = {"R", "CMD", "INSTALL", "-l", (char *)library, package, NULL};
        if (verbose)
                fprintf(out, "Building R package with the command: List(R, CMD, INSTALL, -l, %s, %s)\n", library,
                        package);
        if (!sparkr) {
                fputs("Failed to build R package.\nSPARK_HOME not set. Can't locate SparkR package.\n", out);
                return false;
        }
        _cleanup_free_ char *libraries = mem_printf(LIBRARIES "=%s,%s", sparkr, library);
        _cleanup_free_ char *profile = mem_printf(PROFILE "=%s/SparkR/profile/general.R", sparkr);
        fflush(out);
        int r = r_packages_run(command, fileno(out), (char *[]){libraries, profile});
        if (r < 0)
                fprintf(out, "Failed to build R package.\nCannot run program \"R\": %s\n", strerror(-r));
        return r == 0;
}

/* ------------------------------------------------------------------------------------------------------------- jars */

static int r_packages_install(const char *jar, const char *sparkr, bool verbose, FILE *out, char **library,
                              struct fst_error *error)
{
        _cleanup_free_ char *sources = NULL;
        fprintf(out, "%s contains R source code. Now installing package.\n", jar);
        int r = r_packages_make_directory(&sources, error);
        if (r < 0)
                return r;
        r = r_sources_extract(jar, sources, verbose ? out : NULL, error);
        if (r == 0 && !*library)
                r = r_packages_make_directory(library, error);
        if (r == 0 && !r_packages_build_one(sources, sparkr, *library, verbose, out))
                fprintf(out, "ERROR: Failed to build R package in %s.\n%s", jar, layout);
        exit_cleanup_remove(sources);
        return r;
}

static int r_packages_take(const char *name, const char *sparkr, bool verbose, FILE *out, char **library,
                           struct fst_error *error)
{
        _cleanup_free_ char *jar = NULL;
        bool has_sources = false;
        int r = r_packages_local_path(name, &jar, error);
        if (r < 0)
                return r;
        if (access(jar, F_OK) < 0) {
                fprintf(out, "WARN: %s resolved as dependency, but not found.\n", jar);
                return 0;
        }
        r = r_sources_are_in(jar, &has_sources, error);
        if (r < 0)
                return r;
        if (has_sources)
                return r_packages_install(jar, sparkr, verbose, out, library, error);
        if (verbose)
                fprintf(out, "%s doesn't contain R source code, skipping...\n", jar);
        return 0;
}

static int r_packages_build_all(const char *jars, const char *sparkr, bool verbose, FILE *out, char **library,
                                struct fst_error *error)
{
        _cleanup_free_ char *list = mem_strdup(jars);
        char *made = *library;
        int r = 0;
        for (char *name, *rest = list; r == 0 && (name = strsep(&rest, ","));)
                if (*name)
                        r = r_packages_take(name, sparkr, verbose, out, &made, error);
        fflush(out);
        if (r < 0 && made != *library) {
                exit_cleanup_remove(made);
                free(made);
        } else {
                *library = made;
        }
        return r;
}

int r_packages_build(const char *jars, const char *sparkr, bool verbose, FILE *out, char **library,
                     struct fst_error *error)
{
        FILE *nowhere = out ? NULL : fopen("/dev/null", "we");
        if (!out && !nowhere)
                return error_errno(error, "/dev/null");
        int r = r_packages_build_all(jars, sparkr, verbose, out ? out : nowhere, library, error);
        if (nowhere)
                fclose(nowhere);
        return r;
}
