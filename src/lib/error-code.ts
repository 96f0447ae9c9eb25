// The code that an error carries: of a system call, of a name server, or the SQLSTATE of a database.

/** Empty where there is none, or one that is no text. Whatever was thrown may be asked. */
export function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}
