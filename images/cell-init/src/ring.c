#include "ring.h"
#include <string.h>

// Records start at multiples of 8, so that a header never wraps.
static size_t space(size_t length) {
    return (sizeof(struct ring_record) + length + 7) & ~(size_t)7;
}

static bool empty(const struct ring *ring) {
    return !ring->wrapped && ring->first == ring->next;
}

const uint8_t *ring_take(struct ring *ring, struct ring_record *record) {
    if (empty(ring)) return NULL;
    memcpy(record, ring->memory + ring->first, sizeof *record);
    const uint8_t *bytes = ring->memory + ring->first + sizeof *record;
    ring->first += space(record->length);
    if (ring->wrapped && ring->first == ring->end) {
        ring->first = 0;
        ring->wrapped = false;
    }
    if (empty(ring)) ring->first = ring->next = 0;
    return bytes;
}

static void drop(struct ring *ring) {
    struct ring_record oldest;
    if (ring_take(ring, &oldest)) ring->dropped[oldest.stream] += oldest.length;
}

uint8_t *ring_reserve(struct ring *ring, size_t want) {
    size_t need = space(want);
    // Dropping a record may unwrap the ring and leave too little room behind the newest one, so check after each.
    for (;;) {
        if (!ring->wrapped && ring->size - ring->next >= need) break;
        if (!ring->wrapped) {
            ring->end = ring->next;
            ring->next = 0;
            ring->wrapped = true;
        }
        if (ring->first - ring->next >= need) break;
        drop(ring);
    }
    return ring->memory + ring->next + sizeof(struct ring_record);
}

void ring_commit(struct ring *ring, const struct ring_record *record) {
    memcpy(ring->memory + ring->next, record, sizeof *record);
    ring->next += space(record->length);
}
