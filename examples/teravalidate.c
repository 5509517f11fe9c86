/*
 * Checks that the records of IN are sorted by their keys, within and across files.      spark-submit teravalidate.c IN
 *
 * Prints the report of Hadoop's TeraValidate: records out of order, and the sum of the records' CRC32. Sorting does not
 * change the sum, so it must equal that of teragen.c's output.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>

enum { RECORD = 100, KEY = 10 };

struct summary { /* of a partition */
        unsigned char first[KEY], last[KEY];
        int64_t records, misordered;
        uint64_t checksum;
};

static int summarise(fst_task *task, fst_iter *records, fst_out *out)
{
        struct summary s = {.records = 0};
        uint32_t crcs[256];
        for (uint32_t i = 0; i < 256; i++) {
                crcs[i] = i;
                for (int bit = 0; bit < 8; bit++)
                        crcs[i] = crcs[i] >> 1 ^ (crcs[i] & 1 ? 0xedb88320 : 0);
        }
        for (const unsigned char *r; fst_next(records, &r); s.records++) {
                uint32_t crc = ~0u;
                for (int i = 0; i < RECORD; i++)
                        crc = crc >> 8 ^ crcs[(crc ^ r[i]) & 255];
                s.checksum += (uint32_t)~crc;
                if (s.records == 0)
                        memcpy(s.first, r, KEY);
                s.misordered += memcmp(s.records ? s.last : s.first, r, KEY) > 0;
                memcpy(s.last, r, KEY);
        }
        if (s.records > 0)
                fst_emit(out, &s);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc != 2)
                return fprintf(stderr, "usage: teravalidate IN\n"), 2;
        fst_context *sc = fst_context_new("TeraValidate");
        fst_rdd *records = fst_binary_records(sc, argv[1], RECORD);
        fst_iter *rows;
        struct summary all = {.records = 0};
        if (fst_collect(fst_map_partitions(records, summarise, FST_FIXED(sizeof(struct summary))), &rows))
                return fst_context_stop(sc);
        for (const struct summary *s; fst_next(rows, &s); memcpy(all.last, s->last, KEY)) {
                all.misordered += s->misordered + (all.records > 0 && memcmp(all.last, s->first, KEY) > 0);
                all.records += s->records;
                all.checksum += s->checksum;
        }
        printf("%" PRId64 " records\nchecksum\t%" PRIx64 "\n", all.records, all.checksum);
        if (all.misordered > 0)
                printf("error\t%" PRId64 " misordered\n", all.misordered);
        return fst_context_stop(sc) || all.misordered > 0;
}
