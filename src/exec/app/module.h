/*
 * Modules: shared objects with an application's functions, and the identity of a function.
 *
 * A function is known everywhere as (build-id of its module, offset from the module's load address); its symbol is
 * for people. Modules are never unloaded, so whatever is learned about one stays true. What a file says about
 * itself is read bounds-checked before the dynamic linker sees it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define MODULE_BUILD_ID_MAX 32 /* bytes; SHA-1 has 20 */

/* What an ELF file says about itself. */
struct module_info {
        char build_id[2 * MODULE_BUILD_ID_MAX + 1]; /* hexadecimal; "" when there is none */
        uint32_t abi;                               /* FST_ABI it was built against; 0: it does not say */
        uint32_t version;                           /* the newest FST_VERSION among its parts; 0: unknown */
        uint16_t machine;                           /* EM_… */
};

/*
 * Read *@out from the file's content. @name is for messages. -ENOEXEC with @error for what is no shared object of
 * this machine, is damaged, or was built against several FST_ABI at once. Pure.
 */
int module_inspect(const void *data, size_t len, const char *name, struct module_info *out, struct fst_error *error);

/* The same for the file at @path; -errno when it cannot be read. */
int module_inspect_file(const char *path, struct module_info *out, struct fst_error *error);

/* A loaded module; lives for ever. */
struct module {
        char *name; /* "wordcount.so" */
        char *path;
        struct module_info info;
        uintptr_t base;       /* load address: offsets count from here */
        uintptr_t start, end; /* of its executable code */
        void *handle;         /* dlopen's; NULL for what the process was started with */
};

/*
 * Load the shared object at @path after checking it: an ELF file, for this machine, built against this FST_ABI, every
 * symbol found. A second call for the same file gives the same module. Any thread. -errno with an @error that says
 * what to do.
 */
int module_load(const char *path, const struct module **out, struct fst_error *error);

/*
 * An exported function of the module. -ENOENT with an @error that lists the functions that there are, and names the
 * module as @shown, what the user called it.
 */
int module_symbol(const struct module *m, const char *symbol, const char *shown, void (**out)(void),
                  struct fst_error *error);

/* Where a function is. */
struct module_function {
        const struct module *module;
        uint64_t offset;    /* from module->base */
        const char *symbol; /* NULL when the module does not tell; lives for ever */
        char *name;         /* "split in wordcount.so"; lives for ever: made once for each function */
};

/*
 * Describe @code, a function of any loaded module (for the engine's own executable too). @name is what the
 * application calls it, used where the module has no symbol for it; may be NULL. -EINVAL with @error for an address
 * that is in no loaded module, such as a nested function's trampoline. Takes a lock: not for every row. Any thread.
 */
int module_describe(void (*code)(void), const char *name, struct module_function *out, struct fst_error *error);

/*
 * The other way: the function at @offset of the loaded module with @build_id. -ENOENT with @error when no such
 * module is loaded (it names those that are), -EINVAL when the offset is not in its code.
 */
int module_resolve(const char *build_id, uint64_t offset, void (**out)(void), struct fst_error *error);

/* The loaded module with @build_id, or NULL. Any thread. */
const struct module *module_find(const char *build_id);

/* The loaded shared objects, oldest first, at most @most of them; returns how many there are. Any thread. */
size_t module_list(const struct module **list, size_t most);
