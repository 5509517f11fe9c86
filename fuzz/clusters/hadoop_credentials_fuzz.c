/* Hadoop's credentials: what can be read is written so that it reads the same; and tokens as one word. */
#include "base/mem.h"
#include "hadoop/credentials.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void credentials_round_trip(const struct hadoop_credentials *c)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials again = {0};
        _cleanup_(buf_deinit) struct buf first = BUF_INIT, second = BUF_INIT;
        hadoop_credentials_write(c, &first);
        if (hadoop_credentials_read(&again, first.data, first.len, NULL) != 0)
                abort();
        hadoop_credentials_write(&again, &second);
        if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
                abort();
}

static void token_round_trip(const char *text)
{
        struct hadoop_token token = {0}, again = {0};
        if (hadoop_token_from_text(text, &token, NULL) != 0)
                return;
        _cleanup_free_ char *word = hadoop_token_to_text(&token);
        if (hadoop_token_from_text(word, &again, NULL) != 0 || again.identifier.len != token.identifier.len ||
            strcmp(again.kind, token.kind) != 0)
                abort();
        hadoop_token_deinit(&token);
        hadoop_token_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        const int r = hadoop_credentials_read(&c, data, size, NULL);
        if (r == 0)
                credentials_round_trip(&c);
        else if (c.tokens.len || c.secrets.len)
                abort(); /* a damaged stream adds nothing */
        _cleanup_free_ char *text = mem_strndup((const char *)data, size);
        token_round_trip(text);
        return 0;
}
