/* SHA-256 of one piece and of many. */
#include "net/sha256.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OF_ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" /* FIPS 180 */

static const struct sha256_ops *sha256;

static int load(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const struct sha256_ops *again = NULL;
        int r = sha256_load(&sha256, &error);
        if (r < 0)
                print_message("%s\n", error_message(&error));
        return r < 0 || sha256_load(&again, NULL) < 0 || again != sha256;
}

static void one_piece_has_the_known_digest(void **state)
{
        uint8_t digest[SHA256_SIZE];
        char text[2 * SHA256_SIZE + 1];
        sha256->hash("abc", 3, digest);
        sha256_text(digest, text);
        assert_string_equal(text, OF_ABC);
}

static void pieces_have_the_digest_of_the_whole(void **state)
{
        uint8_t digest[SHA256_SIZE];
        char text[2 * SHA256_SIZE + 1];
        struct sha256 *s = sha256->begin();
        assert_non_null(s);
        sha256->add(s, "a", 1);
        sha256->add(s, "", 0);
        sha256->add(s, "bc", 2);
        sha256->end(s, digest);
        sha256_text(digest, text);
        assert_string_equal(text, OF_ABC);
        sha256->end(sha256->begin(), NULL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_piece_has_the_known_digest),
                cmocka_unit_test(pieces_have_the_digest_of_the_whole),
        };
        return cmocka_run_group_tests(tests, load, NULL);
}
