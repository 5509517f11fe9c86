/*
 * Any POM is read or refused, and serves as every other POM that it names. An accepted one can be resolved. Also reads
 * the bytes as an ivy.xml.
 */
#include "base/error.h"
#include "base/mem.h"
#include "ivy/ivy_file.h"
#include "ivy/pom.h"
#include "ivy/resolve.h"

struct input {
        struct names *names;
        const char *data;
        size_t size;
        struct pom poms[8];
        size_t depth;
        struct ivy_module *module;
};

static int get_pom(void *context, struct revision_name *id, const struct pom **pom, struct fst_error *error)
{
        struct input *in = context;
        const struct pom_source source = {in, get_pom};
        if (in->depth == ARRAY_SIZE(in->poms))
                return error_set(error, -ELOOP, "too deep");
        struct pom *next = &in->poms[in->depth++];
        int r = pom_read(in->names, in->data, in->size, &source, next, error);
        *pom = next;
        return r;
}

static int find_revision(void *context, const struct dependency *d, struct found *found, struct fst_error *error)
{
        struct input *in = context;
        found->module = d->id == in->module->id ? in->module : module_default(in->names, d->id);
        return 0;
}

static void discard_line(void *context, const char *line)
{
}

static bool artifact_exists(void *context, const struct node *node, const struct artifact *a)
{
        return true;
}

static void resolve_it(struct input *in)
{
        const struct module_source source = {in, find_revision, discard_line, artifact_exists};
        struct graph g = {.names = in->names};
        struct ivy_module *root =
                module_default(in->names, names_revision(in->names, names_module(in->names, "", ""), "1"));
        struct dependency *d = module_new(in->names, struct dependency);
        d->of = root;
        d->id = in->module->id;
        module_add_mapping(in->names, d, "default", "default(runtime)");
        root->dependencies = d;
        if (resolve(&g, root, &source, NULL) == 0) {
                struct nodes all = resolve_nodes(&g);
                for (size_t i = 0; i < all.len; i++)
                        resolve_artifacts(all.data[i], &source);
                nodes_deinit(&all);
        }
        graph_deinit(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct names names = NAMES_INIT;
        struct input in = {.names = &names, .data = (const char *)data, .size = size};
        const struct pom_source source = {&in, get_pom};
        struct pom pom = {NULL};
        if (pom_read(&names, in.data, size, &source, &pom, NULL) == 0) {
                in.module = pom.module;
                resolve_it(&in);
                pom_deinit(&pom);
        }
        for (size_t i = 0; i < in.depth; i++)
                pom_deinit(&in.poms[i]);
        if (ivy_file_read(&names, in.data, size, &in.module, NULL) == 0)
                resolve_it(&in);
        names_deinit(&names);
        return 0;
}
