/* CRC-32C of texts whose checksums are well known, and of all lengths against the definition, bit by bit. */
#include "net/crc32c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static uint32_t bit_by_bit(const unsigned char *data, size_t n)
{
        uint32_t state = ~0u;
        for (size_t i = 0; i < n; i++) {
                state ^= data[i];
                for (int bit = 0; bit < 8; bit++)
                        state = state >> 1 ^ (state & 1 ? 0x82f63b78u : 0);
        }
        return ~state;
}

static void equals_published_checksums(void **state)
{
        unsigned char zeros[32] = {0}, ones[32];
        memset(ones, 0xff, sizeof(ones));
        assert_int_equal(crc32c("123456789", 9), 0xe3069283u);
        assert_int_equal(crc32c(zeros, sizeof(zeros)), 0x8a9136aau); /* RFC 3720, B.4 */
        assert_int_equal(crc32c(ones, sizeof(ones)), 0x62a8ab43u);
        assert_int_equal(crc32c("", 0), 0);
}

static void any_length_and_alignment(void **state)
{
        unsigned char data[80];
        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (unsigned char)(i * 37 + 11);
        for (size_t at = 0; at < 8; at++)
                for (size_t n = 0; at + n <= sizeof(data); n++) {
                        assert_int_equal(crc32c(data + at, n), bit_by_bit(data + at, n));
                        assert_int_equal(crc32c_extend(crc32c(data + at, n / 3), data + at + n / 3, n - n / 3),
                                         bit_by_bit(data + at, n));
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(equals_published_checksums),
                cmocka_unit_test(any_length_and_alignment),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
