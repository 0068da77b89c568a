import { statfsSync } from 'node:fs';

/**
 * File systems of Linux whose kernel sets the time of change by itself, also for writes to mapped memory, and whose inode
 * numbers stay. Not among them: those of a network or of another system (NFS, SMB, 9p, FUSE), whose times somebody else
 * sets or keeps back; FAT, whose numbers are made up anew at each mount; tmpfs and ZFS, which see writes to mapped
 * memory late or never.
 */
const trusted: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x794c7630, // overlayfs: as the one it lies on, which is one of these in all but odd cases
]);

/** Whether the state of files says when they changed, by the device they lie on; asked once for each. */
export function trustedDevices(): (file: { from: string; dev: bigint }) => boolean {
  const known = new Map<bigint, boolean>();
  return ({ from, dev }) => {
    const before = known.get(dev);
    if (before !== undefined) return before;
    const is = process.platform === 'linux' && trusted.has(typeOf(from));
    known.set(dev, is);
    return is;
  };
}

function typeOf(path: string): number {
  try {
    return statfsSync(path).type;
  } catch {
    return 0;
  }
}
