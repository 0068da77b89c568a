// The posture child writes one frame per record; blocking, into the pipe that init reads.
#include "posture.h"
#include <errno.h>
#include <unistd.h>

static uint8_t frame[HEADER_BYTES + 2 + 9 * (3 + 512)];
static size_t records;
struct writer record;

void begin_record(enum posture_key key) {
    record = (struct writer){.at = frame + HEADER_BYTES, .room = sizeof frame - HEADER_BYTES};
    record_begin(&record, key);
}

void end_record(void) {
    // A record that does not fit, or one too many, is a posture that cannot be judged.
    if (record.bad || ++records > MAX_POSTURE_RECORDS - 1) _exit(3);
    set_header(frame, T_POSTURE, record.length);
    for (size_t sent = 0, size = HEADER_BYTES + record.length; sent < size;) {
        ssize_t n = write(STDOUT_FILENO, frame + sent, size - sent);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) _exit(3);
        sent += (size_t)n;
    }
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
