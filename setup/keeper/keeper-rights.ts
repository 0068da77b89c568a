/** What a keeper's container has on its host, as docker's options: every right, and no network. */
export const keeperRights = (installation: string): string[] => [
  '--privileged',
  '--read-only',
  '--tmpfs=/tmp:size=16m,mode=1777',
  '--pid=host',
  '--cgroupns=host',
  '--network=none',
  '--label=hotcell.managed=1',
  `--label=hotcell.installation=${installation}`,
  '--label=hotcell.role=service',
];
