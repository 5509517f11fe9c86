/* See crc32c.h. Uses the instruction of x86-64 processors with SSE 4.2, or else a table. */
#include "net/crc32c.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define POLYNOMIAL 0x82f63b78u /* reflected */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t table[256]; /* the remainders of all bytes */

static void crc32c_make_table(void)
{
        for (uint32_t i = 0; i < 256; i++) {
                table[i] = i;
                for (int bit = 0; bit < 8; bit++)
                        table[i] = table[i] >> 1 ^ (table[i] & 1 ? POLYNOMIAL : 0);
        }
}

/* Returns the state after @n bytes of @state. */
static uint32_t crc32c_by_table(uint32_t state, const unsigned char *data, size_t n)
{
        pthread_once(&once, crc32c_make_table);
        while (n-- > 0)
                state = table[(state ^ *data++) & 0xff] ^ state >> 8;
        return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_by_instruction(uint32_t state, const unsigned char *data,
                                                                        size_t n)
{
        uint64_t wide = state, word;
        for (; n >= sizeof(word); data += sizeof(word), n -= sizeof(word)) {
                memcpy(&word, data, sizeof(word));
                wide = __builtin_ia32_crc32di(wide, word);
        }
        state = (uint32_t)wide;
        while (n-- > 0)
                state = __builtin_ia32_crc32qi(state, *data++);
        return state;
}

static bool crc32c_has_instruction(void)
{
        return __builtin_cpu_supports("sse4.2");
}
#else
static uint32_t crc32c_by_instruction(uint32_t state, const unsigned char *data, size_t n)
{
        return crc32c_by_table(state, data, n);
}

static bool crc32c_has_instruction(void)
{
        return false;
}
#endif

uint32_t crc32c_extend(uint32_t sum, const void *data, size_t len)
{
        return ~(crc32c_has_instruction() ? crc32c_by_instruction : crc32c_by_table)(~sum, data, len);
}

uint32_t crc32c(const void *data, size_t len)
{
        return crc32c_extend(0, data, len);
}
