/*
 * Bulk data between processes: shuffle partitions, cached blocks, pieces of broadcasts, files. Control messages go
 * over rpc/rpc.h; this is the wide pipe beside it.
 *
 * A connection carries one exchange at a time, and then the next: the client sends a request (rpc/transfer/transfer.proto says
 * what can be asked), the server answers with a stream of bytes of any length, or a sentence that says why not; or the
 * client sends the stream (an upload) and the server says whether it took it. All numbers are little-endian.
 *
 *      once, from the client:  "FSTX" | version u16 | length of the application's id u16 | the id
 *      then frames both ways:  length u32 | kind u8 | 3 bytes of zero | length bytes
 *
 *      kind            from    what follows
 *      1 FETCH         client  a request; DATA… END, or FAILED, is the answer
 *      2 PUT           client  a request; DATA… END from the client follow; END or FAILED is the answer, which may
 *                              come before all was sent
 *      3 DATA          both    bytes of the stream; at least one
 *      4 END           both    the stream is complete; length 0
 *      5 FAILED        server  a negated errno i32, and a sentence: the stream ends here; the connection stays good
 *                              unless the exchange was an upload
 *
 * TCP's own flow control is the back-pressure: a server holds no more of a stream than what its source has at hand
 * anyway. With security (net/security.h) all of it is inside TLS.
 */
#pragma once

#include "rpc/transfer/transfer_client.h"
#include "rpc/transfer/transfer_server.h"
