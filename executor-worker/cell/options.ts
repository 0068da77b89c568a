import {
  cellMemory,
  cellPids,
  cpuPeriodUs,
  cpuQuotaUs,
  initRlimits,
  tmpfsOf,
  tmpfsOptions,
} from '@hotcell/contract/cell-bounds.ts';
import {
  hostname,
  initCapabilities,
  initPath,
  maskedPaths,
  readonlyPaths,
  sysctlsOf,
} from '@hotcell/contract/cell-shape.ts';
import type { CreateOptions } from '@hotcell/outside/engine/engine.ts';
import type { CellPlan, Mount } from './cell-plan.ts';
import { deadlineOf } from './cell-times.ts';
import { type DiskBounds, diskOptions } from './disk-bounds.ts';

/** Where a cell is made, by which worker, and from which image. */
export interface CellSite {
  /** The cell's own id. It is random, and names its folder on the host. */
  id: string;
  uid: number;
  installation: string;
  worker: string;
  createdAt: Date;
  /** The image's own id, which the engine runs, and the names of the variables that it sets. */
  imageId: string;
  imageVariables: readonly string[];
  /** Files of the host that every cell sees, read-only. */
  files: readonly Mount[];
  disks: DiskBounds;
  /** The text of the profile for this runtime and architecture. */
  seccomp: string;
}

export const containerName = (uid: number) => `hotcell-cell-${uid}`;

/** Docker's names of the runtimes. */
const runtimeNames = { runc: 'runc', gvisor: 'runsc' } as const;

/** By these the reaper finds what is left of a cell, or of a look into an image (which no worker owns). */
export const cellLabels = (installation: string, worker: string, deadline: Date) => ({
  'hotcell.managed': '1',
  'hotcell.installation': installation,
  'hotcell.role': 'cell',
  'hotcell.worker': worker,
  'hotcell.deadline': deadline.toISOString(),
});

function labelsOf(plan: CellPlan, site: CellSite): Record<string, string> {
  // Always all of them: a label that is missing here could come from the image.
  return {
    ...cellLabels(site.installation, site.worker, deadlineOf(plan.limits, site.createdAt)),
    'hotcell.cell': site.id,
    'hotcell.run': plan.run,
    'hotcell.attempt': String(plan.attempt),
  };
}

/** Policy → container: everything the engine is told about a cell, and the only place that says it. */
export function containerOptions(plan: CellPlan, site: CellSite): CreateOptions {
  const { limits } = plan;
  const memory = cellMemory(plan);
  return {
    Image: site.imageId,
    Entrypoint: [initPath],
    Cmd: [],
    User: '0:0',
    WorkingDir: '/',
    // A name without a value removes the variable: init and the engine's helpers see none of the image's.
    Env: [...site.imageVariables],
    Hostname: hostname,
    Domainname: '',
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGKILL',
    Labels: labelsOf(plan, site),
    NetworkDisabled: true,
    Tty: false,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      Runtime: runtimeNames[plan.runtime],
      NetworkMode: 'none',
      IpcMode: 'private',
      CgroupnsMode: 'private',
      PidMode: '',
      UTSMode: '',
      UsernsMode: '',
      Privileged: false,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: [...initCapabilities],
      SecurityOpt: ['no-new-privileges', `seccomp=${site.seccomp}`],
      MaskedPaths: [...maskedPaths],
      ReadonlyPaths: [...readonlyPaths],
      Tmpfs: Object.fromEntries(
        Object.entries(tmpfsOf(limits)).map(([path, one]) => [path, `rw,${tmpfsOptions(one).join(',')}`]),
      ),
      Mounts: [...site.files, ...plan.mounts].map(({ source, target }) => ({
        Type: 'bind' as const,
        Source: source,
        Target: target,
        ReadOnly: true,
        BindOptions: { Propagation: 'rprivate' as const },
      })),
      Memory: memory,
      MemorySwap: memory,
      CpuPeriod: cpuPeriodUs,
      CpuQuota: cpuQuotaUs(limits.cpus),
      PidsLimit: cellPids(plan),
      ...diskOptions(site.disks),
      OomScoreAdj: 500,
      Ulimits: initRlimits(limits).map(({ name, value }) => ({ Name: name, Soft: value, Hard: value })),
      Sysctls: { ...sysctlsOf(limits.scratchBytes) },
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
      Init: false,
    },
  };
}
