/*
 * Summarizes the lines of files, independent of their order.
 *
 *      lines [-k BYTES] FILE …
 *
 * Prints the number of lines and of bytes, the sum of a 64-bit hash of each line, and whether the lines, read file
 * after file as given, are in the order of their bytes (with -k: of their first BYTES bytes). Two sets of files with
 * the same numbers hold the same multiset of lines.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
        uint64_t lines, bytes, sum;
        bool ordered;
} seen = {.ordered = true};

static uint64_t mix(uint64_t x)
{
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
}

static uint64_t hash(const char *data, size_t len)
{
        uint64_t h = 0x9e3779b97f4a7c15u ^ len, word;
        for (; len >= 8; data += 8, len -= 8) {
                memcpy(&word, data, 8);
                h = (h ^ word) * 0x9e3779b97f4a7c15u;
                h ^= h >> 32;
        }
        word = 0;
        memcpy(&word, data, len);
        return mix(h ^ word);
}

static int compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
        int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
        return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int look(const char *path, size_t key)
{
        static char *line, *last;
        static size_t line_room, last_room;
        static ssize_t last_len = -1;
        FILE *file = fopen(path, "re");
        if (!file) {
                fprintf(stderr, "lines: %s: %s\n", path, strerror(errno));
                return 1;
        }
        static char buffer[1 << 20];
        setvbuf(file, buffer, _IOFBF, sizeof(buffer));
        for (ssize_t len; (len = getline(&line, &line_room, file)) >= 0;) {
                seen.bytes += (uint64_t)len;
                seen.lines++;
                if (len > 0 && line[len - 1] == '\n')
                        len--;
                seen.sum += hash(line, (size_t)len);
                ssize_t looked_at = key && (size_t)len > key ? (ssize_t)key : len;
                if (seen.ordered && last_len >= 0 && compare(last, (size_t)last_len, line, (size_t)looked_at) > 0)
                        seen.ordered = false;
                char *other = last;
                size_t other_room = last_room;
                last = line;
                last_room = line_room;
                last_len = looked_at;
                line = other;
                line_room = other_room;
        }
        int failed = ferror(file);
        fclose(file);
        return failed;
}

int main(int argc, char **argv)
{
        size_t key = 0;

        for (int option; (option = getopt(argc, argv, "k:")) != -1;) {
                if (option != 'k')
                        return 2;
                key = strtoul(optarg, NULL, 10);
        }
        for (int i = optind; i < argc; i++)
                if (look(argv[i], key))
                        return 1;
        printf("{\"lines\": %llu, \"bytes\": %llu, \"sum\": \"%016llx\", \"ordered\": %s}\n",
               (unsigned long long)seen.lines, (unsigned long long)seen.bytes, (unsigned long long)seen.sum,
               seen.ordered ? "true" : "false");
        return 0;
}
