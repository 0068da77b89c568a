// Little-endian integers and counted strings, bounded on both sides: a reader past its end or a writer past its room turns
// bad and stays so, and the caller checks once, at the end.
#pragma once
#include "proto.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
    const uint8_t *at;
    size_t left;
    bool bad;
};

static inline uint64_t get_uint(struct reader *r, size_t bytes) {
    if (r->bad || r->left < bytes) {
        r->bad = true;
        return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)r->at[i] << (8 * i);
    r->at += bytes;
    r->left -= bytes;
    return value;
}

static inline const uint8_t *get_bytes(struct reader *r, size_t bytes) {
    if (r->bad || r->left < bytes) {
        r->bad = true;
        return NULL;
    }
    const uint8_t *at = r->at;
    r->at += bytes;
    r->left -= bytes;
    return at;
}

static inline const uint8_t *get_str(struct reader *r, size_t *length) {
    *length = get_uint(r, 2);
    return get_bytes(r, *length);
}

static inline void set_uint(uint8_t *at, uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> (8 * i));
}

struct writer {
    uint8_t *at;
    size_t room;
    size_t length;
    bool bad;
};

static inline uint8_t *put_room(struct writer *w, size_t bytes) {
    if (w->bad || w->room - w->length < bytes) {
        w->bad = true;
        return NULL;
    }
    uint8_t *at = w->at + w->length;
    w->length += bytes;
    return at;
}

static inline void put_uint(struct writer *w, uint64_t value, size_t bytes) {
    uint8_t *at = put_room(w, bytes);
    if (at) set_uint(at, value, bytes);
}

static inline void put_bytes(struct writer *w, const void *bytes, size_t length) {
    uint8_t *at = put_room(w, length);
    if (at && length) memcpy(at, bytes, length);
}

static inline void put_str(struct writer *w, const void *bytes, size_t length) {
    put_uint(w, length, 2);
    put_bytes(w, bytes, length);
}

static inline void set_header(uint8_t *at, uint8_t type, size_t length) {
    at[0] = MAGIC;
    at[1] = VERSION;
    at[2] = type;
    at[3] = 0;
    set_uint(at + 4, length, 4);
}
