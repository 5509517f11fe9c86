/*
 * Encryption of local files (spark.io.encryption.enabled): AES-256 in counter mode, with a key shared by the
 * application's processes (the driver creates it; executors receive it with the configuration) and an initial value for
 * each file. Neither is written to disk. Data is decrypted before it is sent to other processes, because connections
 * have their own encryption.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct file_key;

#define MAX_FILE_SECRET 32

/*
 * Makes a random secret of @bits (128, 192, 256: spark.io.encryption.keySizeBits), *@len bytes. Loads the crypto
 * module. Returns -EINVAL for other sizes; -ENOENT or similar without the module.
 */
int file_secret_new(int bits, uint8_t secret[static MAX_FILE_SECRET], size_t *len, struct fst_error *error);

/* Derives the key from a secret, stretched to 256 bits. Returns -EINVAL if @len is too small. */
int file_key_from(const void *secret, size_t len, struct file_key **key, struct fst_error *error);

/* Wipes and frees the key. NULL is allowed. */
void file_key_free(struct file_key *key);

#define FILE_IV 16

/* Makes the initial value of a new file. Returns 0, or negative. Any thread. */
int file_iv(const struct file_key *key, uint8_t iv[static FILE_IV], struct fst_error *error);

/* Encrypts or decrypts (the same operation) @n bytes of the file at @offset. @in may be @out. Any thread. */
int file_crypt(const struct file_key *key, const uint8_t iv[static FILE_IV], uint64_t offset, const void *in, void *out,
               size_t n, struct fst_error *error);
