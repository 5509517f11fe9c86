/*
 * A PKCS#12 key store whose key has another password than the store, as only Java's KeyStore.setEntry creates it, and
 * its certificate: an EC key for localhost, valid for a hundred years.
 */
#pragma once

#define TWO_PASSWORDS_STORE "store"
#define TWO_PASSWORDS_KEY "inner"

/* In base64. */
static const char two_passwords_store[] =
        "MIIDhAIBAzCCAzoGCSqGSIb3DQEHAaCCAysEggMnMIIDIzCCAgIGCSqGSIb3DQEHBqCCAfMwggHvAgEAMIIB6AYJKoZIhvcNAQcB"
        "MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj+hkzecTaN8AICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEELrb"
        "heZIdZzn39FfUDsS4zuAggGAY6EBnSfsSSZDHT8lPv8DLjmpaWh4Zk6+L7186VcdP9fGEWB1fhaax//1oirhKlPU6zIeg3+MEkZg"
        "uSMFGmMfFO3snn70G0dbRRI1d682vDooaeUykUZexpQ2VYsU1aVLdpy4/E9Vow9YhAzcj1xG1ABnO6mBy4s1bQ9g9xQbLx826/bK"
        "/G2KI5Xyaa98edel5au78Oa8oQNssl2+zSfKpJ0MRV7odMD6QB5n7+0ICuBh/N0fg7LJTprsrKvJvsoorDQRO9sNlFLvm92cS6ko"
        "MYTDHDUXWhS0GokzkRj1Z5kCdoI2eMstDx1EG4a/jl7BYmvRV+7zTQ2XpUbAYQsgZ90uO1YQXi6MMeg0FOth8MfMZbSmU/H18M/4"
        "w5GePqS5aZOHUdw4D/9KpmlmXAzqmkZlR1LnUo7UZK5oWkbgIl5w6vu9AohHHn8tsIksZLBl3qUocd1wwYQseAd/NlmaYDu/m3Ky"
        "TWLbvO9ItOK2Lzg621ffd4y9PcTrhGPF3Q4WMIIBGQYJKoZIhvcNAQcBoIIBCgSCAQYwggECMIH/BgsqhkiG9w0BDAoBAqCB7zCB"
        "7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIgENaDQ0UVc4CAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBD6"
        "OYunTD1szcDNocEKhf6pBIGQ6jdKtxaPlFKb2BU998az4aq0W0KKiFYxrbThQOszuc77liNrFnAeaZsAi4NnYchI5eDEBIRmecOd"
        "VuVhOC+0apMjkbx7qs//rnphe84l/qXroo0eYf5B0NxKiN0+o6iQNOCnls4ORsFyTAQJQy585RNphcBWw0bjWRs1gGTas5Y6rCR5"
        "Tc/ip+TVHr6yFsvEMEEwMTANBglghkgBZQMEAgEFAAQgspeUoWkLj2ONPIEo0sLU608Pe0nelWrn5MZoEArU/ggECHVGGY/XjnCP"
        "AgIIAA==";

static const char two_passwords_certificate[] = "-----BEGIN CERTIFICATE-----\n"
                                                "MIIBPjCB5aADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z\n"
                                                "dDAgFw0yNTExMjQxMDE0MDVaGA8yMTI2MTAzMTEwMTQwNVowFDESMBAGA1UEAwwJ\n"
                                                "bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE4VOzWvR7qJvw8eio\n"
                                                "t1C1MkUuhoWXShakxROuew9Ch/zFZBuVpWmMuZSorszbNCT+cT97ozSYLgVFJO/b\n"
                                                "xnWaPqMmMCQwFAYDVR0RBA0wC4IJbG9jYWxob3N0MAwGA1UdEwQFMAMBAf8wCgYI\n"
                                                "KoZIzj0EAwIDSAAwRQIgCKVdKfN8HxQ0Rbx5zbOmVigwdV6lyg12dNyZTlUWc0YC\n"
                                                "IQCZbMI69xay8bPn7aLpuH0Ai62qirjM21jI9lepx9S3DQ==\n"
                                                "-----END CERTIFICATE-----\n";
