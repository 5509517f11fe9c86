/* Certificates that sign themselves, by OpenSSL (net/crypto.h). */
#include "net/crypto_module.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCK_SKEW_S 300 /* the certificate is valid for machines whose clock is behind */

static bool certificate_add_extension(X509 *x, int nid, const char *value)
{
        X509V3_CTX context;
        X509V3_set_ctx_nodb(&context);
        X509V3_set_ctx(&context, x, x, NULL, NULL, 0);
        X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &context, nid, value);
        bool good = e && X509_add_ext(x, e, -1);
        X509_EXTENSION_free(e);
        return good;
}

static bool certificate_add_names(X509 *x, const char *const *names)
{
        GENERAL_NAMES *all = sk_GENERAL_NAME_new_null();
        bool good = all != NULL;
        for (size_t i = 0; good && names[i]; i++) {
                GENERAL_NAME *name = GENERAL_NAME_new();
                ASN1_IA5STRING *text = ASN1_IA5STRING_new();
                good = name && text && ASN1_STRING_set(text, names[i], -1);
                if (good)
                        GENERAL_NAME_set0_value(name, GEN_DNS, text);
                else
                        ASN1_IA5STRING_free(text);
                if (!good || !sk_GENERAL_NAME_push(all, name)) {
                        GENERAL_NAME_free(name);
                        good = false;
                }
        }
        good = good && X509_add1_ext_i2d(x, NID_subject_alt_name, all, 0, 0) == 1;
        sk_GENERAL_NAME_pop_free(all, GENERAL_NAME_free);
        return good;
}

static bool certificate_fill(X509 *x, EVP_PKEY *key, const char *common_name, const char *const *names, int64_t valid_s)
{
        unsigned char serial[16];
        X509_NAME *name = X509_get_subject_name(x);
        BIGNUM *number = NULL;
        bool good = RAND_bytes(serial, sizeof(serial)) == 1;
        serial[0] = (serial[0] & 0x7f) | 0x40; /* positive, of a fixed length */
        good = good && (number = BN_bin2bn(serial, sizeof(serial), NULL)) &&
               BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x));
        BN_free(number);
        return good && X509_set_version(x, X509_VERSION_3) && X509_gmtime_adj(X509_getm_notBefore(x), -CLOCK_SKEW_S) &&
               X509_gmtime_adj(X509_getm_notAfter(x), (long)valid_s) && X509_set_pubkey(x, key) &&
               X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, (const unsigned char *)common_name, -1, -1, 0) &&
               X509_set_issuer_name(x, name) &&
               certificate_add_extension(x, NID_basic_constraints, "critical,CA:TRUE") &&
               certificate_add_extension(x, NID_key_usage, "critical,digitalSignature,keyCertSign") &&
               certificate_add_extension(x, NID_ext_key_usage, "serverAuth") &&
               certificate_add_extension(x, NID_subject_key_identifier, "hash") && certificate_add_names(x, names) &&
               X509_sign(x, key, EVP_sha256()) > 0;
}

/* Takes the text of a memory BIO. NULL: no memory. */
static char *certificate_take_text(BIO *bio)
{
        char *data;
        long n = BIO_get_mem_data(bio, &data);
        return n > 0 ? strndup(data, (size_t)n) : NULL;
}

int crypto_certificate_make(const char *common_name, const char *const *names, int64_t valid_s, char **key,
                            char **certificate)
{
        EVP_PKEY *pair = EVP_EC_gen("P-256");
        X509 *x = X509_new();
        BIO *key_text = BIO_new(BIO_s_mem()), *text = BIO_new(BIO_s_mem());
        bool good = pair && x && key_text && text && certificate_fill(x, pair, common_name, names, valid_s) &&
                    PEM_write_bio_PrivateKey(key_text, pair, NULL, NULL, 0, NULL, NULL) && PEM_write_bio_X509(text, x);
        *key = good ? certificate_take_text(key_text) : NULL;
        *certificate = good ? certificate_take_text(text) : NULL;
        good = *key && *certificate;
        if (!good) {
                free(*key);
                free(*certificate);
                *key = *certificate = NULL;
        }
        BIO_free(text);
        BIO_free(key_text); /* OpenSSL clears the memory of a BIO */
        X509_free(x);
        EVP_PKEY_free(pair);
        return good ? 0 : -ENOMEM;
}

int crypto_certificate_inspect(const char *certificate, const char *key, const char *name, int64_t *expires_s)
{
        BIO *text = BIO_new_mem_buf(certificate, -1), *key_text = key ? BIO_new_mem_buf(key, -1) : NULL;
        X509 *x = text ? PEM_read_bio_X509(text, NULL, NULL, NULL) : NULL;
        EVP_PKEY *pair = key_text ? PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL) : NULL;
        struct tm parts;
        int r = x && (!key || pair) && ASN1_TIME_to_tm(X509_get0_notAfter(x), &parts) ? 0 : -EBADMSG;
        if (r == 0)
                *expires_s = (int64_t)timegm(&parts);
        if (r == 0 && key && X509_check_private_key(x, pair) != 1)
                r = -EKEYREJECTED;
        if (r == 0 && name && X509_check_host(x, name, 0, 0, NULL) != 1)
                r = -ENOENT;
        X509_free(x);
        EVP_PKEY_free(pair);
        BIO_free(text);
        BIO_free(key_text);
        return r;
}
