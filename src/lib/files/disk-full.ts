// Whether something failed for want of space on a disk.

/** A system call's, and the SQLSTATE of a database that has no more. */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100']);
/**
 * In what programs print, and in what Node says of a system call: that is in small letters. The kernel says the same where it makes
 * no more namespaces, which bubblewrap names on the same line: no disk is full then.
 */
export const SAYS_DISK_FULL =
  /^(?!.*\bnew namespace\b).*(?:\b(?:ENOSPC|EDQUOT)\b|No space left on device|Disk quota exceeded)/im;
/** Of causes behind causes. */
const DEEPEST = 5;

export function isDiskFull(error: unknown, depth = DEEPEST): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  const { code, message, cause } = error as Partial<Record<'code' | 'message' | 'cause', unknown>>;
  return (
    CODES.has(code) ||
    (typeof message === 'string' && SAYS_DISK_FULL.test(message)) ||
    isDiskFull(cause, depth - 1)
  );
}
