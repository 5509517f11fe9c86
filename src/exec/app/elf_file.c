/*
 * Bounds-checked access to ELF files; see elf_file.h.
 *
 * Invariant: all reads go through bytes_at(), which returns NULL for ranges outside of the file. Structs are copied,
 * because offsets in a damaged file may be unaligned.
 */
#include "exec/app/elf_file.h"

#include "base/error.h"
#include "base/mem.h"
#include "exec/app/module.h"

#include <firesteel/detail/note.h>

#include <elf.h>
#include <link.h>
#include <stdio.h>

typedef ElfW(Ehdr) Header;
typedef ElfW(Phdr) Segment;
typedef ElfW(Shdr) Section;
typedef ElfW(Sym) Symbol;

#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define HOST_MACHINE EM_PPC64
#elif defined(__s390x__)
#define HOST_MACHINE EM_S390
#else
#error "name this machine's EM_ number here"
#endif

#define HOST_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define HOST_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

struct elf_file {
        const unsigned char *data;
        size_t len;
};

/* Returns the bytes [offset, offset + size) of the file, or NULL. */
static const void *bytes_at(const struct elf_file *f, uint64_t offset, uint64_t size)
{
        return offset <= f->len && size <= f->len - offset ? f->data + offset : NULL;
}

/* Copies element @index of a table of structs. Returns false if it lies outside of the file. */
static bool table_element(const struct elf_file *f, uint64_t table, uint64_t index, uint64_t stride, void *out,
                          size_t size)
{
        uint64_t offset;
        if (stride < size || __builtin_mul_overflow(index, stride, &offset) ||
            __builtin_add_overflow(offset, table, &offset))
                return false;
        const void *bytes = bytes_at(f, offset, size);
        if (!bytes)
                return false;
        memcpy(out, bytes, size);
        return true;
}

static size_t round_up_note(size_t n, size_t align)
{
        return (n + align - 1) & ~(align - 1);
}

static const char *machine_name(unsigned machine, char *room, size_t size)
{
        switch (machine) {
        case EM_X86_64:
                return "x86-64";
        case EM_386:
                return "x86 (32 bits)";
        case EM_AARCH64:
                return "aarch64";
        case EM_ARM:
                return "arm";
        case EM_RISCV:
                return "riscv";
        case EM_PPC64:
                return "ppc64";
        case EM_S390:
                return "s390";
        }
        snprintf(room, size, "number %u", machine);
        return room;
}

static int read_build_id(const unsigned char *content, size_t size, struct module_info *out)
{
        if (size > MODULE_BUILD_ID_MAX)
                return 0;
        for (size_t i = 0; i < size; i++)
                snprintf(out->build_id + 2 * i, 3, "%02x", content[i]);
        return 0;
}

int elf_notes_read(const void *data, size_t len, size_t align, struct module_info *out)
{
        struct elf_file notes = {data, len};
        align = align == 8 ? 8 : 4;
        for (size_t pos = 0; pos < len;) {
                ElfW(Nhdr) note;
                if (!table_element(&notes, pos, 0, sizeof(note), &note, sizeof(note)))
                        return 0;
                size_t owner = pos + sizeof(note);
                size_t content = round_up_note(owner + note.n_namesz, align);
                if (!bytes_at(&notes, owner, note.n_namesz) || !bytes_at(&notes, content, note.n_descsz))
                        return 0;
                pos = round_up_note(content + note.n_descsz, align);
                const char *name = (const char *)notes.data + owner;
                if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
                        read_build_id(notes.data + content, note.n_descsz, out);
                } else if (note.n_type == FST_NOTE_ABI && note.n_namesz == sizeof(FST_NOTE_OWNER) &&
                           note.n_descsz >= sizeof(out->abi) && memcmp(name, FST_NOTE_OWNER, note.n_namesz) == 0) {
                        uint32_t abi, version = 0, sets[2] = {0};
                        memcpy(&abi, notes.data + content, sizeof(abi));
                        if (note.n_descsz >= sizeof(abi) + sizeof(version))
                                memcpy(&version, notes.data + content + sizeof(abi), sizeof(version));
                        if (note.n_descsz >= sizeof(abi) + sizeof(version) + sizeof(sets))
                                memcpy(sets, notes.data + content + sizeof(abi) + sizeof(version), sizeof(sets));
                        if (out->abi && out->abi != abi)
                                return -EINVAL;
                        out->abi = abi;
                        out->version = MAX(out->version, version);
                        out->instruction_sets |= sets[0] | (uint64_t)sets[1] << 32;
                }
        }
        return 0;
}

static int check_header(const struct elf_file *f, const char *name, Header *header, struct fst_error *error)
{
        if (f->len < SELFMAG || memcmp(f->data, ELFMAG, SELFMAG) != 0)
                return error_set(error, -ENOEXEC,
                                 "%s is not a shared object (not an ELF file): submit a .so, or one .c file", name);
        if (!table_element(f, 0, 0, sizeof(*header), header, sizeof(*header)))
                return error_set(error, -ENOEXEC, "%s is damaged: it ends within its header", name);
        if (header->e_ident[EI_CLASS] != HOST_CLASS || header->e_ident[EI_DATA] != HOST_ORDER ||
            header->e_machine != HOST_MACHINE) {
                char theirs[24], ours[24];
                return error_set(error, -ENOEXEC, "%s is for another machine: %s%s, and this is %s", name,
                                 machine_name(header->e_machine, theirs, sizeof(theirs)),
                                 header->e_ident[EI_DATA] != HOST_ORDER ? " in another byte order" : "",
                                 machine_name(HOST_MACHINE, ours, sizeof(ours)));
        }
        if (header->e_type != ET_DYN)
                return error_set(error, -ENOEXEC, "%s is %s, not a shared object: link it with -shared", name,
                                 header->e_type == ET_REL ? "an object file" : "a program");
        return 0;
}

int module_inspect(const void *data, size_t len, const char *name, struct module_info *out, struct fst_error *error)
{
        struct elf_file f = {data, len};
        struct module_info info = {0};
        Header header = {0};
        int r = check_header(&f, name, &header, error);
        if (r < 0)
                return r;
        info.machine = header.e_machine;
        for (unsigned i = 0; i < header.e_phnum; i++) {
                Segment segment;
                if (!table_element(&f, header.e_phoff, i, header.e_phentsize, &segment, sizeof(segment)))
                        return error_set(error, -ENOEXEC, "%s is damaged: its program headers lie outside of the file",
                                         name);
                if (segment.p_type == PT_INTERP)
                        return error_set(error, -ENOEXEC, "%s is a program, not a shared object: link it with -shared",
                                         name);
                const void *bytes = bytes_at(&f, segment.p_offset, segment.p_filesz);
                if (!bytes)
                        return error_set(error, -ENOEXEC, "%s is damaged: it is shorter than its segments", name);
                if (segment.p_type == PT_NOTE && elf_notes_read(bytes, segment.p_filesz, segment.p_align, &info) < 0)
                        return error_set(
                                error, -ENOEXEC,
                                "%s has parts built against different Firesteel headers: compile all of it again",
                                name);
        }
        *out = info;
        return 0;
}

/* A symbol table with its strings. */
struct symbols {
        struct elf_file f;
        Section table, strings;
};

/* Finds the file's symbol table of type @type (SHT_SYMTAB, SHT_DYNSYM). */
static bool symbols_find(struct symbols *s, const void *data, size_t len, unsigned type)
{
        s->f = (struct elf_file){data, len};
        Header header = {0};
        if (check_header(&s->f, "", &header, NULL) < 0)
                return false;
        for (unsigned i = 0; i < header.e_shnum; i++) {
                if (!table_element(&s->f, header.e_shoff, i, header.e_shentsize, &s->table, sizeof(s->table)))
                        return false;
                if (s->table.sh_type == type)
                        return table_element(&s->f, header.e_shoff, s->table.sh_link, header.e_shentsize, &s->strings,
                                             sizeof(s->strings)) &&
                               bytes_at(&s->f, s->table.sh_offset, s->table.sh_size) &&
                               bytes_at(&s->f, s->strings.sh_offset, s->strings.sh_size);
        }
        return false;
}

/*
 * Returns the name of symbol @index and fills @symbol if it has @type and is defined in this file; NULL for others.
 * Sets
 * @end after the last symbol.
 */
static const char *symbols_get(const struct symbols *s, uint64_t index, unsigned type, Symbol *symbol, bool *end)
{
        *end = index >= s->table.sh_size / sizeof(*symbol) ||
               !table_element(&s->f, s->table.sh_offset, index, sizeof(*symbol), symbol, sizeof(*symbol));
        /* Type and binding use the same bits in 32- and 64-bit files. */
        if (*end || ELF64_ST_TYPE(symbol->st_info) != type || symbol->st_shndx == SHN_UNDEF ||
            symbol->st_name >= s->strings.sh_size)
                return NULL;
        const char *name = (const char *)s->f.data + s->strings.sh_offset + symbol->st_name;
        return memchr(name, 0, s->strings.sh_size - symbol->st_name) ? name : NULL;
}

void elf_functions_exported(const void *data, size_t len, int (*visit)(void *context, const char *name), void *context)
{
        struct symbols s;
        if (!symbols_find(&s, data, len, SHT_DYNSYM))
                return;
        bool end = false;
        for (uint64_t i = 0; !end; i++) {
                Symbol symbol;
                const char *name = symbols_get(&s, i, STT_FUNC, &symbol, &end);
                if (name && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && visit(context, name))
                        return;
        }
}

void elf_symbols_visit(const void *data, size_t len, int (*visit)(void *context, const struct elf_symbol *symbol),
                       void *context)
{
        static const unsigned types[] = {STT_FUNC, STT_OBJECT};
        struct symbols s;
        if (!symbols_find(&s, data, len, SHT_SYMTAB) && !symbols_find(&s, data, len, SHT_DYNSYM))
                return;
        for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
                bool end = false;
                for (uint64_t i = 0; !end; i++) {
                        Symbol symbol;
                        const char *name = symbols_get(&s, i, types[t], &symbol, &end);
                        if (name && visit(context, &(struct elf_symbol){.name = name,
                                                                        .offset = symbol.st_value,
                                                                        .size = symbol.st_size,
                                                                        .is_function = types[t] == STT_FUNC}))
                                return;
                }
        }
}

char *elf_function_at(const void *data, size_t len, uint64_t offset)
{
        static const unsigned types[] = {SHT_SYMTAB, SHT_DYNSYM};
        for (size_t t = 0; t < ARRAY_SIZE(types); t++) {
                struct symbols s;
                if (!symbols_find(&s, data, len, types[t]))
                        continue;
                bool end = false;
                for (uint64_t i = 0; !end; i++) {
                        Symbol symbol;
                        const char *name = symbols_get(&s, i, STT_FUNC, &symbol, &end);
                        if (name && symbol.st_value == offset && name[0])
                                return mem_strdup(name);
                }
        }
        return NULL;
}
