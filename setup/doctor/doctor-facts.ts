import type { KeeperAnswer } from '@hotcell/contract/keeper-protocol.ts';
import type { EngineFacts } from '../engine/engine-facts.ts';
import type { EngineInfo } from '../engine/info.ts';

export interface PortFact {
  port: number;
  service: string;
  state: 'ours' | 'free' | 'taken';
  holder?: string;
}

/** The machine and its engine, with or without an installation. */
export interface MachineFacts {
  tools: EngineFacts;
  node: string;
  arch: string;
  engine: EngineInfo | undefined;
  runscVersion: string;
  /** What the kernel does with a core; empty where it is not this machine's kernel that runs cells. */
  corePattern: string;
  disk: { path: string; freeBytes: number }[];
  memory: { totalBytes: number; availableBytes: number };
  now: string;
}

/** Everything `doctor` looks at. It is gathered first and judged apart. */
export interface Facts extends MachineFacts {
  ports: PortFact[];
  imagesMissing: string[];
  installation: { id: string; home: string; running: string[]; unwell: string[]; expected: string[] } | undefined;
  /** Whether staged inputs are nosuid, nodev and noexec in cells; undefined without an installation. */
  flaggedView: { path: string; there: boolean } | undefined;
  /** The probe's complaint about each: empty if it passed, undefined if the service does not run. */
  store: string | undefined;
  queue: string | undefined;
  /** What makes cells; undefined without an installation. `keeper` is what it says of itself, or why it doesn't answer. */
  cells:
    | { way: 'engine'; why: string }
    | { way: 'keeper'; why: string; keeper: KeeperAnswer<'about'> | string }
    | undefined;
  /** Processes that use the operator's store keys because they have none of their own. */
  sharedKeys: string[];
}
