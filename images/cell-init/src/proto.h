// The numbers of docs/protocol.md. contract/frames.ts has the same ones; test/unit/contract compares the two files.
#pragma once

#define MAGIC 0xc3
#define VERSION 1
#define HEADER_BYTES 8

// Host to init.
#define T_HELLO 0x01
#define T_ENV 0x02
#define T_SEAL 0x03
#define T_JOB 0x04
#define T_FILE 0x05
#define T_FILE_DATA 0x06
#define T_BLOCK 0x07
#define T_BLOCK_DATA 0x08
#define T_START 0x09
#define T_KILL 0x0a
#define T_SESSION 0x0b
#define T_STEP 0x0c
#define T_INTERRUPT 0x0d
#define T_FINISH 0x0e
#define T_PRELOAD 0x0f
#define T_WORKSPACE 0x10

// Init to host.
#define T_READY 0x81
#define T_POSTURE 0x82
#define T_POSTURE_END 0x83
#define T_BLOCK_STARTED 0x84
#define T_LOG 0x85
#define T_LOG_LIMIT 0x86
#define T_LOG_TAIL 0x87
#define T_BLOCK_ENDED 0x88
#define T_OUTPUT_ENTRY 0x89
#define T_OUTPUT_DATA 0x8a
#define T_OUTPUT_END 0x8b
#define T_OUTPUT_REFUSED 0x8c
#define T_END 0x8d
#define T_ERROR 0x8e
#define T_WORK_LEFT 0x8f
#define T_SAID 0x90
#define T_STEP_OVER 0x91
#define T_PRELOADED 0x92
#define T_WORKSPACE_BEGINS 0x98
#define T_WORKSPACE_END 0x99

#define MAX_PAYLOAD_BYTES 131072
#define MAX_CHUNK_BYTES 65536
#define MAX_LOG_CHUNK_BYTES 32768
#define MAX_NONCE_BYTES 32
#define MAX_RLIMITS 16
#define MAX_ENV_VARIABLES 512
#define MAX_ENV_BYTES 131072
#define MAX_BLOCKS 256
#define MAX_CODE_BYTES 16777216
#define MAX_ALL_CODE_BYTES 33554432
#define MAX_FILES 4096
#define MAX_FILE_BYTES 67108864
#define MAX_ALL_FILE_BYTES 268435456
#define MAX_PROGRAMS 8
#define MAX_ARGS 1024
#define MAX_ARG_BYTES 65536
#define MAX_PATH_BYTES 1024
#define MAX_NAME_BYTES 255
#define MAX_PATH_PARTS 32
#define MAX_LOG_TAIL_BYTES 4194304
#define MAX_OUTPUT_DEPTH 64
#define MAX_REFUSALS 1000
#define MAX_WORK_LEFT 10
#define MAX_STEPS 10000
#define MAX_COLLECTED 64
#define MAX_SAID_BYTES 65536
#define MAX_POSTURE_RECORDS 4096
#define MAX_POSTURE_FIELDS 16
#define MAX_POSTURE_FIELD_BYTES 4096
#define MAX_ERROR_TEXT_BYTES 512
#define LOWEST_UID 10000
// In BLOCK_STARTED, in the place of a program.
#define LIVES_ON 0xff
#define IN_PRELOAD 0xfe

enum stop_cause { CAUSE_NONE, CAUSE_BLOCK_TIME, CAUSE_RUN_TIME, CAUSE_KILLED, CAUSE_LOG_LIMIT, CAUSE_INTERRUPTED };
enum block_how { HOW_EXITED, HOW_SIGNALLED, HOW_NOT_STARTED, HOW_SAID };
enum start_stage { STAGE_NONE, STAGE_FILE, STAGE_FORK, STAGE_SETUP, STAGE_EXEC };

enum refusal {
    REFUSE_SYMLINK = 1,
    REFUSE_HARDLINK,
    REFUSE_FIFO,
    REFUSE_SOCKET,
    REFUSE_DEVICE,
    REFUSE_TOO_DEEP,
    REFUSE_PATH_TOO_LONG,
    REFUSE_TOO_MANY_FILES,
    REFUSE_TOO_MANY_BYTES,
    REFUSE_UNREADABLE,
    REFUSE_OTHER_FILESYSTEM,
    REFUSE_UNKNOWN_KIND,
};

enum cell_error {
    E_PROTOCOL = 1,
    E_ORDER,
    E_LIMIT,
    E_DIGEST,
    E_UNSEALED,
    E_FILE,
    E_UNDEAD,
    E_SYSTEM,
    E_PRELOAD,
    E_WORKSPACE,
};

// END flags.
#define END_FILES_EXCEEDED 1
#define END_BYTES_EXCEEDED 2
#define END_INCOMPLETE 4
