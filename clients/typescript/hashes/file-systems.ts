import { statfsSync } from 'node:fs';

/**
 * Linux file systems with stable inode numbers, for which the kernel itself sets ctime, even on writes to mapped memory.
 * Not trusted: network and foreign ones (NFS, SMB, 9p, FUSE), where another system sets or delays the times; FAT, which
 * renumbers inodes at each mount; tmpfs and ZFS, which notice writes to mapped memory late or never.
 */
const trusted: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0xca451a4e, // bcachefs
  0x794c7630, // overlayfs: the layer below is almost always one of these
]);

/** Tells whether a file's state shows its changes. Asks once for each device. */
export function trustedDevices(): (file: { from: string; dev: bigint }) => boolean {
  const known = new Map<bigint, boolean>();
  return ({ from, dev }) => {
    const before = known.get(dev);
    if (before !== undefined) return before;
    const isTrusted = process.platform === 'linux' && trusted.has(typeOf(from));
    known.set(dev, isTrusted);
    return isTrusted;
  };
}

function typeOf(path: string): number {
  try {
    return statfsSync(path).type;
  } catch {
    return 0;
  }
}
