/*
 * Writes text for WordCount to standard output: BYTES bytes of words from a vocabulary of 200,000. The probability of
 * the k-th most frequent word is proportional to 1/k (Zipf's law).
 *
 *      text BYTES [SEED]
 *
 * Words are distinct, of 3 to 11 small letters. A line has 6 to 17 of them between single spaces. Words are drawn by
 * the alias method (Walker, 1977), so the rarest have their exact share too. The same arguments give the same bytes
 * on every machine.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 200000, LONGEST = 11, SET = 1 << 19, LINE_MAX = 17 * (LONGEST + 1) };

static struct word {
        char text[16];
        uint32_t len;
} words[WORDS];

/* Column i is word i with probability `keep` (of 2^32), else word `other`. */
static struct column {
        uint32_t keep, other;
} columns[WORDS];

static uint64_t state;

static uint64_t draw(void)
{
        uint64_t z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

static uint32_t below(uint32_t bound)
{
        return (uint32_t)((draw() >> 32) * bound >> 32);
}

static void make_vocabulary(void)
{
        static uint32_t set[SET]; /* 1 + index of a word, by hash */

        for (uint32_t made = 0; made < WORDS;) {
                struct word w = {.len = 3 + below(LONGEST - 2)};
                uint64_t hash = 0;
                for (uint32_t i = 0; i < w.len; i++) {
                        w.text[i] = (char)('a' + below(26));
                        hash = (hash + (unsigned char)w.text[i]) * 0x9e3779b97f4a7c15u;
                }
                uint32_t at = (uint32_t)(hash >> 45);
                while (set[at] && strcmp(words[set[at] - 1].text, w.text) != 0)
                        at = (at + 1) % SET;
                if (set[at])
                        continue;
                words[made++] = w;
                set[at] = made;
        }
}

static void make_columns(void)
{
        static double share[WORDS];
        static uint32_t small[WORDS], large[WORDS];
        uint32_t smalls = 0, larges = 0;
        double sum = 0;

        for (int k = 1; k <= WORDS; k++)
                sum += 1.0 / k;
        for (uint32_t i = 0; i < WORDS; i++) {
                share[i] = WORDS / (sum * (i + 1));
                if (share[i] < 1)
                        small[smalls++] = i;
                else
                        large[larges++] = i;
        }
        while (smalls && larges) {
                uint32_t less = small[--smalls], more = large[larges - 1];
                columns[less] = (struct column){(uint32_t)(share[less] * 0x1p32), more};
                share[more] -= 1 - share[less];
                if (share[more] < 1) {
                        larges--;
                        small[smalls++] = more;
                }
        }
        while (larges)
                columns[large[--larges]].keep = UINT32_MAX;
        while (smalls)
                columns[small[--smalls]].keep = UINT32_MAX;
        for (uint32_t i = 0; i < WORDS; i++)
                if (columns[i].keep == UINT32_MAX)
                        columns[i].other = i;
}

int main(int argc, char **argv)
{
        if (argc < 2 || argc > 3) {
                fputs("usage: text BYTES [SEED]\n", stderr);
                return 2;
        }
        uint64_t left = strtoull(argv[1], NULL, 10);
        state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        make_vocabulary();
        make_columns();

        static char buffer[(1 << 20) + LINE_MAX];
        size_t used = 0;
        while (left > 0) {
                size_t line = used;
                for (uint32_t n = 6 + below(12); n > 0; n--) {
                        uint64_t x = draw();
                        uint32_t i = (uint32_t)((x >> 32) * WORDS >> 32);
                        const struct column *c = &columns[i];
                        const struct word *w = &words[(uint32_t)x <= c->keep ? i : c->other];
                        memcpy(buffer + used, w->text, sizeof(w->text));
                        used += w->len;
                        buffer[used++] = n > 1 ? ' ' : '\n';
                }
                if (used - line >= left) { /* truncates the last line */
                        used = line + left;
                        buffer[used - 1] = '\n';
                        if (used - line > 1 && buffer[used - 2] == ' ')
                                buffer[used - 2] = 'a';
                }
                left -= used - line;
                if (used >= 1 << 20 || left == 0) {
                        if (fwrite(buffer, 1, used, stdout) != used)
                                break;
                        used = 0;
                }
        }
        if (left > 0 || fflush(stdout) != 0) {
                perror("text");
                return 1;
        }
        return 0;
}
