#include <stdlib.h>
#include "decode.h"
#include "sha256.h"

// A year, so that sums of times cannot overflow.
#define MAX_MS (366ull * 24 * 3600 * 1000)

bool frame_header(const uint8_t *header, uint8_t *type, size_t *length, struct fault *fault) {
    struct reader r = {.at = header + 4, .left = 4};
    *type = header[2];
    *length = get_uint(&r, 4);
    const char *wrong = header[0] != MAGIC || header[3] != 0 ? "the stream is not frames"
                        : header[1] != VERSION               ? "another version of the protocol"
                        : *length > MAX_PAYLOAD_BYTES        ? "a frame is too long"
                                                             : NULL;
    if (wrong) *fault = (struct fault){.code = E_PROTOCOL, .text = wrong};
    return !wrong;
}

char *copy_str(const uint8_t *bytes, size_t length) {
    char *text = malloc(length + 1);
    if (!text) return NULL;
    memcpy(text, bytes, length);
    text[length] = 0;
    return text;
}

static bool has_nul(const uint8_t *bytes, size_t length) {
    return length && memchr(bytes, 0, length);
}

// Relative, no part empty, `.` or `..`, all bounded: what openat can follow part by part without leaving /work.
bool good_path(const uint8_t *bytes, size_t length) {
    if (length == 0 || length > MAX_PATH_BYTES || has_nul(bytes, length)) return false;
    size_t parts = 0, start = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && bytes[i] != '/') continue;
        size_t part = i - start;
        if (part == 0 || part > MAX_NAME_BYTES || ++parts > MAX_PATH_PARTS) return false;
        if (bytes[start] == '.' && (part == 1 || (part == 2 && bytes[start + 1] == '.'))) return false;
        start = i + 1;
    }
    return true;
}

static enum job_event on_hello(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != EXPECT_HELLO) return FAULT(E_ORDER, "HELLO: came before");
    job->uid = get_uint(&r, 4);
    job->gid = get_uint(&r, 4);
    job->waiting_ms = get_uint(&r, 8);
    job->rlimit_count = get_uint(&r, 1);
    if (job->rlimit_count > MAX_RLIMITS) return FAULT(E_LIMIT, "HELLO: too many rlimits");
    for (size_t i = 0; i < job->rlimit_count; i++) {
        job->rlimits[i].resource = get_uint(&r, 1);
        job->rlimits[i].value = get_uint(&r, 8);
        if (job->rlimits[i].resource > 15) return FAULT(E_LIMIT, "HELLO: no such rlimit");
    }
    job->cpus = get_uint(&r, 2);
    job->first_cpu = get_uint(&r, 2);
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "HELLO: wrong length");
    if (job->uid < LOWEST_UID || job->uid == 65534 || job->uid > INT32_MAX) return FAULT(E_LIMIT, "HELLO: the uid is not a job's");
    if (job->gid < LOWEST_UID || job->gid == 65534 || job->gid > INT32_MAX) return FAULT(E_LIMIT, "HELLO: the gid is not a job's");
    if (job->waiting_ms > MAX_MS) return FAULT(E_LIMIT, "HELLO: the lifetime is too long");
    job->phase = EXPECT_SEAL;
    return EV_HELLO;
}

static enum job_event on_env(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != EXPECT_SEAL && job->phase != LOADING) return FAULT(E_ORDER, "ENV: not now");
    if (job->phase == LOADING) job->env_came_late = true;
    size_t name_length, value_length;
    const uint8_t *name = get_str(&r, &name_length);
    const uint8_t *value = get_str(&r, &value_length);
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "ENV: wrong length");
    if (name_length == 0 || has_nul(name, name_length) || memchr(name, '=', name_length) || has_nul(value, value_length))
        return FAULT(E_PROTOCOL, "ENV: a name or value that no environment can hold");
    size_t bytes = name_length + value_length + 2;
    if (job->env_bytes + bytes > MAX_ENV_BYTES) return FAULT(E_LIMIT, "ENV: too many bytes");
    size_t slot = 0;
    while (slot < job->env_count && (strncmp(job->env[slot], (const char *)name, name_length) || job->env[slot][name_length] != '='))
        slot++;
    if (slot == MAX_ENV_VARIABLES) return FAULT(E_LIMIT, "ENV: too many variables");
    char *entry = malloc(bytes);
    if (!entry) return NO_MEMORY;
    memcpy(entry, name, name_length);
    entry[name_length] = '=';
    memcpy(entry + name_length + 1, value, value_length);
    entry[bytes - 1] = 0;
    if (slot < job->env_count) {
        job->env_bytes -= strlen(job->env[slot]) + 1;
        free(job->env[slot]);
    } else {
        job->env_count++;
    }
    job->env[slot] = entry;
    job->env_bytes += bytes;
    return EV_NONE;
}

static enum job_event on_seal(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != EXPECT_SEAL && job->phase != SEALED) return FAULT(E_ORDER, "SEAL: not now");
    const uint8_t *nonce = get_bytes(&r, MAX_NONCE_BYTES);
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "SEAL: wrong length");
    memcpy(job->nonce, nonce, MAX_NONCE_BYTES);
    job->phase = SEALED;
    return EV_SEAL;
}

static enum job_event on_job(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase != SEALED) return FAULT(E_ORDER, "JOB: the cell was not sealed");
    struct limits *l = &job->limits;
    l->run_ms = get_uint(&r, 8);
    l->lifetime_ms = get_uint(&r, 8);
    l->grace_ms = get_uint(&r, 4);
    l->log_head_bytes = get_uint(&r, 8);
    l->log_tail_bytes = get_uint(&r, 4);
    l->log_limit_ends = get_uint(&r, 1);
    l->output_bytes = get_uint(&r, 8);
    l->output_files = get_uint(&r, 4);
    l->output_depth = get_uint(&r, 2);
    l->output_path_bytes = get_uint(&r, 2);
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "JOB: wrong length");
    if (l->run_ms == 0 || l->run_ms > MAX_MS || l->lifetime_ms == 0 || l->lifetime_ms > MAX_MS)
        return FAULT(E_LIMIT, "JOB: a time is out of its bounds");
    if (l->log_tail_bytes > MAX_LOG_TAIL_BYTES || (l->log_tail_bytes && l->log_tail_bytes < 4096))
        return FAULT(E_LIMIT, "JOB: the log's tail is 0 or 4096 to 4194304 bytes");
    if (l->output_depth == 0 || l->output_depth > MAX_OUTPUT_DEPTH) return FAULT(E_LIMIT, "JOB: the outputs' depth is 1 to 64");
    if (l->output_path_bytes == 0 || l->output_path_bytes > MAX_PATH_BYTES)
        return FAULT(E_LIMIT, "JOB: the outputs' paths have 1 to 1024 bytes");
    job->phase = LOADING;
    return EV_JOB;
}

// Files and code come before the start, and in a session before each step.
static bool takes_code(const struct job *job) {
    return job->phase == LOADING || job->phase == IDLE;
}

static enum job_event on_file(struct job *job, struct reader r, struct fault *fault) {
    if (!takes_code(job)) return FAULT(E_ORDER, "FILE: not now");
    struct incoming_file *file = &job->file;
    file->size = get_uint(&r, 8);
    const uint8_t *sha = get_bytes(&r, 32);
    size_t length;
    const uint8_t *path = get_str(&r, &length);
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "FILE: wrong length");
    if (!good_path(path, length)) return FAULT(E_PROTOCOL, "FILE: not a path in /work");
    if (file->size > MAX_FILE_BYTES || job->file_bytes + file->size > MAX_ALL_FILE_BYTES || job->file_count == MAX_FILES)
        return FAULT(E_LIMIT, "FILE: too many or too big");
    memcpy(file->sha256, sha, 32);
    memcpy(file->path, path, length);
    file->path[length] = 0;
    job->file_count++;
    job->file_bytes += file->size;
    job->file_left = file->size;
    return EV_FILE;
}

static bool read_words(struct reader *r, size_t count, char **words, size_t *bytes, bool *no_memory) {
    for (size_t i = 0; i < count; i++) {
        size_t length;
        const uint8_t *word = get_str(r, &length);
        if (r->bad || has_nul(word, length)) return false;
        *bytes += length + 1;
        words[i] = copy_str(word, length);
        if (!words[i]) {
            *no_memory = true;
            return false;
        }
    }
    return true;
}

static enum job_event on_block(struct job *job, struct reader r, struct fault *fault) {
    if (!takes_code(job) || (job->is_session && job->phase == LOADING)) return FAULT(E_ORDER, "BLOCK: not now");
    if (job->block_count == (job->is_session ? 1 : MAX_BLOCKS)) return FAULT(E_LIMIT, "BLOCK: too many");
    // Counted at once, so that job_free frees it even if the rest of the frame is wrong.
    size_t at = job->block_count++;
    return take_block(job, &job->blocks[at], job->is_session ? job->steps : at, &r, fault);
}

// Its fields; the code follows as BLOCK_DATA.
enum job_event take_block(struct job *job, struct block *b, size_t wanted, struct reader *r, struct fault *fault) {
    memset(b, 0, sizeof *b);
    job->filling = b;
    size_t index = get_uint(r, 2);
    b->time_ms = get_uint(r, 8);
    b->size = get_uint(r, 4);
    const uint8_t *sha = get_bytes(r, 32);
    size_t path_length;
    const uint8_t *path = get_str(r, &path_length);
    size_t programs = get_uint(r, 1);
    if (r->bad || programs == 0 || programs > MAX_PROGRAMS) return FAULT(E_PROTOCOL, "BLOCK: wrong length or number of programs");
    size_t bytes = 0;
    bool no_memory = false;
    if (!read_words(r, programs, b->programs, &bytes, &no_memory)) return no_memory ? NO_MEMORY : FAULT(E_PROTOCOL, "BLOCK: a program");
    for (size_t i = 0; i < programs; i++)
        if (!b->programs[i][0]) return FAULT(E_PROTOCOL, "BLOCK: a program without a name");
    size_t args = get_uint(r, 2);
    if (args > MAX_ARGS) return FAULT(E_LIMIT, "BLOCK: too many arguments");
    b->args = calloc(args + 2, sizeof *b->args);
    if (!b->args) return NO_MEMORY;
    if (!read_words(r, args, b->args + 1, &bytes, &no_memory)) {
        // args[0] stays empty until a program is tried, so the list would seem to end before it begins.
        return no_memory ? NO_MEMORY : FAULT(E_PROTOCOL, "BLOCK: an argument");
    }
    if (!WHOLE(*r)) return FAULT(E_PROTOCOL, "BLOCK: wrong length");
    if (bytes > MAX_ARG_BYTES) return FAULT(E_LIMIT, "BLOCK: the arguments are too long");
    if (index != wanted) return FAULT(E_ORDER, "BLOCK: out of order");
    if (b->time_ms > MAX_MS) return FAULT(E_LIMIT, "BLOCK: the time is out of its bounds");
    if (path_length ? !good_path(path, path_length) : b->size != 0) return FAULT(E_PROTOCOL, "BLOCK: not a path in /work");
    if (b->size > MAX_CODE_BYTES || job->code_bytes + b->size > MAX_ALL_CODE_BYTES) return FAULT(E_LIMIT, "BLOCK: too much code");
    memcpy(b->sha256, sha, 32);
    b->path = copy_str(path, path_length);
    b->code = malloc(b->size ? b->size : 1);
    if (!b->path || !b->code) return NO_MEMORY;
    job->code_bytes += b->size;
    job->block_left = b->size;
    return EV_NONE;
}

static enum job_event on_block_data(struct job *job, const uint8_t *bytes, size_t length, struct fault *fault) {
    struct block *b = job->filling;
    memcpy(b->code + (b->size - job->block_left), bytes, length);
    job->block_left -= length;
    if (job->block_left) return EV_NONE;
    struct sha256 s;
    uint8_t digest[32];
    sha256_start(&s);
    sha256_add(&s, b->code, b->size);
    sha256_end(&s, digest);
    if (memcmp(digest, b->sha256, 32)) return FAULT(E_DIGEST, "BLOCK: the code is not the one that was announced");
    return b == &job->preload ? EV_PRELOAD : EV_NONE;
}

static enum job_event on_start(struct job *job, struct reader r, struct fault *fault) {
    if (!WHOLE(r)) return FAULT(E_PROTOCOL, "START: wrong length");
    if (job->phase != LOADING || (job->block_count == 0 && !job->is_session)) return FAULT(E_ORDER, "START: no block to start");
    job->phase = job->is_session ? IDLE : STARTED;
    return EV_START;
}

static enum job_event on_kill(struct job *job, struct reader r, struct fault *fault) {
    if (job->phase < STARTED) return FAULT(E_ORDER, "KILL: nothing was started");
    job->kill_reason = get_uint(&r, 1);
    return WHOLE(r) ? EV_KILL : FAULT(E_PROTOCOL, "KILL: wrong length");
}

enum job_event job_frame(struct job *job, uint8_t type, const uint8_t *payload, size_t length, struct fault *fault) {
    struct reader r = {.at = payload, .left = length};
    bool data = type == T_FILE_DATA || type == T_BLOCK_DATA;
    uint64_t *left = type == T_FILE_DATA ? &job->file_left : &job->block_left;
    if (data && (length == 0 || length > MAX_CHUNK_BYTES)) return FAULT(E_PROTOCOL, "data: wrong length");
    if (data && length > *left) return FAULT(E_ORDER, "data: more than was announced");
    if (!data && (job->file_left || job->block_left)) return FAULT(E_ORDER, "a frame before all announced bytes came");
    switch (type) {
        case T_HELLO: return on_hello(job, r, fault);
        case T_ENV: return on_env(job, r, fault);
        case T_SEAL: return on_seal(job, r, fault);
        case T_JOB: return on_job(job, r, fault);
        case T_FILE: return on_file(job, r, fault);
        case T_FILE_DATA: job->file_left -= length; return EV_FILE_DATA;
        case T_BLOCK: return on_block(job, r, fault);
        case T_BLOCK_DATA: return on_block_data(job, payload, length, fault);
        case T_START: return on_start(job, r, fault);
        case T_KILL: return on_kill(job, r, fault);
        case T_WORKSPACE: return on_workspace(job, r, fault);
        case T_SESSION: return on_session(job, r, fault);
        case T_STEP: return on_step(job, r, fault);
        case T_INTERRUPT: return on_session_order(job, r, EV_INTERRUPT, fault);
        case T_FINISH: return on_session_order(job, r, EV_FINISH, fault);
        case T_PRELOAD: return on_preload(job, r, fault);
        default: return FAULT(E_PROTOCOL, "a frame of an unknown type");
    }
}

void free_block(struct block *b) {
    for (size_t j = 0; j < MAX_PROGRAMS; j++) free(b->programs[j]);
    for (size_t j = 1; b->args && b->args[j]; j++) free(b->args[j]);
    free(b->args);
    free(b->path);
    free(b->code);
}

void free_blocks(struct job *job) {
    for (size_t i = 0; i < job->block_count; i++) free_block(&job->blocks[i]);
    for (size_t i = 0; i < job->collected_count; i++) free(job->collected[i]);
    job->block_count = job->collected_count = 0;
}

void job_free(struct job *job) {
    for (size_t i = 0; i < job->env_count; i++) free(job->env[i]);
    free_blocks(job);
    free_block(&job->preload);
}
