import { HotcellError } from '@hotcell/contract/errors.ts';
import { z } from 'zod';
import { command } from '../command.ts';

/** What the running engine reports about itself. */
export interface EngineInfo {
  version: string;
  operatingSystem: string;
  kernel: string;
  /** Where the engine keeps its images, on its own machine. */
  root: string;
  cpus: number;
  memoryBytes: number;
  rootless: boolean;
  runtimes: string[];
  cgroupVersion: string;
  /** Limits that the engine says it cannot enforce. */
  unbounded: string[];
  runc: string;
  clockSkewMs: number;
}

const Status = z.looseObject({ status: z.record(z.string(), z.string()).nullish() });
const Info = z.looseObject({
  ServerVersion: z.string().default(''),
  OperatingSystem: z.string().default(''),
  KernelVersion: z.string().default(''),
  DockerRootDir: z.string().default(''),
  NCPU: z.number().default(0),
  MemTotal: z.number().default(0),
  SecurityOptions: z.array(z.string()).nullish(),
  Runtimes: z.record(z.string(), Status).nullish(),
  CgroupVersion: z.string().default('1'),
  CgroupDriver: z.string().default(''),
  MemoryLimit: z.boolean().default(false),
  SwapLimit: z.boolean().default(false),
  CpuCfsQuota: z.boolean().default(false),
  PidsLimit: z.boolean().default(false),
  SystemTime: z.string().optional(),
});

function runcVersionOf(info: z.infer<typeof Info>): string {
  const features = info.Runtimes?.runc?.status?.['org.opencontainers.runtime-spec.features'];
  // Not every engine knows what its runtime can do: then ask the runtime.
  return /"org\.opencontainers\.runc\.version":"([^"]+)"/.exec(features ?? '')?.[1] ?? '';
}

function engineInfoOf(json: unknown, now: number): EngineInfo | undefined {
  const info = Info.parse(json);
  if (info.ServerVersion === '') return undefined;
  const bounds = { memory: info.MemoryLimit, swap: info.SwapLimit, CPU: info.CpuCfsQuota, processes: info.PidsLimit };
  const none = info.CgroupDriver === 'none';
  return {
    version: info.ServerVersion,
    operatingSystem: info.OperatingSystem,
    kernel: info.KernelVersion,
    root: info.DockerRootDir,
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    rootless: (info.SecurityOptions ?? []).some((option) => option.includes('name=rootless')),
    runtimes: Object.keys(info.Runtimes ?? {}),
    cgroupVersion: info.CgroupVersion,
    unbounded: Object.entries(bounds).flatMap(([name, can]) => (can && !none ? [] : [name])),
    runc: runcVersionOf(info),
    clockSkewMs: info.SystemTime ? Date.parse(info.SystemTime) - now : 0,
  };
}

// The answer does not change while a command runs.
let known: Promise<EngineInfo | undefined> | undefined;

/** The engine, for steps that cannot do without one. */
export async function engineThatAnswers(): Promise<EngineInfo> {
  known ??= askEngine();
  const engine = await known;
  if (engine) return engine;
  known = undefined;
  throw new HotcellError('engine_unavailable', 'The Docker engine does not answer. Run `./hotcell doctor` to see why.');
}

export async function askEngine(): Promise<EngineInfo | undefined> {
  const { code, stdout } = await command(['docker', 'info', '--format', '{{json .}}']);
  if (code !== 0 || stdout.trim() === '') return undefined;
  const info = engineInfoOf(JSON.parse(stdout), Date.now());
  if (info && info.runc === '') {
    const asked = await command(['runc', '--version']);
    return { ...info, runc: /runc version (\S+)/.exec(asked.stdout)?.[1] ?? '' };
  }
  return info;
}
