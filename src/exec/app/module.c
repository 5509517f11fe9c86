/*
 * Modules and the identity of functions; see module.h.
 *
 * An offset identifies a function better than a symbol: most functions of an application are static, and two builds of
 * one source have the same symbols at different addresses. Build-id and offset name code exactly, even in stripped
 * files.
 *
 * The registry (a list under one mutex) only grows: functions, their names and pointers into modules may be stored
 * anywhere, so modules are never unloaded. ELF data is read bounds-checked from an untrusted file, and through
 * dl_iterate_phdr for objects that the dynamic linker has loaded.
 */
#include "exec/app/module.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "exec/app/elf_file.h"
#include "exec/app/instruction_sets.h"
#include "exec/guard/crash.h"

#include <firesteel/types.h>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct known_function {
        uintptr_t code;
        struct module_function function;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static VEC(struct module *) modules;
static VEC(struct known_function *) functions;

struct file_mapping {
        const void *data;
        size_t len;
};

static void mapping_deinit(struct file_mapping *m)
{
        if (m->len)
                munmap((void *)m->data, m->len);
}

static int mapping_init(struct file_mapping *m, const char *path, struct fst_error *error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return error_errno(error, "%s", path);
        struct stat st;
        int r = 0;
        if (fstat(fd, &st) < 0)
                r = error_errno(error, "%s", path);
        else if (!S_ISREG(st.st_mode))
                r = error_set(error, -ENOEXEC, "%s is not a file", path);
        else if (st.st_size > 0) {
                void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
                if (data == MAP_FAILED)
                        r = error_errno(error, "%s", path);
                else
                        *m = (struct file_mapping){data, (size_t)st.st_size};
        }
        close(fd);
        return r;
}

int module_inspect_file(const char *path, struct module_info *out, struct fst_error *error)
{
        _cleanup_(mapping_deinit) struct file_mapping m = {0};
        int r = mapping_init(&m, path, error);
        return r < 0 ? r : module_inspect(m.data, m.len, path, out, error);
}

/* Search of dl_iterate_phdr: for the object that holds @address in its executable code, or has @base. */
struct module_search {
        uintptr_t address;
        struct module *found; /* result: base, start, end, path, build-id */
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
        struct module_search *search = context;
        uintptr_t start = UINTPTR_MAX, end = 0;
        bool holds = false;
        for (int i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *p = &info->dlpi_phdr[i];
                if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
                        continue;
                uintptr_t from = info->dlpi_addr + p->p_vaddr, to = from + p->p_memsz;
                holds |= search->address >= from && search->address < to;
                start = MIN(start, from);
                end = MAX(end, to);
        }
        if (!holds)
                return 0;
        struct module *m = search->found;
        m->base = info->dlpi_addr;
        m->start = start;
        m->end = end;
        m->path = mem_strdup(info->dlpi_name ? info->dlpi_name : "");
        for (int i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *p = &info->dlpi_phdr[i];
                if (p->p_type == PT_NOTE)
                        elf_notes_read((const void *)(info->dlpi_addr + p->p_vaddr), p->p_memsz, p->p_align, &m->info);
        }
        return 1;
}

/* Returns the module around @address and registers it if needed. NULL if no loaded object holds it. Lock held. */
static struct module *module_around(uintptr_t address)
{
        for (size_t i = 0; i < modules.len; i++) {
                if (address >= modules.data[i]->start && address < modules.data[i]->end)
                        return modules.data[i];
        }
        struct module *m = new0(struct module);
        struct module_search search = {.address = address, .found = m};
        if (!dl_iterate_phdr(visit_object, &search)) {
                free(m);
                return NULL;
        }
        /* The path given to dlopen may be relative. Executors run in other directories. */
        char *whole = realpath(m->path[0] ? m->path : "/proc/self/exe", NULL); /* an empty path is the program itself */
        if (whole) {
                free(m->path);
                m->path = whole;
        }
        m->name = mem_strdup(text_base_name(m->path));
        vec_push(&modules, m);
        crash_add_module(m->name, m->path, m->base, m->end);
        return m;
}

/* Returns an address of a loaded object (its dynamic section), which identifies it. */
static uintptr_t code_address(void *handle)
{
        struct link_map *map = NULL;
        if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
                return 0;
        Dl_info info;
        const ElfW(Ehdr) *header = (const void *)map->l_addr;
        if (!dladdr((const void *)map->l_ld, &info) || (const void *)header != info.dli_fbase)
                return 0;
        const ElfW(Phdr) *p = (const void *)((const char *)header + header->e_phoff);
        for (int i = 0; i < header->e_phnum; i++) {
                if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_X))
                        return map->l_addr + p[i].p_vaddr;
        }
        return 0;
}

/* Reports the dynamic linker's message with advice for common mistakes. */
static int set_load_error(const char *path, struct fst_error *error)
{
        const char *said = dlerror();
        if (!said)
                said = "unknown error";
        const char *symbol = strstr(said, "undefined symbol: ");
        if (symbol)
                return error_set(error, -ENOEXEC,
                                 "%s has the undefined symbol %s: link the library that defines it (with "
                                 "`firesteel compile … -- -lLIBRARY`, or spark.firesteel.cc.flags for a C file)%s",
                                 path, symbol + strlen("undefined symbol: "),
                                 strstr(symbol, ": fst_") ? "; or it was built against another Firesteel" : "");
        return error_set(error, -ENOEXEC, "%s cannot be loaded: %s", path, said);
}

static int check_instruction_sets(const char *path, const struct module_info *info, struct fst_error *error)
{
        uint64_t missing = info->instruction_sets & ~instruction_sets_here();
        if (!missing)
                return 0;
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        instruction_sets_names(missing, &names);
        return error_set(error, -ENOEXEC,
                         "%s was compiled for a processor with %s, which this machine's processor lacks: compile it "
                         "for a processor that all machines have, with spark.firesteel.cc.march=none, or with another "
                         "-march if you compile it yourself",
                         path, buf_text(&names));
}

static int check_info(const char *path, const struct module_info *info, struct fst_error *error)
{
        if (info->abi == 0)
                return error_set(error, -ENOEXEC,
                                 "%s was not built with Firesteel's header: an application includes "
                                 "<firesteel/firesteel.h> (or compile it with `firesteel compile app.c -o app.so`)",
                                 path);
        if (info->abi != FST_ABI)
                return error_set(
                        error, -ENOEXEC,
                        "%s was built against interface %u of Firesteel, this is interface %u: compile it again", path,
                        info->abi, (unsigned)FST_ABI);
        if (info->version >> 8 > FST_VERSION >> 8) /* the patch number does not count */
                return error_set(
                        error, -ENOEXEC,
                        "%s was built against Firesteel %u.%u, this is %d.%d: run it with that version, or compile "
                        "it again",
                        path, info->version >> 16, info->version >> 8 & 0xff, FST_VERSION_MAJOR, FST_VERSION_MINOR);
        if (!info->build_id[0])
                return error_set(error, -ENOEXEC,
                                 "%s has no build-id, by which executors know its functions: link it with "
                                 "-Wl,--build-id=sha1",
                                 path);
        return check_instruction_sets(path, info, error);
}

int module_load(const char *path, const struct module **out, struct fst_error *error)
{
        struct module_info info;
        int r = module_inspect_file(path, &info, error);
        if (r < 0)
                return r;
        r = check_info(path, &info, error);
        if (r < 0)
                return r;
        /* Without a slash dlopen would search the library directories. */
        _cleanup_free_ char *file = strchr(path, '/') ? mem_strdup(path) : mem_printf("./%s", path);
        void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!handle)
                return set_load_error(path, error);
        uintptr_t code = code_address(handle);
        pthread_mutex_lock(&lock);
        struct module *m = code ? module_around(code) : NULL;
        if (m) {
                m->handle = handle;
                m->info = info;
        }
        pthread_mutex_unlock(&lock);
        if (!m)
                return error_set(error, -ENOEXEC, "%s contains no code", path);
        *out = m;
        return 0;
}

typedef VEC(const char *) name_list;

static int collect_name(void *context, const char *name)
{
        name_list *names = context;
        if (name[0] != '_') /* skips names of the linker and of start-up files */
                vec_push(names, name);
        return 0;
}

static int compare_module_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Lists the functions of a module, sorted: their order in the file depends on the linker. */
static void list_functions(struct file_mapping *file, struct buf *text)
{
        name_list names = {0};
        elf_functions_exported(file->data, file->len, collect_name, &names);
        if (names.len)
                qsort(names.data, names.len, sizeof(*names.data), compare_module_names);
        for (size_t i = 0; i < names.len; i++) {
                if (text->len > 400) {
                        buf_puts(text, ", …");
                        break;
                }
                buf_printf(text, "%s%s", i ? ", " : "", names.data[i]);
        }
        vec_deinit(&names);
}

int module_symbol(const struct module *m, const char *symbol, const char *shown, void (**out)(void),
                  struct fst_error *error)
{
        void *found = m->handle ? dlsym(m->handle, symbol) : NULL;
        /* dlsym also searches the module's dependencies; reject `--class printf`. */
        if (found && (uintptr_t)found >= m->start && (uintptr_t)found < m->end) {
                memcpy(out, &found, sizeof(found));
                return 0;
        }
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        _cleanup_(mapping_deinit) struct file_mapping file = {0};
        if (mapping_init(&file, m->path, NULL) == 0)
                list_functions(&file, &names);
        return error_set(error, -ENOENT, "no such function in %s: %s; it has: %s", shown, symbol,
                         names.len ? buf_text(&names) : "none");
}

int module_describe(void (*code)(void), const char *name, struct module_function *out, struct fst_error *error)
{
        uintptr_t address = (uintptr_t)code;
        int r = 0;
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < functions.len; i++) {
                if (functions.data[i]->code == address) {
                        *out = functions.data[i]->function;
                        pthread_mutex_unlock(&lock);
                        return 0;
                }
        }
        struct module *m = code ? module_around(address) : NULL;
        if (!m) {
                r = error_set(
                        error, -EINVAL,
                        "%s is not in a loaded module, so executors cannot find it: define a function for an operator "
                        "outside of all other functions",
                        name ? name : "the function");
        } else {
                struct known_function *known = new0(struct known_function);
                known->code = address;
                known->function.module = m;
                known->function.offset = address - m->base;
                _cleanup_(mapping_deinit) struct file_mapping file = {0};
                if (mapping_init(&file, m->path, NULL) == 0)
                        known->function.symbol = elf_function_at(file.data, file.len, known->function.offset);
                const char *called = known->function.symbol ? known->function.symbol : name;
                known->function.name =
                        called ? mem_printf("%s in %s", called, m->name)
                               : mem_printf("0x%llx in %s", (unsigned long long)known->function.offset, m->name);
                vec_push(&functions, known);
                *out = known->function;
        }
        pthread_mutex_unlock(&lock);
        return r;
}

int module_resolve(const char *build_id, uint64_t offset, void (**out)(void), struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        int r = -ENOENT;
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < modules.len && r == -ENOENT; i++) {
                struct module *m = modules.data[i];
                if (strcmp(m->info.build_id, build_id) != 0) {
                        buf_printf(&names, "%s%s (%s)", names.len ? ", " : "", m->name,
                                   m->info.build_id[0] ? m->info.build_id : "no build-id");
                } else if (offset >= m->end - m->base || m->base + offset < m->start) {
                        r = error_set(error, -EINVAL, "0x%llx is not in the code of %s", (unsigned long long)offset,
                                      m->name);
                } else {
                        uintptr_t address = m->base + offset;
                        memcpy(out, &address, sizeof(address));
                        r = 0;
                }
        }
        pthread_mutex_unlock(&lock);
        if (r == -ENOENT)
                error_set(error, r,
                          "no module with build-id %s is loaded; loaded are: %s. Executors must run the "
                          "build that the driver has",
                          build_id, names.len ? buf_text(&names) : "none");
        return r;
}

int module_symbols(const struct module *m, int (*visit)(void *context, const struct elf_symbol *symbol), void *context)
{
        _cleanup_(mapping_deinit) struct file_mapping file = {0};
        int r = mapping_init(&file, m->path, NULL);
        if (r == 0)
                elf_symbols_visit(file.data, file.len, visit, context);
        return r;
}

const struct module *module_find(const char *build_id)
{
        const struct module *found = NULL;
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < modules.len && !found; i++)
                if (strcmp(modules.data[i]->info.build_id, build_id) == 0)
                        found = modules.data[i];
        pthread_mutex_unlock(&lock);
        return found;
}

size_t module_list(const struct module **list, size_t most)
{
        size_t n = 0;
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < modules.len; i++)
                if (modules.data[i]->handle && n++ < most)
                        list[n - 1] = modules.data[i];
        pthread_mutex_unlock(&lock);
        return n;
}
