/*
 * Summarizes the records of 100 bytes in files, and checks that they are in the order of their keys.
 *
 *      sorted FILE…
 *
 * One line of JSON: "records", "sum" (of a 64-bit hash of each record, so their order does not matter) and "ordered"
 * (the first ten bytes of each, as unsigned bytes, are no less than those of the record before).
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "generator.h"

enum { RECORD = 100, KEY = 10, BLOCK = 4096 };

static uint64_t hash(const char *record)
{
        uint64_t digest = 0, word;
        uint32_t rest;
        for (int i = 0; i < RECORD / 8; i++) {
                memcpy(&word, record + i * 8, 8);
                digest = mix(digest ^ word);
        }
        memcpy(&rest, record + RECORD / 8 * 8, sizeof(rest));
        return mix(digest ^ rest);
}

int main(int argc, char **argv)
{
        static char buffer[BLOCK * RECORD];
        char last[KEY] = {0};
        uint64_t records = 0, sum = 0;
        bool ordered = true;

        for (int i = 1; i < argc; i++) {
                FILE *file = fopen(argv[i], "rb");
                size_t bytes;
                while (file && (bytes = fread(buffer, 1, sizeof(buffer), file)) > 0) {
                        if (bytes % RECORD) {
                                fprintf(stderr, "sorted: %s ends with a part of a record\n", argv[i]);
                                return 1;
                        }
                        for (const char *record = buffer; record < buffer + bytes; record += RECORD) {
                                ordered = ordered && memcmp(last, record, KEY) <= 0;
                                memcpy(last, record, KEY);
                                sum += hash(record);
                                records++;
                        }
                }
                if (!file || ferror(file)) {
                        perror(argv[i]);
                        return 1;
                }
                fclose(file);
        }
        printf("{\"records\": %llu, \"sum\": \"%016llx\", \"ordered\": %s}\n", (unsigned long long)records,
               (unsigned long long)sum, ordered ? "true" : "false");
        return 0;
}
