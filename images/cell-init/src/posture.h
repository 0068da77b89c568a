// A posture's records; contract/frames-posture.ts has their fields.
#pragma once
#include <stdbool.h>
#include "wire.h"

enum posture_key {
    POSTURE_IDS = 1,
    POSTURE_GROUP,
    POSTURE_CAPS,
    POSTURE_NO_NEW_PRIVS,
    POSTURE_SECCOMP,
    POSTURE_INTERFACE,
    POSTURE_PROC_INTERFACE,
    POSTURE_ROUTE,
    POSTURE_MOUNT,
    POSTURE_RLIMIT,
    POSTURE_CGROUP,
    POSTURE_DEVICE,
    POSTURE_ENV,
    POSTURE_FD,
    POSTURE_CWD,
    POSTURE_UID_MAP,
    POSTURE_GID_MAP,
    POSTURE_HOSTNAME,
    POSTURE_KERNEL,
    POSTURE_OOM_SCORE_ADJ,
    POSTURE_LSM,
    POSTURE_INIT,
    POSTURE_CPUS,
    POSTURE_TRIED,
    POSTURE_HIDDEN,
    POSTURE_UNREADABLE = 30,
    POSTURE_MORE,
};

static inline void record_begin(struct writer *w, enum posture_key key) {
    put_uint(w, key, 1);
    put_uint(w, 0, 1);
}

static inline void record_uint(struct writer *w, uint64_t value) {
    w->at[1]++;
    put_uint(w, 1, 1);
    put_uint(w, value, 8);
}

static inline void record_bytes(struct writer *w, const void *bytes, size_t length) {
    w->at[1]++;
    put_uint(w, 2, 1);
    put_str(w, bytes, length < MAX_POSTURE_FIELD_BYTES ? length : MAX_POSTURE_FIELD_BYTES);
}

// Inheritable, permitted, effective, bounding, ambient.
bool read_capabilities(uint64_t caps[5]);

// record.c: how the posture child writes.
extern struct writer record;
void begin_record(enum posture_key key);
void end_record(void);
void flush_records(void);
void say_number(enum posture_key key, uint64_t value);
void say_text(enum posture_key key, const char *text);
void say_unreadable(enum posture_key of);
void say_more(enum posture_key of);

// Each reports its own part.
void say_identity(void);
void say_network(void);
void say_mounts(void);
void say_devices(void);
void say_tried(void);
void say_hidden(void);
