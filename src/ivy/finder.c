/*
 * See finder.h. A repository's data is untrusted: names that would lead out of the cache are rejected before they
 * become part of a path.
 */
#include "ivy/finder.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/string_prefix.h"
#include "conf/properties.h"
#include "ivy/ivy_file.h"
#include "ivy/revision.h"
#include "text/xml_tree.h"

#include <unistd.h>

#define MAX_PARENTS 50

struct known_pom {
        const struct revision_name *id;
        struct pom pom;
        bool reading, ready;
        int failed;
        struct ivy_module *module; /* of an ivy.xml, or of a lone jar; else the POM's */
        struct repository *repository;
        bool searched, downloaded;
        char *message;
};

void finder_init(struct finder *f, struct names *n, const struct settings *s, struct silent_hosts *silent,
                 void (*say)(void *context, const char *line), void *context)
{
        *f = (struct finder){
                .names = n, .settings = s, .fetcher = {NULL, s->credentials, silent}, .say = say, .context = context};
}

void finder_deinit(struct finder *f)
{
        for (size_t i = 0; i < f->poms.len; i++) {
                if (f->poms.data[i]->ready)
                        pom_deinit(&f->poms.data[i]->pom);
                free(f->poms.data[i]->message);
                free(f->poms.data[i]);
        }
        vec_deinit(&f->poms);
        vec_deinit(&f->warnings);
        fetcher_deinit(&f->fetcher);
}

static void finder_warn(struct finder *f, const char *line)
{
        vec_push(&f->warnings, line);
}

/* --- patterns ----------------------------------------------------------------------------------------------- */

static const char *finder_token_value(const char *token, size_t len, const struct revision_name *id,
                                      const struct artifact *a)
{
        const struct {
                const char *name, *value;
        } tokens[] = {{"organisation", id->module->organisation},
                      {"organization", id->module->organisation},
                      {"orgPath", id->module->organisation},
                      {"module", id->module->name},
                      {"revision", id->revision},
                      {"artifact", a->name},
                      {"type", a->type},
                      {"ext", a->ext},
                      {"classifier", a->classifier ? a->classifier : ""}};
        for (size_t i = 0; i < ARRAY_SIZE(tokens); i++)
                if (strlen(tokens[i].name) == len && strncmp(tokens[i].name, token, len) == 0)
                        return tokens[i].value;
        return NULL;
}

const char *pattern_fill(struct names *n, const char *pattern, const struct revision_name *id, const struct artifact *a,
                         bool m2)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        size_t part = 0; /* start of an optional part */
        bool optional = false, has_token = false, has_value = false;
        for (const char *p = pattern; *p; p++) {
                size_t len = *p == '[' ? strcspn(p + 1, "]") : 0;
                if (*p == '[' && p[len + 1] == ']') {
                        const char *value = finder_token_value(p + 1, len, id, a);
                        bool slashes =
                                strncmp(p, "[orgPath]", 9) == 0 || (m2 && (strncmp(p, "[organisation]", 14) == 0 ||
                                                                           strncmp(p, "[organization]", 14) == 0));
                        has_token = true;
                        has_value |= value && *value;
                        if (!value && !optional)
                                buf_append(&out, p, len + 2);
                        for (const char *c = value ? value : ""; *c; c++)
                                buf_putc(&out, slashes && *c == '.' ? '/' : *c);
                        p += len + 1;
                } else if (*p == '(' && !optional) {
                        optional = true;
                        has_token = has_value = false;
                        part = out.len;
                } else if (*p == ')' && optional) {
                        if (has_token && !has_value)
                                buf_truncate(&out, part);
                        optional = false;
                } else {
                        buf_putc(&out, *p);
                }
        }
        return names_copy(n, buf_text(&out));
}

const char *artifact_text(struct names *n, const struct revision_name *id, const struct artifact *a)
{
        return strcmp(a->type, a->ext) == 0 ? names_printf(n, "%s!%s.%s", id->text, a->name, a->ext)
                                            : names_printf(n, "%s!%s.%s(%s)", id->text, a->name, a->ext, a->type);
}

/* Whether the text is a single path component other than "." and "..". */
static bool finder_is_file_name(const char *text)
{
        return *text && !strchr(text, '/') && !strchr(text, '\\') && strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static bool finder_is_safe(const struct revision_name *id)
{
        return finder_is_file_name(id->module->organisation) && finder_is_file_name(id->module->name) &&
               finder_is_file_name(id->revision);
}

static bool finder_is_safe_artifact(const struct artifact *a)
{
        return finder_is_file_name(a->name) && finder_is_file_name(a->type) && finder_is_file_name(a->ext) &&
               (!a->classifier || finder_is_file_name(a->classifier));
}

/* --- repositories ------------------------------------------------------------------------------------------- */

/* Warns once for each host. The host is then not contacted again. */
static void finder_note_failure(struct finder *f, int r, const char *message)
{
        if (r == -EHOSTUNREACH || r == -ECONNREFUSED || r == -ETIMEDOUT || r == -ENETUNREACH)
                finder_warn(f, names_printf(f->names, "%s; it is not asked again", message));
}

static int finder_get_text(struct finder *f, const char *location, struct buf *text)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = fetch_text(&f->fetcher, location, text, &error);
        if (r < 0)
                finder_note_failure(f, r, error_message(&error));
        return r;
}

static bool finder_is_there(struct finder *f, const char *location)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = fetch_exists(&f->fetcher, location, &error);
        if (r < 0)
                finder_note_failure(f, r, error_message(&error));
        return r == 0;
}

static const char *finder_replace_first(struct names *n, const char *text, const char *what, const char *with)
{
        const char *at = strstr(text, what);
        return at ? names_printf(n, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what)) : text;
}

/* "1.0-20240101.120000-7" is a snapshot of 1.0: returns the length of "1.0", else 0. */
static size_t finder_timestamped(const char *revision)
{
        static const char form[] = "-dddddddd.dddddd-";
        size_t n = strlen(revision), build = 0;
        while (build < n && revision[n - 1 - build] >= '0' && revision[n - 1 - build] <= '9')
                build++;
        if (build == 0 || n < build + sizeof(form) - 1)
                return 0;
        const char *at = revision + n - build - (sizeof(form) - 1);
        for (size_t i = 0; i < sizeof(form) - 1; i++)
                if (form[i] == 'd' ? at[i] < '0' || at[i] > '9' : form[i] == '-' && at[i] != '-')
                        return 0;
        return (size_t)(at - revision);
}

/* A snapshot's files have its timestamp in their names. */
static const char *finder_snapshot_pattern(struct finder *f, const struct repository *r, const struct revision_name *id,
                                           const char *pattern)
{
        size_t base = finder_timestamped(id->revision);
        if (!r->m2 || !r->root)
                return pattern;
        if (base > 0)
                return finder_replace_first(f->names, pattern, "/[revision]",
                                            names_printf(f->names, "/%.*s-SNAPSHOT", (int)base, id->revision));
        if (!text_ends_with(id->revision, "-SNAPSHOT"))
                return pattern;
        const struct artifact none = {.name = id->module->name, .type = "pom", .ext = "pom"};
        const char *metadata =
                names_printf(f->names, "%s%s", r->root, "[organisation]/[module]/[revision]/maven-metadata.xml");
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (finder_get_text(f, pattern_fill(f->names, metadata, id, &none, true), &text) < 0)
                return pattern;
        const char *stamp = metadata_snapshot(f->names, buf_text(&text), text.len);
        return stamp ? finder_replace_first(f->names, pattern, "-[revision]",
                                            names_printf(f->names, "-%.*s%s",
                                                         (int)(strlen(id->revision) - strlen("SNAPSHOT")), id->revision,
                                                         stamp))
                     : pattern;
}

const char *finder_location(struct finder *f, const struct repository *r, const struct revision_name *id,
                            const struct artifact *a, size_t pattern)
{
        return pattern_fill(f->names, finder_snapshot_pattern(f, r, id, r->artifact_patterns.data[pattern]), id, a,
                            r->m2);
}

static struct artifact finder_description_of(const struct repository *r, const struct revision_name *id)
{
        return r->m2 && r->root ? (struct artifact){.name = id->module->name, .type = "pom", .ext = "pom"}
                                : (struct artifact){.name = "ivy", .type = "ivy", .ext = "xml"};
}

int metadata_revisions(struct names *n, const char *data, size_t len, struct texts *revisions)
{
        struct xml_node *root;
        int r = xml_parse(&n->arena, data, len, &root, NULL);
        if (r < 0)
                return r;
        xml_each(v, xml_child(xml_child(root, "versioning"), "versions"))
        {
                const char *text = v->text + strspn(v->text, " \t\r\n");
                size_t m = strcspn(text, " \t\r\n");
                if (strcmp(v->name, "version") == 0 && m > 0)
                        vec_push(revisions, arena_copy(&n->arena, text, m));
        }
        return 0;
}

const char *metadata_snapshot(struct names *n, const char *data, size_t len)
{
        struct xml_node *root;
        if (xml_parse(&n->arena, data, len, &root, NULL) < 0)
                return NULL;
        const struct xml_node *snapshot = xml_child(xml_child(root, "versioning"), "snapshot");
        const char *time = xml_child_text(snapshot, "timestamp"), *build = xml_child_text(snapshot, "buildNumber");
        const char *stamp = time && *time ? names_printf(n, "%s-%s", time, build ? build : "") : NULL;
        return stamp && finder_is_file_name(stamp) ? stamp : NULL;
}

/* The revisions in a repository, in its order. */
static void finder_list_revisions(struct finder *f, const struct repository *r, const struct revision_name *id,
                                  const char *pattern, struct texts *out)
{
        const struct artifact a = finder_description_of(r, id);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (r->m2 && r->root) {
                const char *metadata = names_printf(f->names, "%s[organisation]/[module]/maven-metadata.xml", r->root);
                if (finder_get_text(f, pattern_fill(f->names, metadata, id, &a, true), &text) == 0 &&
                    metadata_revisions(f->names, buf_text(&text), text.len, out) == 0)
                        return;
        }
        const char *token = strstr(pattern, "[revision]");
        if (!token || (token > pattern && token[-1] != '/'))
                return;
        const char *folder = arena_copy(&f->names->arena, pattern, (size_t)(token - pattern));
        folder = pattern_fill(f->names, folder, id, &a, r->m2);
        _cleanup_(fetch_list_deinit) struct fetch_list names = {0};
        if (fetch_names(&f->fetcher, folder, &names, NULL) < 0)
                return;
        for (size_t i = 0; i < names.len; i++)
                vec_push(out, names_copy(f->names, names.data[i]));
}

static int finder_compare_revisions(const void *a, const void *b)
{
        return revision_compare(*(const char *const *)b, *(const char *const *)a);
}

/* --- descriptions ------------------------------------------------------------------------------------------- */

static const char *finder_cache_path(struct finder *f, const struct revision_name *id, const char *pattern)
{
        const struct artifact none = {.name = "ivy", .type = "ivy", .ext = "xml"};
        return names_printf(f->names, "%s/%s", f->settings->cache_dir,
                            pattern_fill(f->names, pattern, id, &none, false));
}

#define ORIGINAL "[organisation]/[module]/ivy-[revision].xml.original"
#define WRITTEN "[organisation]/[module]/ivy-[revision].xml"
#define DATA "[organisation]/[module]/ivydata-[revision].properties"
#define JAR "[organisation]/[module]/[type]s/[artifact]-[revision](-[classifier]).[ext]"

static int finder_other_pom(void *context, struct revision_name *id, const struct pom **pom, struct fst_error *error);

static int finder_check_names(const struct known_pom *k, const struct revision_name *id, const char *location,
                              struct fst_error *error)
{
        const struct module_name *is = k->module->id->module, *wanted = id->module;
        if (strcmp(is->organisation, wanted->organisation) != 0)
                return error_set(error, -EINVAL,
                                 "inconsistent module descriptor file found in '%s': bad organisation: expected='%s' "
                                 "found='%s'; ",
                                 location, wanted->organisation, is->organisation);
        if (strcmp(is->name, wanted->name) != 0)
                return error_set(error, -EINVAL,
                                 "inconsistent module descriptor file found in '%s': bad module name: expected='%s' "
                                 "found='%s'; ",
                                 location, wanted->name, is->name);
        if (strcmp(k->module->id->revision, id->revision) != 0 && finder_timestamped(id->revision) == 0)
                return error_set(error, -EINVAL,
                                 "inconsistent module descriptor file found in '%s': bad revision: expected='%s' "
                                 "found='%s'; ",
                                 location, id->revision, k->module->id->revision);
        return 0;
}

/* Parses the text into @k's module. */
static int finder_read_description(struct finder *f, struct known_pom *k, const struct revision_name *id,
                                   const char *location, const struct buf *text, struct fst_error *error)
{
        const struct pom_source source = {f, finder_other_pom};
        int r;
        if (strstr(buf_text(text), "<ivy-module")) {
                r = ivy_file_read(f->names, buf_text(text), text->len, &k->module, error);
                if (r == 0 && *k->module->id->revision == '\0')
                        k->module->id = names_revision(f->names, k->module->id->module, id->revision);
        } else {
                r = pom_read(f->names, buf_text(text), text->len, &source, &k->pom, error);
                k->ready = r == 0;
                k->module = r == 0 ? k->pom.module : NULL;
        }
        if (r == 0)
                r = finder_check_names(k, id, location, error);
        if (r < 0 && k->ready) {
                pom_deinit(&k->pom);
                k->ready = false;
        }
        if (r < 0)
                k->module = NULL;
        return r;
}

static void finder_add_known(struct finder *f, const struct known_pom *k, const struct revision_name *id,
                             const struct buf *text)
{
        _cleanup_free_ char *data = mem_printf("#ivy cached data file for %s\nresolver=%s\nartifact.resolver=%s\n",
                                               id->text, k->repository->name, k->repository->name);
        _cleanup_free_ char *own = NULL;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r;
        if (text) {
                r = fetch_store(finder_cache_path(f, id, ORIGINAL), buf_text(text), text->len, &error);
        } else {
                own = mem_printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ivy-module version=\"2.0\">\n"
                                 "\t<info organisation=\"%s\" module=\"%s\" revision=\"%s\" status=\"release\" "
                                 "default=\"true\"/>\n</ivy-module>\n",
                                 id->module->organisation, id->module->name, id->revision);
                r = strpbrk(id->text, "<>&\"")
                            ? 0
                            : fetch_store(finder_cache_path(f, id, WRITTEN), own, strlen(own), &error);
        }
        if (r == 0)
                r = fetch_store(finder_cache_path(f, id, DATA), data, strlen(data), &error);
        if (r < 0)
                finder_warn(f, names_printf(f->names, "impossible to put metadata file in cache: %s",
                                            error_message(&error)));
}

static bool finder_find_in_cache(struct finder *f, struct known_pom *k, const struct revision_name *id)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_(strmap_deinit) struct strmap data = STRMAP_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const char *path = finder_cache_path(f, id, ORIGINAL);
        if (fetch_text(&f->fetcher, path, &text, NULL) < 0) {
                path = finder_cache_path(f, id, WRITTEN);
                if (fetch_text(&f->fetcher, path, &text, NULL) < 0 || !strstr(buf_text(&text), "default=\"true\""))
                        return false;
        }
        if (finder_read_description(f, k, id, path, &text, &error) < 0)
                return false;
        const char *name = NULL;
        if (properties_load(&data, finder_cache_path(f, id, DATA), NULL) == 0)
                name = strmap_get(&data, "resolver");
        k->repository = name ? settings_repository(f->settings, name) : NULL;
        if (!k->repository)
                k->repository = f->settings->top;
        if (k->module->is_default) {
                k->module = module_default(f->names, names_revision(f->names, id->module, id->revision));
        }
        return true;
}

/* Searches one repository that is not a chain. Returns 0 or -ENOENT. *why describes an invalid description. */
static int finder_find_here(struct finder *f, struct repository *r, struct known_pom *k, struct revision_name *id,
                            const char **why)
{
        const struct artifact description = finder_description_of(r, id);
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        k->repository = r;
        for (size_t i = 0; i < r->ivy_patterns.len; i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                const char *pattern = finder_snapshot_pattern(f, r, id, r->ivy_patterns.data[i]);
                const char *location = pattern_fill(f->names, pattern, id, &description, r->m2);
                if (finder_get_text(f, location, &text) < 0)
                        continue;
                k->searched = k->downloaded = true;
                int e = finder_read_description(f, k, id, location, &text, &error);
                if (e == 0) {
                        finder_add_known(f, k, id, &text);
                        return 0;
                }
                if (strncmp(error_message(&error), "inconsistent", 12) == 0)
                        *why = names_copy(f->names, error_message(&error));
                finder_warn(f, names_printf(f->names, "\t%s: %s: %s", r->name, location, error_message(&error)));
                return -ENOENT;
        }
        if (r->needs_descriptor)
                return -ENOENT;
        struct ivy_module *m = module_default(f->names, id);
        for (size_t i = 0; i < r->artifact_patterns.len; i++) {
                const char *location = finder_location(f, r, id, m->artifacts, i);
                if (!finder_is_there(f, location))
                        continue;
                k->module = m;
                k->searched = true;
                k->downloaded = false;
                finder_add_known(f, k, id, NULL);
                return 0;
        }
        return -ENOENT;
}

static int finder_find_in(struct finder *f, struct repository *r, struct known_pom *k, struct revision_name *id,
                          const char **why)
{
        if (!r->is_chain)
                return finder_find_here(f, r, k, id, why);
        struct known_pom fallback = {.module = NULL};
        for (struct repository *m = r->members; m; m = m->next_member) {
                if (finder_find_in(f, m, k, id, why) < 0)
                        continue;
                if (!k->module->is_default || r->return_first)
                        return 0;
                if (!fallback.module)
                        fallback = *k;
                k->module = NULL;
        }
        if (!fallback.module)
                return -ENOENT;
        k->module = fallback.module;
        k->repository = fallback.repository;
        k->searched = true;
        k->downloaded = false;
        return 0;
}

/* The list of tried locations, as Ivy prints it. */
static void finder_warn_tried(struct finder *f, const struct repository *r, const struct revision_name *id)
{
        if (r->is_chain) {
                for (const struct repository *m = r->members; m; m = m->next_member)
                        finder_warn_tried(f, m, id);
                return;
        }
        const struct artifact description = finder_description_of(r, id);
        const struct artifact jar = {.name = id->module->name, .type = "jar", .ext = "jar"};
        finder_warn(f, names_printf(f->names, "==== %s: tried", r->name));
        for (size_t i = 0; i < r->ivy_patterns.len; i++)
                finder_warn(f, names_printf(f->names, "  %s",
                                            pattern_fill(f->names, r->ivy_patterns.data[i], id, &description, r->m2)));
        if (r->needs_descriptor)
                return;
        finder_warn(f, names_printf(f->names, "  -- artifact %s:", artifact_text(f->names, id, &jar)));
        for (size_t i = 0; i < r->artifact_patterns.len; i++)
                finder_warn(f, names_printf(f->names, "  %s",
                                            pattern_fill(f->names, r->artifact_patterns.data[i], id, &jar, r->m2)));
}

/* The description of a revision that is not dynamic. Searches once. */
static struct known_pom *finder_get_known(struct finder *f, struct revision_name *id)
{
        struct known_pom *k = NULL;
        size_t reading = 0;
        for (size_t i = 0; i < f->poms.len; i++) {
                reading += f->poms.data[i]->reading;
                if (f->poms.data[i]->id == id)
                        k = f->poms.data[i];
        }
        if (k)
                return k;
        k = new0(struct known_pom);
        k->id = id;
        vec_push(&f->poms, k);
        const char *why = NULL;
        if (reading > MAX_PARENTS || !finder_is_safe(id)) {
                k->failed = -EINVAL;
                k->message = mem_printf(reading > MAX_PARENTS ? "%s: parents are nested too deeply"
                                                              : "%s is not a valid file name",
                                        id->text);
                return k;
        }
        k->reading = true;
        if (!finder_find_in_cache(f, k, id) && finder_find_in(f, f->settings->top, k, id, &why) < 0) {
                k->failed = -ENOENT;
                k->message = mem_strdup(why ? why : "not found");
        }
        k->reading = false;
        return k;
}

static int finder_other_pom(void *context, struct revision_name *id, const struct pom **pom, struct fst_error *error)
{
        struct known_pom *k = finder_get_known(context, id);
        if (k->reading)
                return error_set(error, -ELOOP, "%s: POMs refer to each other in a cycle", id->text);
        if (k->failed)
                return error_set(error, k->failed, "%s", k->message);
        if (!k->ready)
                return error_set(error, -EINVAL, "%s: a POM is missing", id->text);
        *pom = &k->pom;
        return 0;
}

/* Finds the latest revision in @r (or its members) that the range allows and that is later than *best. */
static void finder_find_latest(struct finder *f, const struct repository *r, const struct revision_name *asked,
                               struct revision_name **best)
{
        for (const struct repository *m = r->is_chain ? r->members : NULL; m; m = m->next_member)
                finder_find_latest(f, m, asked, best);
        bool described = r->ivy_patterns.len > 0;
        const struct texts *patterns = described ? &r->ivy_patterns : &r->artifact_patterns;
        for (size_t p = 0; !r->is_chain && p < patterns->len; p++) {
                struct texts found = {0};
                finder_list_revisions(f, r, asked, patterns->data[p], &found);
                if (found.len > 1)
                        qsort(found.data, found.len, sizeof(*found.data), finder_compare_revisions);
                for (size_t i = 0; i < found.len; i++) {
                        if (!finder_is_file_name(found.data[i]) || !revision_accepts(asked->revision, found.data[i]))
                                continue;
                        if (*best && revision_compare(found.data[i], (*best)->revision) <= 0)
                                break;
                        struct revision_name *id = names_revision(f->names, asked->module, found.data[i]);
                        struct known_pom *k = finder_get_known(f, id);
                        if (k->failed ||
                            (revision_needs_status(asked->revision) &&
                             (k->module->is_default || !revision_accepts_status(asked->revision, k->module->status))))
                                continue;
                        *best = id;
                        break;
                }
                free(found.data);
        }
}

static int finder_find(void *context, const struct dependency *d, struct found *found, struct fst_error *error)
{
        struct finder *f = context;
        struct revision_name *id = d->id;
        if (!f->settings->top)
                return error_set(error, -ENOENT, "no resolver found for %s: check your configuration",
                                 id->module->text);
        if (!finder_is_file_name(id->module->organisation) || !finder_is_file_name(id->module->name))
                return error_set(error, -EINVAL, "%s is not a valid file name", id->module->text);
        if (revision_is_dynamic(id->revision)) {
                id = NULL;
                finder_find_latest(f, f->settings->top, d->id, &id);
        }
        struct known_pom *k = id ? finder_get_known(f, id) : NULL;
        if (!k || k->failed) {
                finder_warn(f, names_printf(f->names, "\tmodule not found: %s", d->id->text));
                if (!k || k->failed == -ENOENT)
                        finder_warn_tried(f, f->settings->top, d->id);
                return error_set(error, -ENOENT, "%s", k ? k->message : "not found");
        }
        *found = (struct found){k->module, k->repository, k->searched, k->downloaded};
        f->say(f->context, names_printf(f->names, "\tfound %s in %s", k->module->id->text, k->repository->name));
        return 0;
}

/* --- jars --------------------------------------------------------------------------------------------------- */

/* The repository of a node, or the members of a chain in their order. */
static const char *finder_locate(struct finder *f, const struct repository *r, const struct revision_name *id,
                                 const struct artifact *a)
{
        if (a->url)
                return a->url;
        for (const struct repository *m = r->is_chain ? r->members : NULL; m; m = m->next_member) {
                const char *location = finder_locate(f, m, id, a);
                if (location)
                        return location;
        }
        for (size_t i = 0; !r->is_chain && i < r->artifact_patterns.len; i++) {
                const char *location = finder_location(f, r, id, a, i);
                if (finder_is_there(f, location))
                        return location;
        }
        return NULL;
}

const char *finder_jar_path(struct finder *f, const struct revision_name *id, const struct artifact *a)
{
        if (!finder_is_safe(id) || !finder_is_safe_artifact(a))
                return NULL;
        return names_printf(f->names, "%s/%s", f->settings->cache_dir, pattern_fill(f->names, JAR, id, a, false));
}

static bool finder_exists(void *context, const struct node *node, const struct artifact *a)
{
        struct finder *f = context;
        struct revision_name *id = node_resolved_id(node);
        const char *path = finder_jar_path(f, id, a);
        return path && (access(path, R_OK) == 0 || finder_locate(f, f->settings->top, id, a));
}

struct module_source finder_source(struct finder *f)
{
        return (struct module_source){f, finder_find, f->say, finder_exists};
}

void finder_forget(struct finder *f, const struct revision_name *id)
{
        unlink(finder_cache_path(f, id, WRITTEN));
        unlink(finder_cache_path(f, id, ORIGINAL));
        unlink(finder_cache_path(f, id, DATA));
}
