/*
 * See maven_packages.h. src/ivy resolves and downloads. This file does what Spark's MavenUtils adds to Ivy: the root
 * module with Spark's own exclusions, the directory of jars, and the second attempt without the local Maven repository
 * if a jar from it is unusable.
 */
#include "submit/packages/maven_packages.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "ivy/finder.h"
#include "ivy/report.h"
#include "net/http/http.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The modules that Spark contains: "org.apache.spark:spark-NAME*". */
static const char *const spark_modules[] = {
        "catalyst_",        "core_", "graphx_", "kvstore_", "launcher_",  "mllib_", "mllib-local_", "network-common_",
        "network-shuffle_", "repl_", "sketch_", "sql_",     "streaming_", "tags_",  "unsafe_",
};

void package_jars_deinit(struct package_jars *jars)
{
        for (size_t i = 0; i < jars->len; i++)
                free(jars->data[i]);
        free(jars->data);
        *jars = (struct package_jars){0};
}

static bool maven_packages_blank(const char *text)
{
        return !text || text[strspn(text, " \t\r\n\f\v")] == '\0';
}

static void maven_packages_say(void *context, const char *line)
{
        FILE *out = context;
        _cleanup_free_ char *printable = out ? http_printable_line(line) : NULL;
        if (out)
                fprintf(out, "%s\n", printable);
}

/* The state of one call. */
struct resolution {
        const struct packages_request *request;
        struct names names;
        struct settings settings;
        struct coordinates packages, exclusions;
        const char *folder; /* the directory of jars */
        struct ivy_module *root;
        struct finder finder;
        struct graph graph;
        struct ivy_downloads downloads;
        struct silent_hosts silent; /* of both attempts */
        long resolve_ms, download_ms;
};

static void maven_packages_deinit(struct resolution *r)
{
        downloads_deinit(&r->downloads);
        graph_deinit(&r->graph);
        finder_deinit(&r->finder);
        silent_hosts_deinit(&r->silent);
        coordinates_deinit(&r->packages);
        coordinates_deinit(&r->exclusions);
        names_deinit(&r->names);
}

static void maven_packages_exclude(struct resolution *r, const char *organisation, const char *name)
{
        struct ivy_exclusion *e = module_new(&r->names, struct ivy_exclusion);
        *e = (struct ivy_exclusion){.organisation = organisation, .name = name, .glob = true, .conf = ROOT_CONF};
        list_append(&r->root->exclusions, e);
}

static const char *maven_packages_parent_name(struct names *n)
{
        char uuid[UUID_TEXT];
        uuid_draw(uuid);
        return names_printf(n, "spark-submit-parent-%s", uuid);
}

/* Makes the root module, which depends on all packages, as Spark passes it to Ivy. */
static void maven_packages_make_root(struct resolution *r)
{
        struct names *n = &r->names;
        struct revision_name *id =
                names_revision(n, names_module(n, "org.apache.spark", maven_packages_parent_name(n)), "1.0");
        r->root = module_default(n, id);
        r->root->is_default = false;
        r->root->artifacts = NULL;
        maven_packages_exclude(r, "*", "scala-library");
        for (size_t i = 0; i < ARRAY_SIZE(spark_modules); i++)
                maven_packages_exclude(r, "org.apache.spark", names_printf(n, "spark-%s*", spark_modules[i]));
        for (size_t i = 0; i < r->exclusions.len; i++)
                maven_packages_exclude(r, r->exclusions.data[i].group, r->exclusions.data[i].artifact);
        for (size_t i = 0; i < r->packages.len; i++) {
                const struct coordinate *c = &r->packages.data[i];
                struct dependency *d = module_new(n, struct dependency);
                d->of = r->root;
                d->id = names_revision(n, names_module(n, c->group, c->artifact), c->version);
                module_add_mapping(n, d, ROOT_CONF, ROOT_CONF "(runtime)");
                list_append(&r->root->dependencies, d);
                maven_packages_say(r->request->out, names_printf(n, "%s added as a dependency", d->id->module->text));
        }
}

/* Parses "g:a" as a coordinate of any version. */
static int maven_packages_read_exclusions(struct resolution *r, struct fst_error *error)
{
        if (maven_packages_blank(r->request->exclusions))
                return 0;
        _cleanup_free_ char *list = mem_strdup(r->request->exclusions);
        int e = 0;
        for (char *state, *one = strtok_r(list, ",", &state); one && e == 0; one = strtok_r(NULL, ",", &state)) {
                _cleanup_free_ char *any = mem_printf("%s:*", one);
                e = coordinates_parse(any, &r->exclusions, error);
        }
        return e;
}

static bool maven_packages_is_2_4(const struct packages_request *q)
{
        return q->compat && strcmp(q->compat, "2.4") == 0;
}

/* Spark 2.4 reads a URI as a path, and Java reduces its slashes to one. */
static int maven_packages_check_settings_path(const char *file, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_strdup(file);
        char *end = path;
        for (const char *c = file; *c; c++)
                if (*c != '/' || c[1] != '/')
                        *end++ = *c;
        *end = '\0';
        if (access(path, F_OK) == 0)
                return 0;
        return error_set(error, -EINVAL, "requirement failed: Ivy settings file %s does not exist", path);
}

static int maven_packages_read_settings(struct resolution *r, bool without_local_m2, struct fst_error *error)
{
        const struct packages_request *q = r->request;
        const char *user_dir = settings_user_dir(&r->names, q->ivy_path, q->compat && atoi(q->compat) < 4);
        FILE *out = without_local_m2 ? NULL : q->out;
        r->settings = (struct settings){.without_local_m2 = without_local_m2};
        if (maven_packages_blank(q->ivy_settings)) {
                settings_defaults(&r->names, &r->settings, user_dir);
        } else {
                int e = maven_packages_is_2_4(q) ? maven_packages_check_settings_path(q->ivy_settings, error) : 0;
                if (e == 0)
                        e = settings_load(&r->names, &r->settings, q->ivy_settings, user_dir, error);
                if (e < 0)
                        return e;
        }
        settings_add_repositories(&r->names, &r->settings, q->repositories, maven_packages_say, out);
        r->folder = names_printf(&r->names, "%s/jars", user_dir);
        return 0;
}

static void maven_packages_list_downloads(struct resolution *r)
{
        const struct module_source source = finder_source(&r->finder);
        _cleanup_(nodes_deinit) struct nodes nodes = resolve_nodes(&r->graph);
        for (size_t i = 0; i < nodes.len; i++)
                for (const struct artifact *a = resolve_artifacts(nodes.data[i], &source); a; a = a->next) {
                        struct download d = {.node = nodes.data[i], .artifact = a};
                        d.path = finder_jar_path(&r->finder, node_resolved_id(nodes.data[i]), a);
                        d.status = d.path ? 0 : -EINVAL;
                        vec_push(&r->downloads, d);
                }
}

/* Resolves and downloads. Returns NULL, or the error in Ivy's words. */
static int maven_packages_try(struct resolution *r, const char **failure, struct fst_error *error)
{
        finder_init(&r->finder, &r->names, &r->settings, &r->silent, maven_packages_say, r->request->out);
        const struct module_source source = finder_source(&r->finder);
        long start = now_ms(), walked;
        r->graph = (struct graph){.names = &r->names};
        int e = resolve(&r->graph, r->root, &source, error);
        if (e < 0)
                return e;
        walked = now_ms();
        maven_packages_list_downloads(r);
        finder_download(&r->finder, &r->downloads);
        r->resolve_ms = walked - start;
        r->download_ms = now_ms() - walked;
        const struct report report = {&r->names,      &r->graph,          &r->downloads,  r->resolve_ms,
                                      r->download_ms, maven_packages_say, r->request->out};
        report_resolution(&report);
        report_problems(&report, &r->finder);
        report_warnings(&report, &r->finder);
        *failure = report_failure(&report);
        return 0;
}

/* Whether the module of a failed jar was found. */
static bool maven_packages_downloads_failed(const struct resolution *r)
{
        for (size_t i = 0; i < r->downloads.len; i++)
                if (r->downloads.data[i].status < 0)
                        return true;
        return false;
}

static void maven_packages_forget_failed(struct resolution *r)
{
        for (size_t i = 0; i < r->downloads.len; i++)
                if (r->downloads.data[i].status < 0)
                        finder_forget(&r->finder, node_resolved_id(r->downloads.data[i].node));
        downloads_deinit(&r->downloads);
        graph_deinit(&r->graph);
        finder_deinit(&r->finder);
}

static bool maven_packages_same_file(const char *a, const char *b)
{
        struct stat x, y;
        return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_size == y.st_size &&
               ((x.st_dev == y.st_dev && x.st_ino == y.st_ino) || x.st_mtime <= y.st_mtime);
}

/* Links a cached jar into the directory, or copies it if linking fails. */
static int maven_packages_put(const char *from, const char *to, struct fst_error *error)
{
        _cleanup_free_ char *other = fetch_part_name(to);
        int r = fetch_make_folder(to, error);
        if (r < 0)
                return r;
        unlink(other); /* left by a process with the same id */
        if (link(from, other) == 0) {
                if (rename(other, to) == 0) {
                        unlink(other); /* rename does nothing if both are the same file */
                        return 0;
                }
                unlink(other);
        }
        struct fetcher local = {NULL, NULL, NULL};
        size_t size;
        return fetch_file(&local, from, to, NULL, &size, error);
}

static int maven_packages_retrieve(struct resolution *r, struct package_jars *jars, struct fst_error *error)
{
        struct names *n = &r->names;
        size_t copied = 0, there = 0, bytes = 0;
        long start = now_ms();
        maven_packages_say(r->request->out, names_printf(n, ":: retrieving :: %s", r->root->id->module->text));
        maven_packages_say(r->request->out, "\tconfs: [" ROOT_CONF "]");
        for (size_t i = 0; i < r->downloads.len; i++) {
                const struct download *d = &r->downloads.data[i];
                struct stat st;
                if (d->status < 0)
                        continue; /* requested by an evicted revision */
                const char *to = pattern_fill(n,
                                              names_printf(n, "%s/%s", r->folder,
                                                           "[organization]_[artifact]-[revision](-[classifier]).[ext]"),
                                              node_resolved_id(d->node), d->artifact, false);
                if (maven_packages_same_file(d->path, to)) {
                        there++;
                } else {
                        int e = maven_packages_put(d->path, to, error);
                        if (e < 0)
                                return e;
                        copied++;
                        bytes += stat(to, &st) == 0 ? (size_t)st.st_size : 0;
                }
                if (strcmp(d->artifact->ext, "jar") == 0)
                        vec_push(jars, mem_strdup(to));
        }
        maven_packages_say(r->request->out,
                           names_printf(n, "\t%zu artifacts copied, %zu already retrieved (%zukB/%ldms)", copied, there,
                                        bytes / 1024, now_ms() - start));
        return 0;
}

static int maven_packages_run(struct resolution *r, struct package_jars *jars, struct fst_error *error)
{
        const char *failure = NULL;
        const char *list = r->request->packages;
        int e = maven_packages_read_settings(r, false, error);
        if (e == 0 && list[strspn(list, ",")] != '\0')
                e = coordinates_parse(list, &r->packages, error);
        if (e < 0)
                return e;
        maven_packages_say(r->request->out,
                           names_printf(&r->names, "Ivy Default Cache set to: %s", r->settings.cache_dir));
        maven_packages_say(r->request->out,
                           names_printf(&r->names, "The jars for the packages stored in: %s", r->folder));
        e = maven_packages_read_exclusions(r, error);
        if (e < 0)
                return e;
        maven_packages_make_root(r);
        maven_packages_say(r->request->out,
                           names_printf(&r->names, ":: resolving dependencies :: %s", r->root->id->text));
        maven_packages_say(r->request->out, "\tconfs: [" ROOT_CONF "]");
        e = maven_packages_try(r, &failure, error);
        if (e == 0 && failure && maven_packages_downloads_failed(r) && maven_packages_blank(r->request->ivy_settings)) {
                maven_packages_forget_failed(r);
                e = maven_packages_read_settings(r, true, error);
                if (e == 0)
                        e = maven_packages_try(r, &failure, error);
        }
        _cleanup_free_ char *printable = failure ? http_printable_line(failure) : NULL;
        if (e == 0 && failure)
                e = error_set(error, -ENOENT, "%s", printable);
        return e < 0 ? e : maven_packages_retrieve(r, jars, error);
}

int packages_resolve(const struct packages_request *request, struct package_jars *jars, struct fst_error *error)
{
        if (maven_packages_blank(request->packages))
                return 0;
        struct package_jars found = {0};
        struct resolution *r = new0(struct resolution);
        r->request = request;
        r->silent = SILENT_HOSTS_INIT;
        int e = maven_packages_run(r, &found, error);
        if (e == 0)
                for (size_t i = 0; i < found.len; i++)
                        vec_push(jars, steal(found.data[i]));
        package_jars_deinit(&found);
        maven_packages_deinit(r);
        free(r);
        if (request->out)
                fflush(request->out);
        return e;
}
