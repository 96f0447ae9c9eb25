// What kind of failure a SQLSTATE tells of.

/** Data that does not fit (22), breaks a rule (23) or a limit (54): it would fail the same way next time. */
export function isDataError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^(22|23|54)/.test(code);
}
