/* ELF files: any bytes have a result, and names lie within the bytes. */
#include "base/mem.h"
#include "exec/app/elf_file.h"
#include "exec/app/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int add_name_length(void *context, const char *name)
{
        *(size_t *)context += strlen(name);
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct module_info info = {0};
        size_t length = 0;
        module_inspect(data, size, "fuzz", &info, NULL);
        elf_functions_exported(data, size, add_name_length, &length);
        free(elf_function_at(data, size, 0x1119));
        struct module_info notes = {0};
        elf_notes_read(data, size, 4, &notes);
        elf_notes_read(data, size, 8, &notes);
        return 0;
}
