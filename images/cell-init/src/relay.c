// Passes the frames of our own children (posture, collector) on to the host, whole or not at all: if the kernel kills a
// child in the middle of a frame, the stream stays as it was before that frame.
#include <errno.h>
#include <unistd.h>
#include "cell.h"

struct relay relay = {.fd = -1};

static uint8_t buffer[2 * (HEADER_BYTES + MAX_CHUNK_BYTES)];
static size_t filled;

void relay_hold(void) {
    touch(buffer, sizeof buffer);
}

void relay_start(int fd, uint8_t first, uint8_t last) {
    filled = 0;
    relay = (struct relay){.fd = fd, .first = first, .last = last};
}

// Called only when the queue has room for the whole buffer.
void relay_read(void) {
    ssize_t n = read(relay.fd, buffer + filled, sizeof buffer - filled);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        close(relay.fd);
        relay.fd = -1;
        return;
    }
    filled += (size_t)n;
    size_t used = 0;
    while (filled - used >= HEADER_BYTES) {
        uint8_t type;
        size_t length;
        struct fault fault;
        if (!frame_header(buffer + used, &type, &length, &fault)) fail_as(&fault);
        if (type < relay.first || type > relay.last || length > MAX_CHUNK_BYTES) fail(E_SYSTEM, 0, "a child of init sent another frame");
        if (filled - used - HEADER_BYTES < length) break;
        struct writer w = out_begin(length);
        put_bytes(&w, buffer + used + HEADER_BYTES, length);
        out_end(type, &w);
        relay.frames++;
        relay.last_type = type;
        used += HEADER_BYTES + length;
    }
    memmove(buffer, buffer + used, filled - used);
    filled -= used;
}
