/* Any bytes are an archive of one image whose parts lie within the bytes, or an error with a message. */
#include "base/error.h"
#include "base/mem.h"
#include "image/oci_archive.h"

#include <jansson.h>

static void check_part(const uint8_t *data, size_t size, struct oci_part part)
{
        const char *start = (const char *)data;
        if (part.data < start || part.len > size || (size_t)(part.data - start) > size - part.len)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct oci_archive archive;
        struct oci_part part;
        int r = oci_archive_parse((const char *)data, size, "x.tar", &archive, &error);
        if (r < 0) {
                if (!*error_message(&error))
                        abort();
                return 0;
        }
        check_part(data, size, archive.manifest);
        json_t *manifest = json_loadb(archive.manifest.data, archive.manifest.len, 0, NULL);
        const char *digest = json_string_value(json_object_get(json_object_get(manifest, "config"), "digest"));
        if (digest && oci_archive_blob(&archive, digest, &part, &error) == 0)
                check_part(data, size, part);
        json_decref(manifest);
        oci_archive_close(&archive);
        return 0;
}
