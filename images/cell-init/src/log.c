// A block's output: sent as it comes up to the head's size, then kept in the tail's ring.
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cell.h"

#define LOG_HEADER_BYTES (1 + 1 + 2 + 8)
#define SMALL_READ 4096
#define SMALL_READS 1000
#define QUIET_US 4000

static uint8_t no_tail[MAX_LOG_CHUNK_BYTES];
// A program that writes byte by byte must not cause a frame per byte. 1,000 small reads a second are free, so that a line
// is sent at once and the order of both streams is kept; further ones wait 4 ms for more.
static uint64_t small_reads = SMALL_READS, refilled_at, quiet_until;
static bool draining;

void log_start(void) {
    cell.log_head_left = cell.job.limits.log_head_bytes;
    refilled_at = now_us();
    size_t size = cell.job.limits.log_tail_bytes & ~(size_t)7;
    if (!size) return;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail(E_SYSTEM, errno, "no memory for the log's tail");
    // Touched before the job can use up the memory.
    hold(memory, size);
    cell.ring.memory = memory;
    cell.ring.size = size;
}

bool log_wanted(uint64_t now, uint64_t *wake_at) {
    // BLOCK_STARTED precedes the first LOG, and is sent only once the exec is known to have worked.
    if (cell.status_fd >= 0 || (cell.streams[0].fd < 0 && cell.streams[1].fd < 0)) return false;
    if (out_room() < 4 * (HEADER_BYTES + LOG_HEADER_BYTES + MAX_LOG_CHUNK_BYTES)) return false;
    if (quiet_until <= now || draining) return true;
    if (quiet_until < *wake_at) *wake_at = quiet_until;
    return false;
}

static void count_small_read(void) {
    uint64_t now = now_us();
    uint64_t refill = (now - refilled_at) / 1000;
    refilled_at += refill * 1000;
    small_reads = small_reads + refill > SMALL_READS ? SMALL_READS : small_reads + refill;
    if (small_reads) small_reads--;
    else quiet_until = now + QUIET_US;
}

static void put_log_header(struct writer *w, int stream, bool tail, size_t index, uint64_t at_us) {
    put_uint(w, (uint64_t)stream, 1);
    put_uint(w, tail, 1);
    put_uint(w, index, 2);
    put_uint(w, at_us, 8);
}

static ssize_t read_to_host(struct stream *stream, int number) {
    size_t want = cell.log_head_left < MAX_LOG_CHUNK_BYTES ? cell.log_head_left : MAX_LOG_CHUNK_BYTES;
    struct writer w = out_begin(LOG_HEADER_BYTES + MAX_LOG_CHUNK_BYTES);
    ssize_t n = read(stream->fd, w.at + LOG_HEADER_BYTES, want);
    if (n <= 0) return n;
    put_log_header(&w, number, false, cell.block_index, since_start());
    put_room(&w, (size_t)n);
    out_end(T_LOG, &w);
    cell.log_head_left -= (size_t)n;
    return n;
}

static void say_limit(void) {
    if (cell.log_limit_sent) return;
    cell.log_limit_sent = true;
    struct writer w = out_begin(16);
    put_uint(&w, since_start(), 8);
    put_uint(&w, cell.job.limits.log_head_bytes, 8);
    out_end(T_LOG_LIMIT, &w);
    if (cell.job.limits.log_limit_ends) ask_to_stop(CAUSE_LOG_LIMIT, now_us());
}

static ssize_t read_to_ring(struct stream *stream, int number) {
    if (!cell.ring.size) {
        ssize_t n = read(stream->fd, no_tail, sizeof no_tail);
        if (n > 0) cell.ring.dropped[number] += (uint64_t)n;
        return n;
    }
    size_t want = cell.ring.size / 8 < MAX_LOG_CHUNK_BYTES ? cell.ring.size / 8 : MAX_LOG_CHUNK_BYTES;
    ssize_t n = read(stream->fd, ring_reserve(&cell.ring, want), want);
    if (n <= 0) return n;
    struct ring_record record = {
        .at_us = since_start(), .length = (uint32_t)n, .index = (uint16_t)cell.block_index, .stream = (uint8_t)number};
    ring_commit(&cell.ring, &record);
    return n;
}

void log_read(int which) {
    struct stream *stream = &cell.streams[which];
    bool head = cell.log_head_left > 0;
    ssize_t n = head ? read_to_host(stream, which + 1) : read_to_ring(stream, which + 1);
    if (n < 0 && (errno == EAGAIN || errno == EINTR) && !draining) return;
    if (n <= 0) {
        close(stream->fd);
        stream->fd = -1;
        return;
    }
    stream->bytes += (uint64_t)n;
    if (n < SMALL_READ) count_small_read();
    if (!head) say_limit();
}

// All processes are dead: the pipes hold all there will be.
void log_drain(void) {
    draining = true;
    for (int i = 0; i < 2; i++) {
        while (cell.streams[i].fd >= 0) {
            uint64_t wake_at = NEVER;
            if (log_wanted(now_us(), &wake_at)) log_read(i);
            else pump(NEVER);
        }
    }
    draining = false;
}

void log_tail(void) {
    if (!cell.log_limit_sent) return;
    struct writer w = out_begin(16);
    put_uint(&w, cell.ring.dropped[1], 8);
    put_uint(&w, cell.ring.dropped[2], 8);
    out_end(T_LOG_TAIL, &w);
    struct ring_record record;
    const uint8_t *bytes;
    while ((bytes = ring_take(&cell.ring, &record))) {
        w = out_begin(LOG_HEADER_BYTES + record.length);
        put_log_header(&w, record.stream, true, record.index, record.at_us);
        put_bytes(&w, bytes, record.length);
        out_end(T_LOG, &w);
    }
}
