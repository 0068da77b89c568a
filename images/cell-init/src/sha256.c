// FIPS 180-4. test/cell-init has known answers, and all code and files that reach a cell are checked with it.
#include "sha256.h"
#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static inline uint32_t ror(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

static void compress(uint32_t h[8], const uint8_t *block) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, h, sizeof v);
    // The eight words change places every round: with eight rounds written out, nothing has to be moved.
#define ROUND(a, b, c, d, e, f, g, h, i)                                                              \
    do {                                                                                              \
        uint32_t t = h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + w[i]; \
        d += t;                                                                                       \
        h = t + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));                \
    } while (0)
    for (int i = 0; i < 64; i += 8) {
        ROUND(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], i);
        ROUND(v[7], v[0], v[1], v[2], v[3], v[4], v[5], v[6], i + 1);
        ROUND(v[6], v[7], v[0], v[1], v[2], v[3], v[4], v[5], i + 2);
        ROUND(v[5], v[6], v[7], v[0], v[1], v[2], v[3], v[4], i + 3);
        ROUND(v[4], v[5], v[6], v[7], v[0], v[1], v[2], v[3], i + 4);
        ROUND(v[3], v[4], v[5], v[6], v[7], v[0], v[1], v[2], i + 5);
        ROUND(v[2], v[3], v[4], v[5], v[6], v[7], v[0], v[1], i + 6);
        ROUND(v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[0], i + 7);
    }
#undef ROUND
    for (int i = 0; i < 8; i++) h[i] += v[i];
}

void sha256_start(struct sha256 *s) {
    static const uint32_t start[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    memcpy(s->state, start, sizeof start);
    s->bytes = 0;
}

void sha256_add(struct sha256 *s, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    size_t held = s->bytes % 64;
    s->bytes += length;
    if (held) {
        size_t take = length < 64 - held ? length : 64 - held;
        if (take) memcpy(s->block + held, at, take);
        at += take;
        length -= take;
        if (held + take < 64) return;
        compress(s->state, s->block);
    }
    for (; length >= 64; at += 64, length -= 64) compress(s->state, at);
    if (length) memcpy(s->block, at, length);
}

void sha256_end(struct sha256 *s, uint8_t digest[32]) {
    uint64_t bits = s->bytes * 8;
    uint8_t pad[72] = {0x80};
    size_t zeros = (s->bytes % 64 < 56 ? 56 : 120) - s->bytes % 64;
    for (int i = 0; i < 8; i++) pad[zeros + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, pad, zeros + 8);
    for (int i = 0; i < 32; i++) digest[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}
