/*
 * Writes records for the sort to standard output: BYTES / 100 lines of 99 random printable bytes (codes 32 to 126). The
 * first ten bytes are the key, as in TeraSort.
 *
 *      records BYTES [SEED]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 100, BLOCK = 10000 };

static uint64_t state;

static uint64_t draw(void)
{
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

/* Makes 104 bytes; the first 99 are used. Each 32-bit half gives four base-95 digits, by multiplication. */
static void make_record(char *record)
{
        for (int i = 0; i < 104; i += 8) {
                uint64_t x = draw(), a = x >> 32, b = (uint32_t)x;
                for (int j = 0; j < 4; j++) {
                        a *= 95;
                        b *= 95;
                        record[i + j] = (char)(' ' + (a >> 32));
                        record[i + 4 + j] = (char)(' ' + (b >> 32));
                        a = (uint32_t)a;
                        b = (uint32_t)b;
                }
        }
        record[RECORD - 1] = '\n';
}

int main(int argc, char **argv)
{
        if (argc < 2 || argc > 3) {
                fputs("usage: records BYTES [SEED]\n", stderr);
                return 2;
        }
        uint64_t left = strtoull(argv[1], NULL, 10) / RECORD;
        state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

        static char buffer[BLOCK * RECORD + 4];
        while (left > 0) {
                size_t n = left < BLOCK ? left : BLOCK;
                for (size_t i = 0; i < n; i++)
                        make_record(buffer + i * RECORD);
                if (fwrite(buffer, RECORD, n, stdout) != n)
                        break;
                left -= n;
        }
        if (left > 0 || fflush(stdout) != 0) {
                perror("records");
                return 1;
        }
        return 0;
}
