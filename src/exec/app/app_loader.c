/* See app_loader.h. The name tells the kind of a file. Module.h checks its content. */
#include "exec/app/app_loader.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "exec/app/app_compiler.h"
#include "exec/app/instruction_sets.h"
#include "exec/app/module.h"
#include "exec/app/source_text.h"

#include <unistd.h>

/*
 * Finds the entry. A name in a package ("org.x.Pi") is a Java class: tries a function of the class's simple name, then
 * the module's main.
 */
static int find_entry(const struct module *module, const char *name, const char *shown, void (**out)(void),
                      struct fst_error *error)
{
        const char *dot = strrchr(name, '.');
        int r = module_symbol(module, name, shown, out, error);
        if (r != -ENOENT || !dot ||
            (module_symbol(module, dot + 1, shown, out, NULL) < 0 &&
             module_symbol(module, "main", shown, out, NULL) < 0))
                return r;
        error_deinit(error);
        return 0;
}

int app_load(const struct app_options *options, struct app *out, struct fst_error *error)
{
        if (access(options->path, R_OK) < 0)
                return error_errno(error, "application %s", options->path);
        _cleanup_free_ char *compiled = NULL;
        const char *path = options->path;
        if (text_ends_with(path, ".c")) {
                const char *march;
                int r = instruction_sets_march(options->cc_march, options->master, &march, error);
                if (r < 0)
                        return r;
                struct app_compiler compiler = {.source = path,
                                                .flags = options->cc_flags,
                                                .march = march,
                                                .sanitizers = options->cc_sanitize,
                                                .local_dir = options->local_dir};
                r = app_compiler_run(&compiler, &compiled, error);
                if (r < 0)
                        return r;
                path = compiled;
        }
        struct app app;
        void (*entry)(void);
        const char *name = options->entry ? options->entry : "main";
        int r = module_load(path, &app.module, error);
        if (r < 0)
                return r;
        const char *slash = strrchr(options->path, '/');
        r = find_entry(app.module, name, slash ? slash + 1 : options->path, &entry, error);
        if (r == -ENOENT)
                return FST_APP_E_NO_ENTRY;
        if (r < 0)
                return r;
        if (compiled)
                source_text_keep(options->path);
        app.main = (app_main)entry;
        *out = app;
        return 0;
}
