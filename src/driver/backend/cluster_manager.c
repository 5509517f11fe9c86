/* Finds the cluster manager of a master URL; see cluster_manager.h. */
#include "driver/backend/cluster_manager.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/master_url.h"

const struct cluster_manager_class *cluster_manager_by_prefix(const char *master)
{
        for (const struct cluster_manager_class *const *c = cluster_managers; *c; c++)
                if (text_starts_with(master, (*c)->prefix))
                        return *c;
        return NULL;
}

static bool cluster_manager_accepts(const struct cluster_manager_class *c, const char *master,
                                    enum submit_compat compat)
{
        return text_starts_with(master, c->prefix) && (!c->accepts || c->accepts(master, compat));
}

/* "Master must either be yarn or start with spark, k8s, or local": names a manager without a scheme in full. */
static int cluster_manager_refuse_unknown(enum submit_compat compat, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf whole = BUF_INIT, begins = BUF_INIT;
        const struct cluster_manager_class *last = NULL;
        for (const struct cluster_manager_class *const *at = cluster_managers; *at; at++) {
                const struct cluster_manager_class *c = *at;
                if (c->unlisted || !cluster_manager_accepts(c, c->scheme ? c->scheme : c->prefix, compat))
                        continue;
                if (!c->scheme && c->accepts)
                        buf_printf(&whole, "be %s or ", c->prefix);
                else if (last)
                        buf_printf(&begins, "%s, ", last->prefix);
                if (c->scheme || !c->accepts)
                        last = c;
        }
        return error_set(error, -EINVAL, "Master must either %sstart with %sor %s", buf_text(&whole), buf_text(&begins),
                         last->prefix);
}

int cluster_manager_find(const char *master, enum submit_compat compat, const struct cluster_manager_class **out,
                         struct fst_error *error)
{
        for (const struct cluster_manager_class *const *c = cluster_managers; *c; c++) {
                if (cluster_manager_accepts(*c, master, compat)) {
                        *out = *c;
                        return 0;
                }
        }
        return cluster_manager_refuse_unknown(compat, error);
}

int cluster_manager_find_native(const char *master, enum submit_compat compat, const struct cluster_manager_class **out,
                                struct fst_error *error)
{
        const struct cluster_manager_class *c = cluster_manager_by_prefix(master);
        if (!c || !c->native_in_all_versions)
                return cluster_manager_find(master, compat, out, error);
        *out = c;
        return 0;
}

const struct cluster_manager_class *cluster_manager_for_request(const char *master, struct fst_error *error)
{
        const struct cluster_manager_class *c = cluster_manager_by_prefix(master);
        if (c && c->kill && c->status && text_starts_with(master, c->scheme ? c->scheme : c->prefix))
                return c;
        error_set(error, -ENOTSUP, "No external SparkSubmitOperations clients found for master url: '%s'", master);
        return NULL;
}

static int cluster_manager_refuse_unsupported(const char *text, const struct cluster_manager_class *manager,
                                              struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        for (const struct cluster_manager_class *const *at = cluster_managers; *at; at++)
                if ((*at)->in_process || (*at)->executor_manager_new)
                        buf_printf(&list, "%s%s", list.len ? "; " : "", (*at)->example);
        return error_set(error, -ENOTSUP,
                         "master '%s': this version of Firesteel does not run applications on %s, but on these: %s",
                         text, manager->title, buf_text(&list));
}

static int cluster_manager_refuse_malformed(const char *text, const struct cluster_manager_class *manager,
                                            struct fst_error *error)
{
        return error_set(error, -EINVAL, "Could not parse Master URL: '%s' (as in %s)", text, manager->example);
}

int cluster_manager_read(const char *text, enum submit_compat compat, int processors,
                         const struct cluster_manager_class **out, struct master_url *url, struct fst_error *error)
{
        const struct cluster_manager_class *c = NULL;
        int r = cluster_manager_find_native(text, compat, &c, error);
        if (r < 0)
                return error_wrap(error, r, "master '%s'", text);
        if (!c->in_process && !c->executor_manager_new)
                return cluster_manager_refuse_unsupported(text, c, error);
        if (c->scheme && (!text_starts_with(text, c->scheme) || !text[strlen(c->scheme)]))
                return cluster_manager_refuse_malformed(text, c, error);
        if (c->parse && (r = c->parse(text, processors, url, error)) < 0)
                return r;
        *out = c;
        return 0;
}
