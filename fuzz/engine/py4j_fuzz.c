/* Any bytes are commands of Py4J, and every command gets one line as its answer, or none for a shutdown. */
#include "base/error.h"
#include "base/mem.h"
#include "py4j/command.h"
#include "py4j/gateway.h"

static void py4j_fuzz_check_answer(const struct buf *answer, char letter)
{
        const char *end = memchr(answer->len ? answer->data : "", '\n', answer->len);
        if (letter == 's' ? answer->len != 0 : !end || end != answer->data + answer->len - 1 || answer->data[0] != '!')
                abort();
}

static void py4j_fuzz_execute(struct py4j_gateway *gateway, const char *data, size_t size)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf answer = BUF_INIT;
        _cleanup_free_ char *text = mem_alloc(size + 1);
        memcpy(text, data, size);
        struct py4j_command command;
        if (py4j_command_parse(text, size, &command, &error) == 0) {
                py4j_gateway_execute(gateway, &command, &answer);
                py4j_fuzz_check_answer(&answer, command.letter);
        } else if (!error.message) {
                abort();
        }
        py4j_command_deinit(&command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct py4j_refusal refusals[] = {{"org.apache.spark.sql.", "no SQL"}};
        struct py4j_gateway *gateway =
                py4j_gateway_new(&(struct py4j_gateway_options){.refusals = refusals, .n_refusals = 1});
        const char *text = (const char *)data;
        while (size > 0) {
                struct py4j_scanner scanner = {0}, halves = {0};
                size_t n = py4j_scan(&scanner, text, size), m = py4j_scan(&halves, text, size / 2);
                if (!m)
                        m = py4j_scan(&halves, text, size);
                if (n != m || n > size)
                        abort();
                if (!n)
                        break;
                py4j_fuzz_execute(gateway, text, n);
                text += n;
                size -= n;
        }
        py4j_gateway_free(gateway);
        return 0;
}
