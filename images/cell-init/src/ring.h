// A log's tail: the last bytes of both streams in the order they were read, in memory of a fixed size.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_record {
    uint64_t at_us;
    uint32_t length;
    uint16_t index;
    uint8_t stream;
};

struct ring {
    uint8_t *memory;
    size_t size;
    // Records lie at first..next, or, when wrapped, at first..end and 0..next.
    size_t first, next, end;
    bool wrapped;
    uint64_t dropped[3];  // By stream, 1 and 2.
};

// Room for up to `want` bytes behind the newest record (want ≤ size / 8), at the cost of the oldest ones.
uint8_t *ring_reserve(struct ring *ring, size_t want);
void ring_commit(struct ring *ring, const struct ring_record *record);
// Removes the oldest record; NULL if there is none. Its bytes stay valid until the next reserve.
const uint8_t *ring_take(struct ring *ring, struct ring_record *record);
