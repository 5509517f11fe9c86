/*
 * Replays inputs through a fuzz target, so that a corpus is an ordinary test and needs no fuzzer.
 *
 *      replay NAME FILE-or-DIRECTORY…
 *
 * Every input lies in a block of exactly its size, so that a sanitizer detects the first byte read past its end. The
 * empty input always runs too. It is a failure if there are no inputs, so that a moved corpus does not look like a
 * passed test.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define X(name) int fuzz_##name(const uint8_t *data, size_t size);
#include "replay.inc"
#undef X

static const struct {
        const char *name;
        int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define X(name) {#name, fuzz_##name},
#include "replay.inc"
#undef X
};

static int (*target)(const uint8_t *data, size_t size);

static int exit_with_error(const char *path)
{
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
}

static int replay_file(const char *path, size_t size)
{
        uint8_t *data = malloc(size ? size : 1);
        FILE *file = fopen(path, "rb");
        if (!data || !file || fread(data, 1, size, file) != size)
                exit_with_error(path);
        fclose(file);
        /* Print the name first, so that the last line names the input of a crash. */
        printf("%s\n", path);
        fflush(stdout);
        target(data, size);
        free(data);
        return 1;
}

static int replay_path(const char *path)
{
        struct stat st;
        if (stat(path, &st) != 0)
                exit_with_error(path);
        if (!S_ISDIR(st.st_mode))
                return replay_file(path, (size_t)st.st_size);

        struct dirent **entries;
        int count = scandir(path, &entries, NULL, alphasort);
        if (count < 0)
                exit_with_error(path);
        int replayed = 0;
        for (int i = 0; i < count; i++) {
                char child[4096];
                snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
                if (entries[i]->d_name[0] != '.')
                        replayed += replay_path(child);
                free(entries[i]);
        }
        free(entries);
        return replayed;
}

int main(int argc, char **argv)
{
        int replayed = 0;
        for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]) && argc > 1; i++)
                if (strcmp(targets[i].name, argv[1]) == 0)
                        target = targets[i].run;
        if (!target) {
                fprintf(stderr, "Usage: replay NAME FILE-or-DIRECTORY...\n%s is no fuzz target\n",
                        argc > 1 ? argv[1] : "nothing");
                return 2;
        }
        target((const uint8_t *)"", 0);
        for (int i = 2; i < argc; i++)
                replayed += replay_path(argv[i]);
        printf("%d inputs replayed\n", replayed);
        return replayed > 0 ? 0 : 1;
}
