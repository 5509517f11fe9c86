/*
 * Bulk data between processes: shuffle partitions, cached blocks, pieces of broadcasts, files. Control messages use
 * rpc/rpc.h instead.
 *
 * A connection carries one exchange at a time, and then the next: the client sends a request
 * (rpc/transfer/transfer.proto), and the server answers with a stream of bytes of any length, or an error message; or
 * the client sends the stream (an upload) and the server confirms or rejects it. All numbers are little-endian.
 *
 *      once, from the client:  "FSTX" | version u16 | length of the application's id u16 | the id
 *      then frames both ways:  length u32 | kind u8 | check u24 | length bytes
                                The check is the lower 24 bits of the CRC-32C of length and kind.
 *
 *      kind            from    what follows
 *      1 FETCH         client  a request, and its CRC-32C u32; DATA… END, or FAILED, is the answer
 *      2 PUT           client  a request, and its CRC-32C u32; DATA… END from the client follow; END or FAILED is the answer, which may
 *                              come before all was sent
 *      3 DATA          both    bytes of the stream; at least one
 *      4 END           both    the stream is complete; length 0
 *      5 FAILED        server  a negated errno i32, a sentence, and the CRC-32C u32 of both: the stream ends here; the connection stays good
 *                              unless the exchange was an upload
 *
 * A wrong check or CRC ends the connection. The bytes of streams have checksums of their own: pages (store/page_frame.h), pieces of
 * broadcasts, results, slices, and files by their SHA-256.
 *
 * TCP's flow control provides back-pressure: a server buffers no more of a stream than its source holds anyway. With
 * security (net/security.h) everything is inside TLS.
 */
#pragma once

#include "rpc/transfer/transfer_client.h"
#include "rpc/transfer/transfer_server.h"
