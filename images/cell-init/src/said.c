// What the interpreter says about its step: that it is done, and what it displays. It is the job's word, so nothing of it
// is believed but its length: a message without the step's nonce is of an earlier step, and is dropped.
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "cell.h"

#define LENGTH_BYTES 4
#define NONCE_BYTES 16
#define KIND_DONE 0
// What a message costs the host beside its bytes: without it, empty ones would be free.
#define MESSAGE_COST 64

static uint8_t buffer[LENGTH_BYTES + NONCE_BYTES + 1 + MAX_SAID_BYTES];
static size_t filled;

void said_hold(void) {
    touch(buffer, sizeof buffer);
}

void said_start(void) {
    filled = 0;
}

// Only while a step of its runs: what it says before waits in its socket.
bool said_wanted(void) {
    const struct interpreter *i = &cell.interpreter;
    // BLOCK_STARTED precedes the first of it.
    return i->asked && !i->done && !i->broken && cell.status_fd < 0;
}

static void tell_host(uint8_t kind, const uint8_t *bytes, size_t length) {
    struct interpreter *i = &cell.interpreter;
    if (kind == KIND_DONE) {
        i->done = true;
    } else if (length + MESSAGE_COST > cell.job.said_bytes) {
        // Over its budget: the host hears of it by what is missing.
        cell.job.said_bytes = 0;
        return;
    } else {
        cell.job.said_bytes -= length + MESSAGE_COST;
    }
    struct writer w = out_begin(3 + length);
    put_uint(&w, cell.block_index, 2);
    put_uint(&w, kind, 1);
    put_bytes(&w, bytes, length);
    out_end(T_SAID, &w);
}

// Called only when the queue has room for what the buffer can hold.
void said_read(void) {
    struct interpreter *i = &cell.interpreter;
    ssize_t n = read(i->channel, buffer + filled, sizeof buffer - filled);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        i->broken = true;
        return;
    }
    filled += (size_t)n;
    size_t used = 0;
    while (!i->done && filled - used >= LENGTH_BYTES) {
        struct reader r = {.at = buffer + used, .left = LENGTH_BYTES};
        size_t length = get_uint(&r, LENGTH_BYTES);
        if (length < NONCE_BYTES + 1 || length > NONCE_BYTES + 1 + MAX_SAID_BYTES) {
            i->broken = true;
            return;
        }
        if (filled - used - LENGTH_BYTES < length) break;
        const uint8_t *message = buffer + used + LENGTH_BYTES;
        if (memcmp(message, i->nonce, NONCE_BYTES) == 0)
            tell_host(message[NONCE_BYTES], message + NONCE_BYTES + 1, length - NONCE_BYTES - 1);
        used += LENGTH_BYTES + length;
    }
    memmove(buffer, buffer + used, filled - used);
    filled -= used;
}
