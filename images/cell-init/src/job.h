// The host's request, decoded from its frames. Memory only and without side effects, so that a fuzzer can drive it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "proto.h"

struct rlimit_setting {
    uint8_t resource;
    uint64_t value;
};

struct limits {
    uint64_t run_ms, lifetime_ms;
    uint32_t grace_ms;
    uint64_t log_head_bytes;
    uint32_t log_tail_bytes;
    bool log_limit_ends;
    uint64_t output_bytes;
    uint32_t output_files;
    uint16_t output_depth, output_path_bytes;
};

struct block {
    uint64_t time_ms;
    char *programs[MAX_PROGRAMS + 1];
    char **args;  // args[0] stays free for the program.
    char *path;   // Empty: no file.
    uint8_t *code;
    uint32_t size;
    uint8_t sha256[32];
    bool in_interpreter;  // Of a step.
};

struct incoming_file {
    char path[MAX_PATH_BYTES + 1];
    uint64_t size;
    uint8_t sha256[32];
};

// What is kept of /work at the end, at most. Without one nothing is.
struct workspace {
    bool asked;
    uint64_t bytes;
    uint32_t files;
};

// IDLE: between the steps of a session.
enum job_phase { EXPECT_HELLO, EXPECT_SEAL, SEALED, LOADING, STARTED, IDLE };

struct job {
    enum job_phase phase;
    uint32_t uid, gid;
    uint64_t waiting_ms;
    struct rlimit_setting rlimits[MAX_RLIMITS];
    size_t rlimit_count;
    uint16_t cpus, first_cpu;  // How many processors its processes begin on (0: all), from the how-manieth on.
    char *env[MAX_ENV_VARIABLES + 1];
    size_t env_count, env_bytes;
    uint8_t nonce[MAX_NONCE_BYTES];
    struct limits limits;
    struct block blocks[MAX_BLOCKS];
    size_t block_count;
    uint64_t code_bytes;
    struct incoming_file file;
    size_t file_count;
    uint64_t file_bytes;
    // Bytes still to come of the file or of the last block.
    uint64_t file_left, block_left;
    struct block *filling;  // The block whose bytes come.
    struct block preload;
    bool has_preload, env_came_late;
    uint8_t kill_reason;

    struct workspace workspace;
    bool is_session;
    uint64_t said_bytes;  // What its interpreter may tell the host in all.
    uint16_t steps;       // Those that are over; the number of the next one.
    char *collected[MAX_COLLECTED];
    size_t collected_count;
};

enum job_event {
    EV_NONE,
    EV_HELLO,
    EV_SEAL,
    EV_PRELOAD,
    EV_JOB,
    EV_FILE,       // job->file was announced; may be empty.
    EV_FILE_DATA,  // The payload belongs to job->file.
    EV_START,
    EV_KILL,
    EV_STEP,
    EV_INTERRUPT,
    EV_FINISH,
    EV_FAULT,
};

struct fault {
    enum cell_error code;
    int err;
    const char *text;
};

enum job_event job_frame(struct job *job, uint8_t type, const uint8_t *payload, size_t length, struct fault *fault);

// Checks a header. False: not this protocol (fault has the reason).
bool frame_header(const uint8_t *header, uint8_t *type, size_t *length, struct fault *fault);

// The step is over: its code is forgotten, and the next one may come.
void job_step_over(struct job *job);

void job_free(struct job *job);
