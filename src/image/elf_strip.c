/* See elf_strip.h. */
#include "image/elf_strip.h"

#include "base/mem.h"

#include <elf.h>
#include <endian.h>

#define OUR_BYTE_ORDER (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

size_t elf_strip(void *data, size_t len)
{
        Elf64_Ehdr head;
        if (len < sizeof(head))
                return len;
        memcpy(&head, data, sizeof(head));
        if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
            head.e_ident[EI_DATA] != OUR_BYTE_ORDER || head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum == 0 ||
            head.e_phoff > len || head.e_phnum > (len - head.e_phoff) / sizeof(Elf64_Phdr))
                return len;
        uint64_t end = head.e_phoff + (uint64_t)head.e_phnum * sizeof(Elf64_Phdr);
        for (unsigned i = 0; i < head.e_phnum; i++) {
                Elf64_Phdr segment;
                memcpy(&segment, (char *)data + head.e_phoff + i * sizeof(segment), sizeof(segment));
                if (segment.p_offset > len || segment.p_filesz > len - segment.p_offset)
                        return len;
                end = MAX(end, segment.p_offset + segment.p_filesz);
        }
        head.e_shoff = 0;
        head.e_shnum = head.e_shentsize = 0;
        head.e_shstrndx = SHN_UNDEF;
        memcpy(data, &head, sizeof(head));
        return (size_t)end;
}
