// The posture child writes one frame per record, many at a time and blocking, into the pipe that init reads: under gVisor
// a write for each record, which wakes init, takes as long as dozens of the calls it reports.
#include "posture.h"
#include <errno.h>
#include <unistd.h>

#define MOST_FRAME (HEADER_BYTES + 2 + 9 * (3 + 512))

static uint8_t frames[4 * MOST_FRAME];
static size_t held, records;
struct writer record;

void flush_records(void) {
    for (size_t sent = 0; sent < held;) {
        ssize_t n = write(STDOUT_FILENO, frames + sent, held - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(3);
        sent += (size_t)n;
    }
    held = 0;
}

void begin_record(enum posture_key key) {
    if (sizeof frames - held < MOST_FRAME) flush_records();
    record = (struct writer){.at = frames + held + HEADER_BYTES, .room = MOST_FRAME - HEADER_BYTES};
    record_begin(&record, key);
}

void end_record(void) {
    // With a record too long or one too many, the posture cannot be judged.
    if (record.bad || ++records > MAX_POSTURE_RECORDS - 1) _exit(3);
    set_header(frames + held, T_POSTURE, record.length);
    held += HEADER_BYTES + record.length;
}

void say_number(enum posture_key key, uint64_t value) {
    begin_record(key);
    record_uint(&record, value);
    end_record();
}

void say_text(enum posture_key key, const char *text) {
    begin_record(key);
    record_bytes(&record, text, strnlen(text, 512));
    end_record();
}

void say_unreadable(enum posture_key of) {
    int err = errno;
    begin_record(POSTURE_UNREADABLE);
    record_uint(&record, of);
    record_uint(&record, (uint64_t)err);
    end_record();
}

void say_more(enum posture_key of) {
    say_number(POSTURE_MORE, of);
}
