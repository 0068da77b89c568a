import type { EngineFacts } from '../engine/engine-facts.ts';
import type { EngineInfo } from '../engine/info.ts';

export interface PortFact {
  port: number;
  service: string;
  state: 'ours' | 'free' | 'taken';
  holder?: string;
}

/** The machine and its engine, whether or not anything of ours is on it. */
export interface MachineFacts {
  tools: EngineFacts;
  node: string;
  arch: string;
  engine: EngineInfo | undefined;
  runscVersion: string;
  disk: { path: string; freeBytes: number }[];
  memory: { totalBytes: number; availableBytes: number };
  now: string;
}

/** Everything `doctor` looks at, gathered first: what it means is decided apart from how it was found out. */
export interface Facts extends MachineFacts {
  ports: PortFact[];
  imagesMissing: string[];
  installation: { id: string; home: string; running: string[]; unwell: string[]; expected: string[] } | undefined;
  /** Whether staged inputs are nosuid, nodev and noexec in cells; undefined where nothing is set up. */
  flaggedView: { path: string; there: boolean } | undefined;
  /** What the probe said of each; empty when it passed, undefined when nothing runs that could be asked. */
  store: string | undefined;
  queue: string | undefined;
  /** Processes that use the operator's store keys, for lack of their own. */
  sharedKeys: string[];
}
