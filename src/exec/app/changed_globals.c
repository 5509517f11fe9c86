/* See changed_globals.h. The module is never unloaded, so its copy and its symbols stay, too. */
#include "exec/app/changed_globals.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "exec/app/elf_file.h"
#include "exec/app/module.h"

#include <link.h>
#include <string.h>

struct global_segment {
        uintptr_t start;
        size_t size;
        unsigned char *copy;
};

struct named_range {
        char *name;
        uintptr_t start, end;
        bool visited; /* of a function: the current check has visited it */
};

static struct {
        const struct module *module; /* NULL: no module is checked */
        VEC(struct global_segment) segments;
        VEC(struct named_range) functions, globals;
} watched;

bool changed_globals_are_found(void)
{
#if defined(__x86_64__)
        return true;
#else
        return false;
#endif
}

/* ------------------------------------------------------------------------------------------------------ the copy */

/* Without a sanitizer's checks, and not by memcpy: AddressSanitizer rejects reads of the gaps between globals. */
static __attribute__((no_sanitize_address)) void global_segment_copy(struct global_segment *segment)
{
        segment->copy = mem_alloc(segment->size);
        for (size_t i = 0; i < segment->size; i++)
                segment->copy[i] = ((const volatile unsigned char *)segment->start)[i];
}

static int global_segments_copy(struct dl_phdr_info *info, size_t size, void *context)
{
        const struct module *module = context;
        if (info->dlpi_addr != module->base)
                return 0;
        for (int i = 0; i < info->dlpi_phnum; i++) {
                const ElfW(Phdr) *p = &info->dlpi_phdr[i];
                if (p->p_type != PT_LOAD || !(p->p_flags & PF_W))
                        continue;
                struct global_segment segment = {.start = info->dlpi_addr + p->p_vaddr, .size = p->p_memsz};
                global_segment_copy(&segment);
                vec_push(&watched.segments, segment);
        }
        return 1;
}

static const struct global_segment *global_segment_around(uintptr_t start, size_t size)
{
        for (size_t i = 0; i < watched.segments.len; i++) {
                const struct global_segment *s = &watched.segments.data[i];
                if (start >= s->start && start - s->start <= s->size && size <= s->size - (start - s->start))
                        return s;
        }
        return NULL;
}

static int symbol_keep(void *context, const struct elf_symbol *symbol)
{
        const struct module *module = context;
        struct named_range range = {.start = module->base + symbol->offset};
        range.end = range.start + symbol->size;
        bool known = symbol->is_function ? range.start >= module->start && range.end <= module->end
                                         : symbol->size > 0 && global_segment_around(range.start, symbol->size);
        if (!known)
                return 0;
        range.name = mem_strdup(symbol->name);
        if (symbol->is_function)
                vec_push(&watched.functions, range);
        else
                vec_push(&watched.globals, range);
        return 0;
}

static void watched_clear(void)
{
        for (size_t i = 0; i < watched.segments.len; i++)
                free(watched.segments.data[i].copy);
        for (size_t i = 0; i < watched.functions.len; i++)
                free(watched.functions.data[i].name);
        for (size_t i = 0; i < watched.globals.len; i++)
                free(watched.globals.data[i].name);
        vec_deinit(&watched.segments);
        vec_deinit(&watched.functions);
        vec_deinit(&watched.globals);
        watched.module = NULL;
}

void changed_globals_watch(const struct module *module)
{
        watched_clear();
        if (!changed_globals_are_found() || !dl_iterate_phdr(global_segments_copy, (void *)module))
                return;
        if (module_symbols(module, symbol_keep, (void *)module) == 0)
                watched.module = module;
}

/* -------------------------------------------------------------------------------------------------- machine code */

static struct named_range *range_around(struct named_range *ranges, size_t n, uintptr_t address)
{
        for (size_t i = 0; i < n; i++)
                if (address >= ranges[i].start && address < ranges[i].end)
                        return &ranges[i];
        return NULL;
}

static const struct named_range *changed_global_around(uintptr_t address)
{
        const struct named_range *global = range_around(watched.globals.data, watched.globals.len, address);
        if (!global)
                return NULL;
        const struct global_segment *s = global_segment_around(global->start, global->end - global->start);
        return memcmp((const void *)global->start, s->copy + (global->start - s->start), global->end - global->start)
                       ? global
                       : NULL;
}

/*
 * Returns the size of the immediate operand after a relative address, which is relative to the end of the instruction.
 * @at points to the ModRM byte. @start is the beginning of the function.
 */
static int immediate_size(const unsigned char *at, const unsigned char *start)
{
        unsigned char opcode = at[-1], before = at - start >= 2 ? at[-2] : 0, reg = at[0] >> 3 & 7;
        bool narrow = before == 0x66 || (at - start >= 3 && (before & 0xf0) == 0x40 && at[-3] == 0x66);
        if (before == 0x0f)
                return opcode == 0x70 || opcode == 0xba || opcode == 0xc2 || opcode == 0xc6 || opcode == 0xa4 ||
                       opcode == 0xac || opcode == 0xc4;
        if (at - start >= 3 && at[-3] == 0x0f && before == 0x3a)
                return 1;
        switch (opcode) {
        case 0x6b:
        case 0x80:
        case 0x83:
        case 0xc0:
        case 0xc1:
        case 0xc6:
                return 1;
        case 0x69:
        case 0x81:
        case 0xc7:
                return narrow ? 2 : 4;
        case 0xf6:
                return reg < 2;
        case 0xf7:
                return reg >= 2 ? 0 : narrow ? 2 : 4;
        }
        return 0;
}

static uintptr_t relative_target(const unsigned char *displacement, int immediate)
{
        int32_t distance;
        memcpy(&distance, displacement, sizeof(distance));
        return (uintptr_t)displacement + sizeof(distance) + (uintptr_t)immediate + (uintptr_t)(intptr_t)distance;
}

/*
 * Returns the target of a slot of the global offset table or of another pointer among the globals; 0 for other
 * addresses.
 */
static uintptr_t pointer_at(uintptr_t address)
{
        uintptr_t value = 0;
        if (address % sizeof(value) == 0 && global_segment_around(address, sizeof(value)))
                memcpy(&value, (const void *)address, sizeof(value));
        return value;
}

/* Returns the target of a stub of the procedure linkage table: jmp *slot(%rip), perhaps behind endbr64. */
static uintptr_t stub_target(uintptr_t address)
{
        const struct module *m = watched.module;
        if (address < m->start || address + 16 > m->end)
                return 0;
        for (const unsigned char *at = (const unsigned char *)address; at < (const unsigned char *)address + 10; at++)
                if (at[0] == 0xff && at[1] == 0x25)
                        return pointer_at(relative_target(at + 2, 0));
        return 0;
}

typedef VEC(struct named_range *) function_list;

/* Adds the function of the module at @address to @todo, if there is one. */
static void function_add(function_list *todo, uintptr_t address)
{
        struct named_range *function = range_around(watched.functions.data, watched.functions.len, address);
        if (function && !function->visited) {
                function->visited = true;
                vec_push(todo, function);
        }
}

/* Returns the first changed global that the code of @function names. Adds the functions that it names to @todo. */
static const struct named_range *code_find_global(const struct named_range *function, function_list *todo)
{
        const unsigned char *start = (const unsigned char *)function->start,
                            *end = (const unsigned char *)function->end;
        for (const unsigned char *at = start + 1; end - at >= 4; at++) {
                if (at[-1] == 0xe8 || at[-1] == 0xe9 ||
                    (at - start >= 2 && at[-2] == 0x0f && (at[-1] & 0xf0) == 0x80)) {
                        uintptr_t target = relative_target(at, 0);
                        function_add(todo, target);
                        function_add(todo, stub_target(target));
                }
                if ((at[-1] & 0xc7) != 0x05 || at - start < 2) /* ModRM: relative to the instruction */
                        continue;
                uintptr_t target = relative_target(at, immediate_size(at - 1, start)), pointed = pointer_at(target);
                const struct named_range *global = changed_global_around(target);
                if (!global && pointed)
                        global = changed_global_around(pointed);
                if (global)
                        return global;
                function_add(todo, target);
                function_add(todo, pointed);
        }
        return NULL;
}

int changed_globals_check(const struct module_function *function, struct fst_error *error)
{
        function_list todo = {0};
        const struct named_range *global = NULL, *user = NULL;
        if (!watched.module || function->module != watched.module)
                return 0;
        for (size_t i = 0; i < watched.functions.len; i++)
                watched.functions.data[i].visited = false;
        function_add(&todo, watched.module->base + function->offset);
        for (size_t i = 0; i < todo.len && !global; i++) {
                user = todo.data[i];
                global = code_find_global(user, &todo);
        }
        vec_deinit(&todo);
        if (!global)
                return 0;
        return error_set(error, -EINVAL,
                         "spark.firesteel.check: %s uses the global variable %s, which the driver has changed, but "
                         "executors have its initial value: capture the value (FST_WITH), or share it "
                         "(fst_broadcast_bytes)",
                         user->name, global->name);
}
