/*
 * Writes ROWS records in the format of TeraSort and gensort.      spark-submit teragen.c ROWS OUT [PARTITIONS]
 *
 * A record has 100 bytes: 10 of key, 2 of separator, the row number in 32 hexadecimal digits, 4 of separator, 48 of
 * filler and 4 of separator. Key and filler are bits of step row + 1 of a random generator of 128 bits, which can jump
 * to any step. The files equal those of Hadoop's TeraGen byte for byte.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

typedef unsigned __int128 u128;

#define A ((u128)0x2360ed051fc65da4 << 64 | 0x4385df649fccf645)
#define C ((u128)0x4a696d4772617952 << 64 | 0x4950202020202001) /* "JimGrayRIP" */

/* Jumps @n steps from 0 by doubling: for f(x) = ax + c, f(f(x)) = a²x + (ac + c). */
static u128 random_at(uint64_t n)
{
        u128 x = 0, a = A, c = C;
        for (; n > 0; n >>= 1) {
                if (n & 1)
                        x = x * a + c;
                c *= a + 1;
                a *= a;
        }
        return x;
}

static int records(fst_task *task, fst_iter *rows, fst_out *out)
{
        static const char digits[] = "0123456789ABCDEF";
        unsigned char r[100] = {[11] = 0x11, [44] = 0x88, 0x99, 0xaa, 0xbb, [96] = 0xcc, 0xdd, 0xee, 0xff};
        int64_t row, next = -1;
        for (u128 x = 0; fst_next(rows, &row); next = row + 1) {
                x = (row == next ? x : random_at((uint64_t)row)) * A + C;
                for (int i = 0; i < 10; i++)
                        r[i] = (unsigned char)(x >> (120 - 8 * i));
                for (int i = 0; i < 32; i++)
                        r[12 + i] = i < 16 ? '0' : (unsigned char)digits[row >> (124 - 4 * i) & 15];
                for (int i = 0; i < 48; i++)
                        r[48 + i] = (unsigned char)digits[x >> (44 - 4 * (i / 4)) & 15];
                fst_emit(out, r);
        }
        return 0;
}

int main(int argc, char **argv)
{
        if (argc < 3 || argc > 4)
                return fprintf(stderr, "usage: teragen ROWS OUT [PARTITIONS]\n"), 2;
        fst_context *sc = fst_context_new("TeraGen");
        fst_rdd *rows = fst_range_n(sc, 0, atoll(argv[1]), argc > 3 ? atoi(argv[3]) : 0);
        fst_save_as_binary_records(fst_map_partitions(rows, records, FST_FIXED(100)), argv[2]);
        return fst_context_stop(sc);
}
