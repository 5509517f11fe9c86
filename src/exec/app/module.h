/*
 * Modules: shared objects with an application's functions, and the identity of a function.
 *
 * A function is identified by the build-id of its module and the offset from the module's load address. Its symbol is
 * for people. Modules are never unloaded, so data about a module stays valid. The ELF file is checked before the
 * dynamic linker opens it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct elf_symbol;
struct fst_error;

#define MODULE_BUILD_ID_MAX 32 /* bytes; SHA-1 has 20 */

/* Data that an ELF file contains about itself. */
struct module_info {
        char build_id[2 * MODULE_BUILD_ID_MAX + 1]; /* hexadecimal; "" if it has none */
        uint32_t abi;                               /* FST_ABI it was built against; 0: not stated */
        uint32_t version;                           /* the newest FST_VERSION among its parts; 0: unknown */
        uint64_t instruction_sets;                  /* that its code may need: firesteel/detail/instruction_sets.h */
        uint16_t machine;                           /* EM_… */
};

/*
 * Reads *@out from the file's content. @name is for messages. Returns -ENOEXEC with @error if @data is not a shared
 * object for this machine, is damaged, or was built against several FST_ABI at once. Pure.
 */
int module_inspect(const void *data, size_t len, const char *name, struct module_info *out, struct fst_error *error);

/* Does the same for the file at @path; -errno if it cannot be read. */
int module_inspect_file(const char *path, struct module_info *out, struct fst_error *error);

/* A loaded module. Lives as long as the process. */
struct module {
        char *name; /* "wordcount.so" */
        char *path;
        struct module_info info;
        uintptr_t base;       /* load address; offsets start here */
        uintptr_t start, end; /* of its executable code */
        void *handle;         /* of dlopen; NULL for objects that the process started with */
};

/*
 * Loads the shared object at @path after checks: an ELF file for this machine, its processor and this FST_ABI, with
 * every symbol resolved. A second call for the same file returns the same module. Any thread. Returns -errno with
 * @error, which contains a remedy.
 */
int module_load(const char *path, const struct module **out, struct fst_error *error);

/*
 * Finds an exported function of the module. Returns -ENOENT with @error, which lists the module's functions and names
 * the module @shown, as the user did.
 */
int module_symbol(const struct module *m, const char *symbol, const char *shown, void (**out)(void),
                  struct fst_error *error);

/* The location of a function. */
struct module_function {
        const struct module *module;
        uint64_t offset;    /* from module->base */
        const char *symbol; /* NULL if the module has no symbol for it; lives forever */
        char *name;         /* "split in wordcount.so"; allocated once for each function, lives forever */
};

/*
 * Describes @code, a function of any loaded module (or of the engine's executable). @name is the application's name for
 * it, used if the module has no symbol. May be NULL. Returns -EINVAL with @error for an address outside of loaded
 * modules, such as a nested function's trampoline. Takes a lock: do not call it for every row. Any thread.
 */
int module_describe(void (*code)(void), const char *name, struct module_function *out, struct fst_error *error);

/*
 * Finds the function at @offset of the loaded module with @build_id. Returns -ENOENT with @error, which lists the
 * loaded modules, if there is no such module, -EINVAL if @offset is outside of its code.
 */
int module_resolve(const char *build_id, uint64_t offset, void (**out)(void), struct fst_error *error);

/* elf_symbols_visit for the file of @m. 0, or -errno when it cannot be read. */
int module_symbols(const struct module *m, int (*visit)(void *context, const struct elf_symbol *symbol), void *context);

/* Returns the loaded module with @build_id, or NULL. Any thread. */
const struct module *module_find(const char *build_id);

/* Fills @list with at most @most loaded shared objects, oldest first, and returns the number loaded. Any thread. */
size_t module_list(const struct module **list, size_t most);
