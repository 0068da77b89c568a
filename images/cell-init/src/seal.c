// SEAL: the posture, taken by a child that becomes what a block becomes and then runs this same program.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "cell.h"
#include "posture.h"
#include "sha256.h"

#define POSTURE_WITHIN_US 20000000

static bool own_digest(uint8_t digest[32]) {
    static uint8_t bytes[16384];
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    struct sha256 hash;
    sha256_start(&hash);
    ssize_t n;
    while ((n = read(fd, bytes, sizeof bytes)) > 0) sha256_add(&hash, bytes, (size_t)n);
    sha256_end(&hash, digest);
    close(fd);
    return n == 0;
}

static void say_init(const uint64_t caps[5]) {
    uint8_t digest[32];
    if (!own_digest(digest)) fail(E_UNSEALED, errno, "init cannot read its own program");
    struct writer w = out_begin(256);
    record_begin(&w, POSTURE_INIT);
    record_bytes(&w, digest, sizeof digest);
    record_uint(&w, getuid());
    for (int i = 0; i < 4; i++) record_uint(&w, caps[i]);
    out_end(T_POSTURE, &w);
}

void seal(void) {
    int ends[2], status[2];
    uint64_t caps[5];
    if (!read_capabilities(caps)) fail(E_UNSEALED, errno, "init cannot read its own capabilities");
    cell.bounding = caps[3];
    pipe_as_job(ends, FRAMES_PIPE_BYTES);
    if (pipe2(status, O_CLOEXEC) || fcntl(status[0], F_SETFL, O_NONBLOCK)) fail(E_SYSTEM, errno, "a pipe for the posture");
    cell.status_length = 0;
    struct child_plan plan = {
        .out = ends[1], .err = -1, .status_fd = status[1], .body = run_posture, .body_stage = STAGE_EXEC};
    // Beside a preload nothing may share init's memory, and it must not meddle with the child.
    bool beside = cell.preload.pid != 0;
    if (beside) preload_stop();
    pid_t child = beside ? spawn(&plan) : spawn_sharing(&plan);
    int err = errno;
    close(ends[1]);
    close(status[1]);
    cell.status_fd = status[0];
    if (child < 0) fail(E_UNSEALED, err, "no process for the posture");
    relay_start(ends[0], T_POSTURE, T_POSTURE);
    // While the child does its part.
    say_init(caps);
    hold_memory();
    uint64_t until = now_us() + POSTURE_WITHIN_US;
    bool whole = beside ? wait_beside(child, until) : wait_for(child, until);
    while (relay.fd >= 0 || cell.status_fd >= 0) pump(NEVER);
    err = cell.status_length >= 4 ? cell.status[2] | cell.status[3] << 8 : 0;
    if (cell.status_length >= 4) fail(E_UNSEALED, err, cell.status[0] == STAGE_SETUP ? "a child cannot be set up as a job's" : "init's program cannot be run as the job");
    if (!whole) fail(E_UNSEALED, 0, "the posture could not be taken");
    if (beside) residents_go_on();
    struct writer w = out_begin(MAX_NONCE_BYTES + 4);
    put_bytes(&w, cell.job.nonce, MAX_NONCE_BYTES);
    put_uint(&w, relay.frames + 1, 4);
    out_end(T_POSTURE_END, &w);
}
