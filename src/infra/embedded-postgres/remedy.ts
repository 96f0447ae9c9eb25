// What helps where the embedded database cannot be made or does not start, by what its programs have said.
import { SAYS_DISK_FULL } from '../../lib/files/disk-full.ts';
import { SET_A_URL } from './embedded-postgres-error.ts';

const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/could not look up effective user ID/, `give the gateway's user a line in /etc/passwd, or ${SET_A_URL}`],
  [
    /insufficient file descriptors|Too many open files/,
    'raise the limit of open files (ulimit -n, LimitNOFILE)',
  ],
  // Before the disk: the kernel says of these too that no space is left on the device.
  [
    /could not (?:map|create|resize) .*shared memory|Cannot allocate memory/,
    `give the machine more memory, or ${SET_A_URL}`,
  ],
  [SAYS_DISK_FULL, 'make room, or set data_dir (UTE_DATA_DIR) to another disk'],
];

/** The end of a message, with the colon before it; empty where nothing is known to help. */
export function remedyOf(said: string): string {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(said))?.[1];
  return remedy === undefined ? '' : `: ${remedy}`;
}
