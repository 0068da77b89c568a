// The bytes that reach init, into what takes them: whatever comes, nothing may be read or written out of its bounds.
// First byte: 0 the stream as it comes, 1 frames without their headers (type, u16 length, payload), 2 a log's ring.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "../src/job.h"
#include "../src/ring.h"
#include "../src/wire.h"

static void check(const struct job *job) {
    assert(job->env_count <= MAX_ENV_VARIABLES && job->env_bytes <= MAX_ENV_BYTES);
    assert(job->block_count <= MAX_BLOCKS && job->code_bytes <= MAX_ALL_CODE_BYTES && job->file_bytes <= MAX_ALL_FILE_BYTES);
    for (size_t i = 0; i < job->env_count; i++) assert(strchr(job->env[i], '='));
    if (job->phase < SEALED) assert(job->block_count == 0 && job->file_count == 0);
    if (job->phase != EXPECT_HELLO) assert(job->uid >= LOWEST_UID && job->gid >= LOWEST_UID);
    if (job->phase != STARTED) return;
    assert(!job->is_session || job->block_count == 1);
    assert(job->block_count > 0 && job->block_left == 0 && job->file_left == 0);
    for (size_t i = 0; i < job->block_count; i++) {
        const struct block *b = &job->blocks[i];
        assert(b->programs[0] && b->path && b->code && (*b->path || b->size == 0));
        assert(b->path[0] != '/' && !strstr(b->path, "//") && strncmp(b->path, "../", 3) && strcmp(b->path, ".."));
    }
}

static void take_stream(struct job *job, const uint8_t *data, size_t size) {
    struct fault fault;
    uint8_t type;
    size_t length;
    while (size >= HEADER_BYTES && frame_header(data, &type, &length, &fault)) {
        assert(length <= MAX_PAYLOAD_BYTES);
        if (size - HEADER_BYTES < length) return;
        // A copy of its own: reading past the payload shows even in the middle of the input.
        uint8_t *payload = malloc(length ? length : 1);
        memcpy(payload, data + HEADER_BYTES, length);
        enum job_event event = job_frame(job, type, payload, length, &fault);
        free(payload);
        if (event == EV_FAULT) return;
        check(job);
        if (event == EV_STEP) job_step_over(job);
        data += HEADER_BYTES + length;
        size -= HEADER_BYTES + length;
    }
}

static void take_frames(struct job *job, const uint8_t *data, size_t size) {
    struct reader r = {.at = data, .left = size};
    struct fault fault;
    for (;;) {
        uint8_t type = get_uint(&r, 1);
        size_t length;
        const uint8_t *payload = get_str(&r, &length);
        if (r.bad) return;
        enum job_event event = job_frame(job, type, payload, length, &fault);
        if (event == EV_FAULT) return;
        check(job);
        if (event == EV_STEP) job_step_over(job);
    }
}

// What was put in less what was dropped comes out, in order.
static void fill_ring(const uint8_t *data, size_t size) {
    enum { SIZE = 4096 };
    struct ring ring = {.memory = malloc(SIZE), .size = SIZE};
    uint64_t put = 0, taken = 0, next = 0;
    for (size_t i = 0; i + 1 < size; i += 2) {
        size_t want = SIZE / 8, length = (data[i] << 1 | data[i + 1] >> 7) % want + 1;
        memset(ring_reserve(&ring, want), (int)(i & 0xff), length);
        struct ring_record record = {.at_us = i, .length = (uint32_t)length, .stream = 1 + (data[i + 1] & 1)};
        ring_commit(&ring, &record);
        put += length;
    }
    struct ring_record record;
    for (const uint8_t *bytes; (bytes = ring_take(&ring, &record));) {
        assert(record.at_us >= next && record.length > 0 && bytes[0] == (record.at_us & 0xff) && bytes[record.length - 1] == bytes[0]);
        next = record.at_us + 1;
        taken += record.length;
    }
    assert(put == taken + ring.dropped[1] + ring.dropped[2]);
    free(ring.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    struct job *job = calloc(1, sizeof *job);
    if (data[0] == 0) take_stream(job, data + 1, size - 1);
    if (data[0] == 1) take_frames(job, data + 1, size - 1);
    if (data[0] == 2) fill_ring(data + 1, size - 1);
    job_free(job);
    free(job);
    return 0;
}
