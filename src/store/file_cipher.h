/*
 * What local files are encrypted with (spark.io.encryption.enabled): AES-256 in counter mode, with a key that the
 * application's processes share (the driver makes it; executors get it with the configuration) and an initial value for
 * each file. Neither is ever written anywhere. What other processes are sent is plain again: their connections have
 * security of their own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct file_key;

#define MAX_FILE_SECRET 32

/*
 * A new random secret of @bits (128, 192, 256: spark.io.encryption.keySizeBits) in *@len bytes. Loads the crypto
 * module. -EINVAL for other sizes; -ENOENT and the like when there is no module.
 */
int file_secret_new(int bits, uint8_t secret[static MAX_FILE_SECRET], size_t *len, struct fst_error *error);

/* The key that is made of a secret, whose bytes are stretched to the cipher's 256 bits. -EINVAL for too few of them. */
int file_key_from(const void *secret, size_t len, struct file_key **key, struct fst_error *error);

/* Both: a key that no other process has. */
int file_key_new(int bits, struct file_key **key, struct fst_error *error);

/* Wipes it. NULL is allowed. */
void file_key_free(struct file_key *key);

#define FILE_IV 16

/* A new file's. 0, or negative. Any thread. */
int file_iv(const struct file_key *key, uint8_t iv[static FILE_IV], struct fst_error *error);

/* Encrypt or decrypt, which is the same, @n bytes of the file at @offset; @in may be @out. Any thread. */
int file_crypt(const struct file_key *key, const uint8_t iv[static FILE_IV], uint64_t offset, const void *in, void *out,
               size_t n, struct fst_error *error);
