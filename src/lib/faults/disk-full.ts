// Whether something failed for want of space on a disk.

/** A system call's, and the SQLSTATE of a database that has no more. */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', '53100']);
const SAID = /No space left on device|Disk quota exceeded/;
/** Of causes behind causes. */
const DEEPEST = 5;

export function isDiskFull(error: unknown, depth = DEEPEST): boolean {
  if (typeof error !== 'object' || error === null || depth === 0) return false;
  const { code, message, cause } = error as Partial<Record<'code' | 'message' | 'cause', unknown>>;
  return (
    CODES.has(code) || (typeof message === 'string' && SAID.test(message)) || isDiskFull(cause, depth - 1)
  );
}
