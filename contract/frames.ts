/**
 * The frames that host and cell-init exchange over the cell's stdin and stdout, and their bounds. docs/protocol.md has the
 * bytes. images/cell-init/src/proto.h repeats the numbers; a test compares the two.
 */
export const protocol = { magic: 0xc3, version: 1, headerBytes: 8 } as const;

/** Host to init. */
export const hostFrameTypes = {
  hello: 0x01,
  env: 0x02,
  seal: 0x03,
  job: 0x04,
  file: 0x05,
  fileData: 0x06,
  block: 0x07,
  blockData: 0x08,
  start: 0x09,
  kill: 0x0a,
  session: 0x0b,
  step: 0x0c,
  interrupt: 0x0d,
  finish: 0x0e,
  preload: 0x0f,
  workspace: 0x10,
} as const;

/** Init to host. */
export const cellFrameTypes = {
  ready: 0x81,
  posture: 0x82,
  postureEnd: 0x83,
  blockStarted: 0x84,
  log: 0x85,
  logLimit: 0x86,
  logTail: 0x87,
  blockEnded: 0x88,
  outputEntry: 0x89,
  outputData: 0x8a,
  outputEnd: 0x8b,
  outputRefused: 0x8c,
  end: 0x8d,
  error: 0x8e,
  workLeft: 0x8f,
  said: 0x90,
  stepOver: 0x91,
  preloaded: 0x92,
  workspaceBegins: 0x98,
  workspaceEnd: 0x99,
} as const;

/** In blockStarted, in the place of a program: the interpreter of the steps before runs this one. */
export const livesOn = 0xff;
/** In blockStarted, in the place of a program: the preload, which had waited for it. */
export const inPreload = 0xfe;

export const frameLimits = {
  /** One payload in either direction. */
  payloadBytes: 131_072,
  /** The bytes of one fileData, blockData, log or outputData. */
  chunkBytes: 65_536,
  logChunkBytes: 32_768,
  nonceBytes: 32,
  rlimits: 16,
  envVariables: 512,
  envBytes: 131_072,
  blocks: 256,
  /** The code of one block, and of all blocks: init holds it in its own memory. */
  codeBytes: 16_777_216,
  allCodeBytes: 33_554_432,
  files: 4_096,
  fileBytes: 67_108_864,
  allFileBytes: 268_435_456,
  programs: 8,
  args: 1_024,
  argBytes: 65_536,
  /** A relative path in /work or /outputs, one of its parts, and how many parts it has. */
  pathBytes: 1_024,
  nameBytes: 255,
  pathParts: 32,
  logTailBytes: 4_194_304,
  outputDepth: 64,
  /** How many refused outputs are listed; the rest is only counted. */
  refusals: 1_000,
  /** How many files that a job left at the top of /work are named. */
  workLeft: 10,
  /** The steps of one session, the paths that one of them collects, one message of its interpreter. */
  steps: 10_000,
  collected: 64,
  saidBytes: 65_536,
  postureRecords: 4_096,
  postureFields: 16,
  postureFieldBytes: 4_096,
  errorTextBytes: 512,
  /** A uid below belongs to the system; 65534 owns ext4's reserved blocks. */
  lowestUid: 10_000,
} as const;

/** Linux's numbers, the same on x86-64 and arm64. */
export const rlimitNumbers = {
  cpu: 0,
  fsize: 1,
  data: 2,
  stack: 3,
  core: 4,
  rss: 5,
  nproc: 6,
  nofile: 7,
  memlock: 8,
  as: 9,
  locks: 10,
  sigpending: 11,
  msgqueue: 12,
  nice: 13,
  rtprio: 14,
} as const;
export type RlimitName = keyof typeof rlimitNumbers;

/** Why the host ends a job; init only repeats the reason. */
export const killReasons = { cancelled: 1, outputLimit: 2, draining: 3, claimLost: 4, platform: 5 } as const;
export type KillReason = keyof typeof killReasons;

/** What ended a block or the run from outside the program. The first cause counts. */
export const stopCauses = { none: 0, blockTime: 1, runTime: 2, killed: 3, logLimit: 4, interrupted: 5 } as const;

/** The step at which starting a block failed: writing its file, forking, setting up the child, or exec. */
export const startStages = { file: 1, fork: 2, setup: 3, exec: 4 } as const;
export type StartStage = keyof typeof startStages;

export const refusalReasons = {
  symlink: 1,
  hardlink: 2,
  fifo: 3,
  socket: 4,
  device: 5,
  tooDeep: 6,
  pathTooLong: 7,
  tooManyFiles: 8,
  tooManyBytes: 9,
  unreadable: 10,
  otherFilesystem: 11,
  unknownKind: 12,
} as const;
export type RefusalReason = keyof typeof refusalReasons;

export const cellErrors = {
  /** The host's stream is not this protocol. */
  protocol: 1,
  order: 2,
  limit: 3,
  /** The bytes differ from the announced digest. */
  digest: 4,
  /** Init can't seal a block in this cell: it is not PID 1, lacks capabilities, or does not own /work. */
  unsealed: 5,
  file: 6,
  /** A process in the cell does not die. */
  undead: 7,
  system: 8,
  /** The preload did something else than to become ready and wait. */
  preload: 9,
  /** The workspace could not be laid out in /work. */
  workspace: 10,
} as const;

export interface Rlimit {
  name: RlimitName;
  /** Soft and hard. */
  value: number;
}

export interface JobLimits {
  /** Counted from the first block's start. */
  runMs: number;
  /** Counted from START, with the collection: then init kills everything and exits, whatever the host does. */
  lifetimeMs: number;
  graceMs: number;
  /** So many log bytes are sent as they come. After them, init keeps only the tail, inside the cell. */
  logHeadBytes: number;
  logTailBytes: number;
  /** Whether more log than the head ends the job (cause logLimit). */
  logLimitEnds: boolean;
  outputBytes: number;
  outputFiles: number;
  outputDepth: number;
  outputPathBytes: number;
}

/** Init runs the first of `programs` that exists (looked up in PATH if it has no slash), with `args`. */
interface BlockFields {
  index: number;
  /** 0: only the run's limit applies. */
  timeMs: number;
  programs: readonly string[];
  args: readonly string[];
  /** The file in /work that init writes the code to before the block starts; '' for a block without code. */
  path: string;
  size: number;
  sha256: Uint8Array;
}

/**
 * In this order: hello env* seal (preload blockData*)? seal* job (env|file fileData*|workspace|block blockData*)* start kill?. In a
 * session no block precedes the start, and then come (file fileData*|block blockData*|step)*, interrupt and finish. Stdin's end kills the cell.
 */
export type HostFrame =
  /** `lifetimeMs`: how long the cell may wait for START before it ends itself. */
  | {
      type: 'hello';
      uid: number;
      gid: number;
      lifetimeMs: number;
      rlimits: readonly Rlimit[];
      /** How many processors the job begins on, from the how-manieth of the cell's on. 0: all. */
      cpus: number;
      firstCpu: number;
    }
  | { type: 'env'; name: string; value: string }
  | { type: 'seal'; nonce: Uint8Array }
  | { type: 'job'; limits: JobLimits }
  /** A bundled file: owned by root, 0444, at `path` in /work. Its `size` bytes follow as fileData. */
  | { type: 'file'; path: string; size: number; sha256: Uint8Array }
  | { type: 'fileData'; bytes: Uint8Array }
  | ({ type: 'block' } & BlockFields)
  /** As a block, but it starts at once. Its file is taken away as soon as it says that it is ready. */
  | ({ type: 'preload' } & BlockFields)
  | { type: 'blockData'; bytes: Uint8Array }
  /** Lays /inputs/.workspace out in /work at the start, and keeps what is there at the end, up to so much. */
  | { type: 'workspace'; mostBytes: number; mostFiles: number }
  | { type: 'start' }
  /** The cell stays open for steps. `saidBytes`: how much its interpreter may tell the host in all. */
  | { type: 'session'; saidBytes: number }
  /** Starts the block that came before it; its index is the number of the step. */
  | { type: 'step'; inInterpreter: boolean; collect: readonly string[] }
  | { type: 'interrupt' }
  /** No further step comes: the interpreter ends by itself, and the outputs are collected. */
  | { type: 'finish' }
  /** TERM to all, the grace period, KILL to all, then outputs as usual. A second one ends the cell at once. */
  | { type: 'kill'; reason: KillReason };
