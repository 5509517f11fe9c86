/* The body of a submission from an untrusted client: it is refused, or makes a driver that can be packed. */
#include "base/error.h"
#include "rest/rest_request.h"
#include "standalone/rest/rest_driver.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct rest_request request;
        struct arena memory = ARENA_INIT;
        Firesteel__Standalone__DriverDescription *driver = NULL;
        struct fst_error error = FST_ERROR_INIT;
        if (rest_request_parse(&request, (const char *)data, size, &error) == 0) {
                if (!request.app_resource || !request.main_class)
                        abort();
                if (rest_request_driver(&request, "spark://h:7077", 6066, &driver, &memory, &error) == 0) {
                        size_t packed = protobuf_c_message_get_packed_size(&driver->base);
                        uint8_t *bytes = malloc(packed + 1);
                        if (protobuf_c_message_pack(&driver->base, bytes) != packed ||
                            !protobuf_c_message_check(&driver->base))
                                abort();
                        free(bytes);
                }
        }
        rest_request_deinit(&request);
        arena_deinit(&memory);
        error_deinit(&error);
        return 0;
}
